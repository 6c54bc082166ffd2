"""Errors as the API server says them: a Status as the body of an answer, or in an ERROR event of a watch."""

import msgspec

from staleproof.core.fault.decision import Reply


def reply_body(reply: Reply) -> bytes:
    """The Status of a refused request, in JSON; or the ERROR event that carries it, newline included."""
    if reply.as_event:
        return msgspec.json.encode({"type": "ERROR", "object": _status(reply)}) + b"\n"
    return msgspec.json.encode(_status(reply))


def expired(at: int | None, now: int | None) -> bytes:
    """The API server's answer to a watch whose history is gone (apiserver pkg/storage/cacher/watch_cache_history.go)."""
    return reply_body(Reply(410, "Expired", f"too old resource version: {at or 0} ({now or at or 0})", as_event=True))


def _status(reply: Reply) -> dict[str, object]:
    details = {} if reply.retry_after is None else {"details": {"retryAfterSeconds": reply.retry_after}}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": reply.message,
        "reason": reply.reason,
        "code": reply.code,
        **details,
    }
