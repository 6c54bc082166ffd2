"""Errors as the API server says them: a Status as the body of an answer, or in an ERROR event of a watch."""

import msgspec

from staleproof.core.fault.decision import ErrorEvent, Reply


def status_body(reply: Reply) -> bytes:
    """The Status of a refused request, in JSON."""
    details = {} if reply.retry_after is None else {"details": {"retryAfterSeconds": reply.retry_after}}
    return msgspec.json.encode(_status(reply.code, reply.reason, reply.message) | details)


def error_event(error: ErrorEvent) -> bytes:
    """An ERROR event, newline included; nothing follows it."""
    return msgspec.json.encode({"type": "ERROR", "object": _status(error.code, error.reason, error.message)}) + b"\n"


def expired(at: int | None, now: int | None) -> bytes:
    """The API server's answer to a watch whose history is gone (apiserver pkg/storage/cacher/watch_cache_history.go)."""
    return error_event(ErrorEvent(410, "Expired", f"too old resource version: {at or 0} ({now or at or 0})"))


def _status(code: int, reason: str, message: str) -> dict[str, object]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
