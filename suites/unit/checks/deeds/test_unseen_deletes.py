"""Deletes of what this life had never been shown, in one history; and what another run deletes."""

import pytest

from staleproof.checks.deeds.unseen_deletes import deletes_by_step, deletes_of_hidden, deletes_under, unseen_deletes
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, trial


def named(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec=2).creates("w-0", "w-1", generated="").idle(1)


def recreated() -> Script:
    """Another user puts another object under the name of a child, unseen."""
    return named(trial()).step(2, "recreate").hold().removed("w-1").made("w-1")


def replaced() -> Script:
    """The widget is replaced unseen, with what belongs to it."""
    return named(trial()).step(2, "recreate").hold(WIDGETS).removed("w", WIDGETS).applied("w", spec=2).made("w-2")


UNSEEN = {
    "the object itself": (recreated().deletes("w-1"), [("w-1", True, ["w-1"])]),
    "a delete that names the incarnation shows that it was known": (recreated().deletes("w-1", precondition=True), []),
    "what it was shown": (recreated().let_go().deletes("w-1"), []),
    "its owner": (replaced().deletes("w-2"), [("w-2", True, ["w"])]),
    "what names the object has not learnt of its owner": (replaced().deletes("w-2", precondition=True), [("w-2", False, ["w"])]),
}


@pytest.mark.parametrize(("script", "found"), UNSEEN.values(), ids=UNSEEN)
def test_what_had_never_been_shown(script: Script, found: list[tuple[str, bool, list[str]]]) -> None:
    deletes = unseen_deletes(Trial(script.ends()))
    assert [(each.child.name, each.is_blind, [*{of.name: of for of in each.unseen}]) for each in deletes] == found


def test_what_invites_it() -> None:
    assert deletes_of_hidden(Trial(recreated().deletes("w-1").ends()))
    assert not deletes_of_hidden(Trial(recreated().deletes("w-0").ends()))


def test_what_another_run_deletes() -> None:
    script = named(trial()).step(2, "scale").applied("w", spec=1).deletes("w-1").idle(2)
    found = Trial(script.ends())
    first, second = (object_history(found).named("pods", name)[0] for name in ("w-0", "w-1"))
    (owner,) = object_history(found).named(WIDGETS, "w")

    assert [deletes_by_step(found, second, 0, step) for step in (1, 2)] == [False, True]
    assert not deletes_by_step(found, first, 0, 2)
    assert deletes_under(found, first, owner)
    assert not deletes_under(found, owner, owner)
