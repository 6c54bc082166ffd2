"""Primaries that took the name of another, and whether the controller was late to learn of it."""

from staleproof.checks.facts.recreations import Reuse
from staleproof.checks.trial import Trial
from staleproof.core.fault import HoldStream

from ..life_script import RESTART, LifeScript
from ..script import WIDGETS, Script

HELD = HoldStream(resource=WIDGETS)


def reuse(script: Script) -> Reuse:
    evidence = Trial(script.unfinished(), ())
    made = Reuse(evidence.history, evidence.population)
    for index, entry in enumerate(evidence.history.entries):
        made.advance(index, entry)
    return made


def test_each_incarnation_is_followed_by_the_next() -> None:
    made = reuse(LifeScript(HELD).applied("w").removed("w", WIDGETS).applied("w").removed("w", WIDGETS).applied("w"))

    assert [(one.before.uid, one.after.uid) for one in made.found] == [("ns-uid-1", "ns-uid-2"), ("ns-uid-2", "ns-uid-3")]
    assert made.of("ns-uid-2") is made.found[0]
    assert made.after("ns-uid-2") is made.found[1]
    assert made.of("ns-uid-1") is None


def test_on_a_healthy_stream_nothing_is_late() -> None:
    (one,) = reuse(LifeScript(HELD).applied("w").removed("w", WIDGETS).applied("w").idle(1)).found

    assert one.late is None
    assert one.shown is not None
    assert one.rested is not None


def test_what_is_withheld_is_late() -> None:
    (one,) = reuse(LifeScript(HELD).applied("w").hold(WIDGETS).removed("w", WIDGETS).applied("w")).found

    assert one.late is not None
    assert (one.shown, one.rested) == (None, None)


def test_a_list_that_shows_one_in_place_of_the_other_is_late() -> None:
    script = LifeScript(HELD).applied("w")
    script.dies()  # its streams are gone, so nothing is shown
    script.removed("w", WIDGETS).applied("w").lists(WIDGETS)
    (one,) = reuse(script).found

    assert one.late is not None
    assert one.shown == one.late


def test_a_new_life_that_never_saw_either_happen_is_late() -> None:
    (one,) = reuse(LifeScript(RESTART).applied("w").dies().removed("w", WIDGETS).applied("w").lives_again()).found

    assert one.late is not None


def test_a_new_life_whose_predecessor_knew_is_not() -> None:
    (one,) = reuse(LifeScript(RESTART).applied("w").removed("w", WIDGETS).applied("w").dies().lives_again()).found

    assert one.late is None


def test_other_objects_of_that_name_are_no_primaries() -> None:
    assert not reuse(LifeScript(HELD).applied("w").made("p").removed("p").made("p")).found
