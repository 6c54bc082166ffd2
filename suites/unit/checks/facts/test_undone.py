"""Deletes beyond what any reference had made by the same step."""

from staleproof.checks.facts.own_work import own_work
from staleproof.checks.facts.undone import Undone, undone

from staleproof.checks.trial import Trial
from staleproof.core.entry import StepEnded
from staleproof.core.history import History

from ..life_script import LifeScript
from ..script import HOLD, Script, reference


def scaled(script: Script) -> Script:
    """Three pods, then two of them."""
    script.step(1, "apply").applied("w", spec=3).creates("w-a", "w-b", "w-c").idle(1)
    return script.step(2, "scale").applied("w", spec=2).deletes("w-c").idle(2)


def found(script: Script, *references: History) -> list[Undone]:
    evidence = Trial(script.ends(), references or (scaled(reference(1)).ends(), scaled(reference(2)).ends()))
    return list(undone(evidence, own_work(evidence)).values())


def started(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec=3).creates("w-a", "w-b", "w-c")


def test_a_delete_below_what_was_kept_and_beyond_what_was_deleted_is_one_too_many() -> None:
    (delete,) = found(scaled(LifeScript(HOLD)).deletes("w-b"))

    assert (delete.child.named.name, delete.live, delete.kept) == ("w-b", 1, 2)


def test_the_same_deletes_in_a_later_step_are_only_late() -> None:
    script = started(LifeScript(HOLD)).idle(1).step(2, "scale").applied("w", spec=2).idle(2).step(3, "touch").deletes("w-c")

    assert not found(script)


def test_a_delete_before_its_step_is_one_too_many_then() -> None:
    (delete,) = found(started(LifeScript(HOLD)).deletes("w-c").idle(1).step(2, "scale").applied("w", spec=2))

    assert (delete.live, delete.kept) == (2, 3)


def test_one_that_deletes_before_it_creates_has_deleted_no_more() -> None:
    def rolled(script: Script) -> Script:
        return started(script).idle(1).step(2, "new template").applied("w", spec=4).deletes("w-a").creates("w-d").idle(2)

    assert not found(rolled(LifeScript(HOLD)), rolled(reference(1)).ends(), rolled(reference(2)).ends())


def test_what_was_never_there_cannot_be_deleted_too_much() -> None:
    assert not found(LifeScript(HOLD).step(1, "apply").applied("w").creates("w-a").deletes("w-a"))


def test_others_deletes_are_theirs() -> None:
    assert not found(scaled(LifeScript(HOLD)).removed("w-b"))


def test_what_a_reference_had_not_finished_proves_nothing() -> None:
    def busy(number: int) -> History:
        script = started(reference(number)).adds(StepEnded, step=1, idle=False)
        return script.step(2, "scale").applied("w", spec=2).deletes("w-c").idle(2).ends()

    assert not found(started(LifeScript(HOLD)).deletes("w-c"), busy(1), busy(2))


def test_what_was_left_is_told_in_words() -> None:
    script = scaled(LifeScript(HOLD)).deletes("w-b")
    evidence = Trial(script.ends(), (scaled(reference(1)).ends(), scaled(reference(2)).ends()))
    (delete,) = undone(evidence, own_work(evidence)).values()

    assert delete.left(evidence) == "1 live pod of widget/w left, fault-free runs kept 2"
    assert delete.name(evidence) == "pod/ns/w-b"
