"""What the references had by a step of the trial."""

from staleproof.checks.facts.by_step import BySteps

from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial
from staleproof.core.entry import StepEnded
from staleproof.core.history import History
from staleproof.core.plan import Apply, Resync, Touch

from ..life_script import LifeScript
from ..script import HOLD, STEPS, WIDGETS, Script, reference

PODS = Role("Widget/w", "pods", "w-")


def waves(script: Script, *, idle: bool = True) -> History:
    """Two pods, then four, then one."""
    script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b").adds(StepEnded, step=1, idle=idle)
    script.step(2, "scale").applied("w", spec=4).creates("w-c", "w-d").idle(2)
    return script.step(3, "scale").applied("w", spec=1).deletes("w-a", "w-b", "w-c").idle(3).ends()


def by_step(script: Script, *, idle: bool = True) -> BySteps:
    return BySteps(Trial(script.ends(), (waves(reference(1), idle=idle), waves(reference(2)))))


def in_step(number: int) -> Script:
    script = LifeScript(HOLD)
    for step in range(1, number + 1):
        script.step(step, "something")
    return script.applied("w")


def test_the_most_and_the_deletes_grow_and_what_is_kept_does_not() -> None:
    found = []
    for number in (1, 2, 3):
        script = in_step(number)
        here, steps = len(script.entries), by_step(script)
        found.append((steps.most(PODS, here), steps.kept(PODS, here), steps.deleted(PODS, here)))

    assert found == [(2, 2, 0), (4, 4, 0), (4, 1, 3)]


def test_before_the_first_step_everything_is_allowed() -> None:
    steps = by_step(LifeScript(HOLD))

    assert (steps.most(PODS, 1), steps.kept(PODS, 1), steps.deleted(PODS, 1)) == (4, 0, 3)


def test_a_step_that_a_reference_did_not_finish_proves_nothing() -> None:
    script = in_step(1)
    here, steps = len(script.entries), by_step(script, idle=False)

    assert (steps.most(PODS, here), steps.kept(PODS, here), steps.deleted(PODS, here)) == (4, 0, 3)


def test_resyncs_are_not_in_the_references() -> None:
    script = LifeScript(HOLD)
    script.plan = type(script.plan)(scenario="test", steps=(STEPS[0], Resync(resource=WIDGETS), STEPS[1]), faults=(HOLD,))
    assert isinstance(script.plan.steps[0], Apply)
    assert isinstance(script.plan.steps[2], Touch)
    script.step(1, "apply").applied("w").step(2, "resync").step(3, "touch").applied("w")

    assert by_step(script).most(PODS, len(script.entries)) == 4
    assert by_step(script).most(PODS, 7) == 2
    assert by_step(script).kept(PODS, len(script.entries)) == 4


def test_a_role_that_no_reference_had_is_nothing() -> None:
    script = in_step(2)
    steps, other = by_step(script), Role("", "jobs", "x")

    assert (steps.most(other, 9), steps.kept(other, 9), steps.deleted(other, 9)) == (0, 0, 0)
