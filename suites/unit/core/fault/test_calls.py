"""Legal faults about single requests: before they are executed, after it, and never both."""

import pytest

from staleproof.core.fault import Compete, LoseAnswer, Reject, SlowAnswer
from staleproof.core.fault.calls import RESET, Code
from staleproof.core.fault.decision import PASS, Competition, Cut, Refusal, Reply, Wait
from staleproof.core.fault.effects import Twin

from .asking import PODS, request

UPDATE = request(f"PUT {PODS}/x")


@pytest.mark.parametrize(
    ("code", "retry_after", "reason", "sent"),
    [
        (429, None, "TooManyRequests", 1),  # never without: clients would not wait
        (429, 7, "TooManyRequests", 7),
        (500, None, "InternalError", None),
        (503, None, "ServiceUnavailable", None),
        (503, 3, "ServiceUnavailable", 3),
        (504, None, "Timeout", None),
    ],
)
def test_a_rejected_request(code: Code, retry_after: int | None, reason: str, sent: int | None) -> None:
    fault = Reject(resource="pods", code=code, retry_after=retry_after)
    reply = fault.on_request(UPDATE, 1)
    assert isinstance(reply, Reply)
    assert (reply.code, reply.reason, reply.retry_after) == (code, reason, sent)
    assert reply.message
    assert (fault.on_request(UPDATE, 2), fault.on_answer(UPDATE, 1)) == (PASS, PASS)


def test_a_rejected_request_may_be_cut() -> None:
    assert Reject(resource="pods", code=RESET).on_request(UPDATE, 1) == Cut()


def test_another_user_is_quicker_than_a_write() -> None:
    fault = Compete(resource="pods", verb="write", nth=2)
    assert [fault.on_request(UPDATE, nth) for nth in (1, 2, 3)] == [PASS, Competition(), PASS]
    for line in (f"POST {PODS}", f"PATCH {PODS}/x", f"DELETE {PODS}/x"):
        assert fault.on_request(request(line), 2) == Competition()
    assert fault.on_request(request(f"DELETE {PODS}"), 2) == Refusal("", "no other user competes with a deletecollection")
    assert fault.on_request(request(f"GET {PODS}"), 2) == Refusal("", "no other user competes with a list")


def test_another_user_edits_what_it_writes_to() -> None:
    edit = {"spec": {"replicas": 5}}
    fault = Compete(resource="pods", edit=edit)

    assert fault.on_request(UPDATE, 1) == Competition(edit)
    assert fault.phrase == "another user edited pods just before it did"
    assert Compete(resource="pods").phrase == "another user wrote to pods just before it did"


def test_an_answer_is_lost_after_the_execution() -> None:
    fault = LoseAnswer(resource="pods")
    assert (fault.on_request(UPDATE, 1), fault.on_answer(UPDATE, 1), fault.on_answer(UPDATE, 2)) == (PASS, Cut(), PASS)
    late = LoseAnswer(resource="pods", code=504, nth=2).on_answer(UPDATE, 2)
    assert isinstance(late, Reply)
    assert (late.code, late.reason, late.retry_after) == (504, "Timeout", None)
    assert "may still be processing the request" in late.message


def test_a_slow_answer_is_slow_before_or_after() -> None:
    after, before = (SlowAnswer(resource="pods", by_seconds=2.0, moment=moment) for moment in ("after", "before"))
    assert (after.on_request(UPDATE, 1), after.on_answer(UPDATE, 1)) == (PASS, Wait(2.0))
    assert (before.on_request(UPDATE, 1), before.on_answer(UPDATE, 1)) == (Wait(2.0), PASS)
    assert (after.on_answer(UPDATE, 2), before.on_request(UPDATE, 2)) == (PASS, PASS)


def test_an_answer_comes_after_another_users_next_write() -> None:
    fault = SlowAnswer(resource="pods", verb="update", by_seconds=2.0, outdated=True)
    assert (fault.on_request(UPDATE, 1), fault.on_answer(UPDATE, 1)) == (PASS, Competition(then_seconds=2.0))
    assert fault.on_answer(UPDATE, 2) == PASS
    assert fault.phrase == "answers about pods came after another user's next write"
    assert fault.twin == Twin("touches", "within")
