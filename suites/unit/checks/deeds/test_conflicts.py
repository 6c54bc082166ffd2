"""Conflicts of the controller with itself, and own updates that were hidden when it looked again."""

import pytest

from staleproof.checks.deeds.conflicts import conflicts, hidden_updates
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, trial


def held() -> Script:
    return trial().wants(1).hold(WIDGETS).says(1)


def test_a_conflict_knows_the_own_writes_that_had_not_been_shown() -> None:
    (conflict,) = conflicts(Trial(held().says(1, replicas=1).says_blindly().ends()))

    assert conflict.where == (WIDGETS, "status")
    assert conflict.target.name == "w"
    assert [commit.entry.revision for commit in conflict.unseen] == [102, 103]


CAUSES = {
    "no other user changed it": (held().says_blindly(), 1),
    "another user's change that was recorded soon after may have been the cause": (held().says_blindly().applied("w", spec=2), 0),
    "the next step came later, so its change was not the cause": (held().says_blindly().step(2, "patch").applied("w", spec=2), 1),
}


@pytest.mark.parametrize(("script", "number"), CAUSES.values(), ids=CAUSES)
def test_whether_it_is_a_conflict_with_itself(script: Script, number: int) -> None:
    assert len(conflicts(Trial(script.ends()))) == number


HIDDEN = {
    "a step begins": (held().step(2, "rest"), [102]),
    "something else is shown": (held().made("w-x"), [102]),
    "nothing made it look again": (held(), []),
    "it was shown": (held().let_go(WIDGETS).step(2, "rest"), []),
    "a new life has nothing to remember": (held().restarted().step(2, "rest"), []),
    "a delete is no update": (trial().wants(1).creates("w-a").hold().deletes("w-a", grace=True).step(2, "rest"), []),
}


@pytest.mark.parametrize(("script", "revisions"), HIDDEN.values(), ids=HIDDEN)
def test_hidden_updates(script: Script, revisions: list[int]) -> None:
    assert [commit.entry.revision for commit in hidden_updates(Trial(script.unfinished()))] == revisions
