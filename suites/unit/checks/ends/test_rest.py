"""Which writes at rest change anything."""

from staleproof.checks.ends.rest import Cost, cost, rest
from staleproof.checks.trial import Trial

from ..rules.pace.test_settles import again, settled


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
