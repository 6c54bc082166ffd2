"""Which writes at rest change anything."""

import pytest
from msgspec import structs

from staleproof.checks.ends.rest import Cost, cost, rest
from staleproof.checks.trial import Trial

from ..rules.pace.test_settles import again, done, settled
from ..script import WIDGETS, Script, trial


def verbs(script_history: Trial) -> tuple[list[str], list[str], str]:
    found = rest(script_history)
    return [each.asked.verb for each in found.changing], [each.asked.verb for each in found.void], found.untested


def test_writes_are_told_apart_by_whether_they_change_anything() -> None:
    script = again().updates("w").creates("w-b").deletes("w-b")
    assert verbs(Trial(script.ends())) == (["create", "delete"], ["update"], "")


def test_what_a_look_at_everything_costs() -> None:
    assert cost(Trial(again().updates("w").creates("w-b").ends())) == Cost(1, 2, 1)
    assert cost(Trial(settled().ends())) is None
    assert cost(Trial(settled().unfinished())) is None


def test_what_comes_after_another_user_changed_something_is_left_out() -> None:
    changing, void, untested = verbs(Trial(settled().updates("w").applied("w", spec=2).creates("w-b").ends()))
    assert (changing, void) == ([], ["update"])
    assert untested.startswith("another user changed")


def cut() -> Script:
    """It settles while the controller is in the middle of a pass, and then its primaries are listed once more."""
    script = done(trial()).passes(1.0)
    began = len(script.entries)
    script.asks("patch", WIDGETS, "w").settled().asks("patch", WIDGETS, "w")
    first = script.entries[began].at
    for number in range(began, len(script.entries)):  # closely
        script.entries[number] = structs.replace(script.entries[number], at=first + 0.01 * (number - began))
    return script.resynced()


def hot(every: float) -> Script:
    """It writes without a pause, before it has settled and after."""
    script = done(trial()).passes(1.0)
    began = len(script.entries)
    for _ in range(20):
        script.updates("w")
    script.settled().resynced()
    for _ in range(50):
        script.updates("w")
    first = script.entries[began].at
    for number in range(began, len(script.entries)):
        script.entries[number] = structs.replace(script.entries[number], at=first + every * (number - began))
    return script


@pytest.mark.parametrize("every", [0.02, 0.04, 0.2])
def test_what_never_pauses_is_no_pass(every: float) -> None:
    assert len(rest(Trial(hot(every).ends())).void) > 30


def test_a_pass_that_was_under_way_when_the_trial_had_settled_is_left_out() -> None:
    assert verbs(Trial(cut().ends()))[0] == []
    assert verbs(Trial(cut().asks("patch", WIDGETS, "w").ends()))[0] == ["patch"], "what comes behind the look"
