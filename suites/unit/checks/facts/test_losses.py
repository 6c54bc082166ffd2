"""Children that another user deleted, and where others were made in their place."""

from staleproof.checks.facts.losses import losses
from staleproof.checks.trial import Trial
from staleproof.core.plan.step import Remove

from ..draft import STEPS
from ..script import Script


def lost() -> Script:
    script = Script(steps=(STEPS[0], Remove(resource="pods"), *STEPS[1:])).step(1, "apply").wants(1).creates("w-a").idle(1)
    return script.step(2, "remove").removed("w-a")


def test_another_that_was_made_in_its_place() -> None:
    (found,) = losses(Trial(lost().passes(1.0).applied("w").creates("w-b").ends()))
    assert (found.child.name, found.of.name) == ("w-a", "w")
    assert found.again is not None
    assert found.index < found.woken[0] < found.again == found.until


def test_the_event_of_the_deletion_wakes_no_other() -> None:
    (found,) = losses(Trial(lost().passes(1.0).creates("w-b").ends()))
    assert found.woken == []


def test_none_is_made_before_the_user_wants_something_else() -> None:
    (found,) = losses(Trial(lost().passes(1.0).wants(2).creates("w-b").ends()))
    assert found.again is None


def test_what_the_controller_deletes_itself_is_no_loss() -> None:
    assert losses(Trial(Script(steps=STEPS).step(1, "apply").wants(1).creates("w-a").deletes("w-a").ends())) == []
