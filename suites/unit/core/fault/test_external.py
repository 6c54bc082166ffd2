"""Faults about calls to external systems: what they say, what makes no sense, and that the proxy has no part in them."""

import pytest

from staleproof.core.fault import (
    ExternalFault,
    KillAtCall,
    LateNotification,
    LoseCallAnswer,
    LoseNotification,
    RejectCall,
    RepeatNotification,
    SlowCall,
)
from staleproof.core.fault.model import Seat
from staleproof.core.plan.plan import fault_problems

from .asking import PODS, request

EVERY: list[ExternalFault] = [
    RejectCall(),
    SlowCall(by_seconds=1.0),
    LoseCallAnswer(),
    KillAtCall(),
    LoseNotification(),
    LateNotification(by_seconds=2.0),
    RepeatNotification(),
]


def test_only_a_slow_call_and_a_late_notification_are_late() -> None:
    assert [each.late_by for each in EVERY] == [None, 1.0, None, None, None, 2.0, None]


def test_they_are_reported_with_the_system_if_they_are_about_one() -> None:
    assert RejectCall(system="db").phrase == "calls to db were rejected and not executed"
    assert LoseCallAnswer().phrase == "answers of external systems were lost, the calls executed"
    assert RepeatNotification(system="db").phrase == "notifications of db came twice"


@pytest.mark.parametrize("fault", EVERY, ids=lambda fault: fault.tag)
def test_they_concern_nothing_that_the_proxy_sees(fault: ExternalFault) -> None:
    get = request(f"GET {PODS}")
    assert not fault.concerns_request(get)
    assert not fault.concerns_stream(Seat(get))
    assert fault.executed_by == "runner"
    assert fault.needs_runner


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (RejectCall(resource="pods"), "it concerns calls to external systems; leave resource"),
        (SlowCall(by_seconds=1.0, name="w"), "it concerns calls to external systems; leave resource"),
        (KillAtCall(times=2), "times: one fault kills once; use several"),
        (LoseNotification(namespace="n"), "it concerns notifications of external systems; leave resource"),
        (LoseCallAnswer(nth=0), "nth is 0, expected a positive number"),
    ],
)
def test_what_makes_no_sense_is_reported(fault: ExternalFault, problem: str) -> None:
    (found,) = fault_problems([fault], "legal")  # type: ignore[list-item]  # each of them is one of the union
    assert problem in found
