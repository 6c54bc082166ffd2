"""tolerates-coalescing: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import tolerates_coalescing
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Ended
from staleproof.core.fault import Coalesce, HoldStream, Kill
from staleproof.core.history import History

from ..script import WIDGETS, Script, two_references

COALESCE = Coalesce(resource=WIDGETS)


def judge(script: Script, *references: History) -> Verdict:
    return verdict_of(tolerates_coalescing.REQUIREMENT, Trial(script.ends(), references or two_references()))


def scaled_twice(script: Script, *, replicas: int = 1) -> Script:
    """The widget goes from there to 5 and to 2 while nothing of it is shown."""
    script.pair(replicas).opens().ended(WIDGETS, "gone").step(2, "scale").applied("w", spec=5).applied("w", spec=2)
    return script.lists(WIDGETS).watches(WIDGETS)


def test_a_controller_that_needs_every_state_is_guilty() -> None:
    verdict = judge(scaled_twice(Script(COALESCE)).stuck())

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].because == (
        "it was never shown that widget/w was changed, only what came of it: 1 pod of widget/w, fault-free runs ended with 2"
    )


def test_so_is_one_that_does_not_notice_another_object_under_the_same_name() -> None:
    def usual(number: int) -> History:
        script = Script(namespace=f"ref-{number}").pair(1).removed("w", WIDGETS).deletes("w-0")
        return script.pair().ends()

    script = Script(HoldStream(resource=WIDGETS, release="relist")).pair(1).hold(WIDGETS)
    script.removed("w", WIDGETS).applied("w", spec=2).relist(WIDGETS)

    verdict = judge(script.stuck(), usual(1), usual(2))

    assert verdict.findings[0].because.startswith("it was never shown that widget/w was deleted, only what came of it: ")


def test_so_is_one_that_leaves_something_behind() -> None:
    script = scaled_twice(Script(COALESCE)).creates("w-1").updates("w", status={"ready": 2})

    verdict = judge(script.creates("w-map", resource="configmaps", owner="", generated="").stuck())

    assert verdict.findings[0].because.endswith(": configmap/w- is there, fault-free runs ended without it")


def test_one_that_looks_at_the_state_passes() -> None:
    assert judge(scaled_twice(Script(COALESCE)).creates("w-1").updates("w", status={"ready": 2})).outcome is Outcome.PASS


def test_so_does_one_whose_child_came_and_went_unseen() -> None:
    script = Script(COALESCE).opens().ended("configmaps", "gone").applied("x", "configmaps").removed("x", "configmaps")

    assert judge(script.lists("configmaps").watches("configmaps").pair()).outcome is Outcome.PASS


@pytest.mark.parametrize("other", ["another fault", "too soon"])
def test_it_is_inconclusive_when_something_else_may_explain_the_end(other: str) -> None:
    script = scaled_twice(Script(COALESCE, Kill(resource="pods")))

    verdict = judge(script.fires(1).stuck() if other == "another fault" else script.stuck(0.5))

    assert verdict.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "script",
    [
        Script(COALESCE),
        Script(COALESCE).pair(),
        Script(COALESCE).opens().ended(WIDGETS, "gone").lists(WIDGETS).watches(WIDGETS).pair(),
        Script(COALESCE).pair(1).hold().deletes("w-0").relist(),
        Script(COALESCE).pair().hold(WIDGETS).applied("w", spec=5).applied("w", spec=2).let_go(WIDGETS),
        Script(COALESCE).pair().opens().applied("w", spec=5).restarted(),
    ],
    ids=["empty", "not fired", "nothing changed", "a deletion that the list shows", "held, not coalesced", "a new life"],
)
def test_nothing_is_proven_unless_a_state_was_skipped(script: Script) -> None:
    assert judge(script).outcome is Outcome.NOT_EXERCISED


def test_without_a_settling_phase_it_is_inconclusive() -> None:
    history = scaled_twice(Script(COALESCE)).adds(Ended).unfinished()

    assert verdict_of(tolerates_coalescing.REQUIREMENT, Trial(history, two_references())).outcome is Outcome.INCONCLUSIVE
