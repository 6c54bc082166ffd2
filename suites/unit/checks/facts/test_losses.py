"""Children that another user deleted, and where others were made in their place."""

from staleproof.checks.facts.losses import losses
from staleproof.checks.trial import Trial
from staleproof.core.plan.step import Remove

from ..draft import STEPS
from ..script import Script, beside


def lost() -> Script:
    script = Script(steps=(STEPS[0], Remove(resource="pods"), *STEPS[1:])).step(1, "apply").wants(1).creates("w-a").idle(1)
    return script.step(2, "remove").removed("w-a")


def test_another_that_was_made_in_its_place() -> None:
    (found,) = losses(Trial(lost().passes(1.0).applied("w").creates("w-b").ends()))
    assert (found.child.name, found.of.name) == ("w-a", "w")
    assert found.again is not None
    assert found.index < found.woken[0] < found.again == found.until


def by_label(script: Script) -> Script:
    """What it makes is owned by a class that no trial has, and shows by a label whose it is."""
    script.step(1, "apply").wants(1)
    return outside(script, "x-a").idle(1).step(2, "remove").removed("x-a").passes(1.0)


def outside(script: Script, name: str) -> Script:
    owner = {"kind": "Class", "name": "shared", "uid": "elsewhere", "controller": True}
    return script.creates(name, owner="", generated="", metadata={"labels": {"of": "w"}, "ownerReferences": [owner]})


def test_what_is_tied_to_a_primary_is_lost_and_made_again_too() -> None:
    steps = (STEPS[0], Remove(resource="pods"), *STEPS[1:])
    case = beside(outside(by_label(Script(steps=steps)), "x-b"), lambda script: outside(by_label(script), "x-b"))
    (found,) = losses(case)
    assert (found.child.name, found.of.name) == ("x-a", "w")
    assert found.again is not None
    assert found.woken == []


def test_the_event_of_the_deletion_wakes_no_other() -> None:
    (found,) = losses(Trial(lost().passes(1.0).creates("w-b").ends()))
    assert found.woken == []


def test_none_is_made_before_the_user_wants_something_else() -> None:
    (found,) = losses(Trial(lost().passes(1.0).wants(2).creates("w-b").ends()))
    assert found.again is None


def test_what_the_controller_deletes_itself_is_no_loss() -> None:
    assert losses(Trial(Script(steps=STEPS).step(1, "apply").wants(1).creates("w-a").deletes("w-a").ends())) == []
