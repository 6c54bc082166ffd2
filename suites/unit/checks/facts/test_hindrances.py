"""What keeps a controller from an external system."""

import math

import pytest

from staleproof.checks.facts.hindrances import clear_times, hindrances, longest_clear, outages
from staleproof.checks.trial import Trial
from staleproof.core.fault import AddBookmarks, AnyFault, HoldStream, Kill, SeverStream

from ..outside import Outside, settled_role
from ..script import WIDGETS

HOLD = HoldStream(resource="pods")


def of(script: Outside) -> list[tuple[float, float]]:
    return [(round(each.until - each.since, 1), round(each.given, 1)) for each in hindrances(Trial(script.ends()))]


def test_nothing_hinders() -> None:
    assert of(settled_role(Outside())) == []


def test_a_system_that_is_down_and_then_slow() -> None:
    script = settled_role(Outside()).turns("down").passes(4.9).turns("slow").passes(1.9).turns("up")
    assert of(script) == [(5.0, 10.0), (2.0, 4.0)]


def test_a_system_that_stays_down() -> None:
    script = settled_role(Outside()).turns("down")
    trial = Trial(script.passes(9.0).ends())

    assert [(each.until, each.why) for each in hindrances(trial)] == [(math.inf, "db was down")]
    assert list(outages(trial, "db")) == [(len(script.entries) - 5 - 1, len(trial.entries) - 1)]


def test_calls_that_go_wrong_count_as_one_until_one_succeeds() -> None:
    script = settled_role(Outside())
    for _ in range(3):
        script.calls("CREATE").passes(0.9).answered("unknown", effect="cut")
    script.looks().calls().answered("fail", effect="reject").calls().answered("fail", code="42501")
    assert of(script) == [(3.2, 6.4), (0.1, 0.2)]


def test_a_call_that_is_never_answered_is_waited_for_until_the_next() -> None:
    assert of(settled_role(Outside()).calls().passes(4.9).looks()) == [(5.0, 10.0)]
    assert of(settled_role(Outside()).looks().calls().passes(4.9)) == [(math.inf, 0.0)]


def test_many_failures_make_the_rate_limiter_wait() -> None:
    script = settled_role(Outside())
    for _ in range(14):
        script.calls("CREATE").answered("fail", effect="reject")
    assert of(script) == [(2.7, 41.0)]


def test_a_process_that_is_not_there_and_has_to_be_elected() -> None:
    kill = Kill(resource=WIDGETS)
    assert of(settled_role(Outside(kill)).dies().passes(3.9).restarted().passes(1.8).looks()) == [(6.3, 0.0)]
    assert of(settled_role(Outside(kill)).dies().passes(3.8).restarted().passes(30.0)) == [(24.0, 0.0)]


@pytest.mark.parametrize(
    ("fault", "found"),
    [(HOLD, [(5.0, 10.0)]), (SeverStream(resource="pods"), []), (AddBookmarks(resource="pods"), []), (Kill(resource="pods"), [])],
)
def test_faults_that_hinder_while_they_are_open(fault: AnyFault, found: list[tuple[float, float]]) -> None:
    assert of(settled_role(Outside(fault)).opens().fires().passes(4.8).closes()) == found


def test_a_fault_that_did_nothing_hinders_nothing() -> None:
    assert of(settled_role(Outside(HOLD)).opens().passes(5.0).closes()) == []


def test_times_in_which_nothing_hinders() -> None:
    trial = Trial(settled_role(Outside()).turns("down").passes(0.9).turns("up").passes(9.0).ends())
    down = hindrances(trial)[0].since

    assert clear_times(trial, "db", 0.0, down + 8.0) == [(0.0, down), (pytest.approx(down + 3.0), pytest.approx(down + 8.0))]
    assert longest_clear(trial, "db", down, down + 8.0) == pytest.approx(5.0)
    assert longest_clear(trial, "db", down, down + 2.0) == 0.0
    assert longest_clear(trial, "other", down, down + 8.0) == pytest.approx(8.0)
