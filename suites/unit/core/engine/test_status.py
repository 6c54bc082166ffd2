"""What the API server says when it refuses: as a body, and in a watch."""

import json

import pytest

from staleproof.core.engine.status import expired, reply_body
from staleproof.core.fault.decision import Reply
from staleproof.core.history.frame import FrameReader


@pytest.mark.parametrize(
    ("at", "now", "message"),
    [
        (3, 9, "too old resource version: 3 (9)"),
        (3, None, "too old resource version: 3 (3)"),
        (None, 9, "too old resource version: 0 (9)"),
        (None, None, "too old resource version: 0 (0)"),
    ],
)
def test_expired_is_a_410(at: int | None, now: int | None, message: str) -> None:
    (frame,) = FrameReader().feed(expired(at, now))
    assert frame.type == "ERROR"
    status = json.loads(frame.raw)["object"]
    assert (status["kind"], status["status"], status["code"], status["reason"]) == ("Status", "Failure", 410, "Expired")
    assert status["message"] == message


def test_an_error_event_says_what_is_wrong() -> None:
    (frame,) = FrameReader().feed(reply_body(Reply(500, "InternalError", "no", as_event=True)))
    status = json.loads(frame.raw)["object"]
    assert frame.type == "ERROR"
    said = {"kind": "Status", "status": "Failure", "code": 500, "reason": "InternalError", "message": "no"}
    assert status.items() >= said.items()


@pytest.mark.parametrize(("retry_after", "details"), [(None, {}), (3, {"details": {"retryAfterSeconds": 3}})])
def test_a_refused_request_is_reported_when_to_come_again(retry_after: int | None, details: dict[str, object]) -> None:
    status = json.loads(reply_body(Reply(429, "TooManyRequests", "later", retry_after)))
    said = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 429}
    assert status == said | {"reason": "TooManyRequests", "message": "later"} | details
