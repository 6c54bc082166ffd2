"""Where the seconds of a trial went."""

from staleproof.core.history.entry import Ended, Entry, Released, Settled, StepBegan, StepEnded
from staleproof.core.history.history import Header, History
from staleproof.core.history.time_breakdown import Spent, spent
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest, Touch

PLAN = Plan(scenario="s", steps=(Touch(target=Target("v1", "ConfigMap", "c")), Rest(seconds=2.0)))


def of(*entries: Entry) -> Spent:
    header = Header(role="trial", plan=PLAN, namespace="n", primaries=(), environment={}, started="")
    return spent(History(header, entries))


def test_each_phase_has_its_seconds() -> None:
    assert of(
        StepBegan(at=0.5, step=1, does="touch"),
        StepEnded(at=1.0, step=1, idle=True),
        StepBegan(at=1.0, step=2, does="rest"),
        StepEnded(at=3.25, step=2, idle=True),
        Released(at=3.5),
        Settled(at=4.5, ok=True),
        Ended(at=5.25),
    ) == Spent(steps=0.5, hold=2.25, settle=1.0, after=0.75)


def test_a_history_that_ends_early_has_what_was_recorded() -> None:
    assert of(StepBegan(at=0.5, step=1, does="touch")) == Spent()
    assert of(StepBegan(at=0.5, step=1, does="touch"), StepEnded(at=2.0, step=1, idle=False)) == Spent(steps=1.5)


def test_trials_add_up() -> None:
    assert Spent(steps=1.0, hold=2.0) + Spent(steps=0.5, after=3.0) == Spent(steps=1.5, hold=2.0, after=3.0)
