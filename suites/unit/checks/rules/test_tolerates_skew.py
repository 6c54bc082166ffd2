"""tolerates-skew: whom it accuses, whom it does not, and when it knows nothing."""

from typing import Literal

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import tolerates_skew
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.fault import HoldStream, Reject, SeverStream

from ..script import WIDGETS, Script, two_references

HOLD = HoldStream(resource="pods")


def judge(script: Script) -> Verdict:
    return verdict_of(tolerates_skew.REQUIREMENT, Trial(script.ends(), two_references()))


def test_a_controller_that_does_not_get_over_a_lag_is_guilty() -> None:
    verdict = judge(Script(HOLD).hold().pair(1).let_go().stuck())

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].because == (
        f"after its view of pods was behind that of {WIDGETS}: 1 pod of widget/w, fault-free runs ended with 2"
    )


def test_so_is_one_whose_parents_are_older_than_their_children() -> None:
    script = Script(HoldStream(resource=WIDGETS)).pair(1).hold(WIDGETS).applied("w", spec=2)

    verdict = judge(script.updates("w-0", "pods", subresource="", seen=1).let_go(WIDGETS).stuck())

    assert verdict.findings[0].because.startswith(f"after its view of {WIDGETS} was behind that of pods: ")


@pytest.mark.parametrize("mended", [True, False])
def test_one_that_breaks_another_rule_meanwhile_is_for_that_rule_to_tell(*, mended: bool) -> None:
    script = Script(HOLD).hold().pair().step(2, "touch").applied("w", touched=1).creates("w-2").let_go()

    verdict = judge(script.deletes("w-2") if mended else script.stuck())

    assert (verdict.outcome, verdict.why) == (
        Outcome.NOT_EXERCISED,
        "it wrote on an old view meanwhile, which no-duplicate-create tells",
    )


def test_one_that_ends_well_passes_whichever_was_late() -> None:
    children = Script(HOLD).hold().pair().let_go()
    parents = Script(HoldStream(resource=WIDGETS)).pair(1).hold(WIDGETS).applied("w", spec=2)
    parents.updates("w-0", "pods", subresource="").creates("w-1").let_go(WIDGETS).updates("w", status={"ready": 2})

    assert judge(children).outcome is Outcome.PASS
    assert judge(parents).outcome is Outcome.PASS


def test_a_burst_inside_one_reconciliation_is_no_write_on_an_old_view() -> None:
    script = Script(HOLD).hold().step(1, "apply").applied("w", spec=2).creates("w-0", "w-1", "w-2").deletes("w-2")

    assert judge(script.updates("w", status={"ready": 2}).let_go()).outcome is Outcome.PASS


@pytest.mark.parametrize("kind", ["another fault", "too soon"])
def test_it_is_inconclusive_when_something_else_may_explain_the_end(kind: str) -> None:
    script = Script(HOLD, Reject(resource="pods")).hold().pair(1).let_go()

    verdict = judge(script.fires(1).stuck() if kind == "another fault" else script.passes(9.0).closes(0).stuck(1.0))

    assert verdict.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("release", ["relist", "resume"])
def test_a_hold_that_ends_the_watch_is_for_others_to_tell(release: Literal["relist", "resume"]) -> None:
    script = Script(HoldStream(resource="pods", release=release)).hold().pair(1).let_go()

    verdict = judge(script.stuck())

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.why.endswith("but Hold fired, too, and may explain that")


@pytest.mark.parametrize(
    "script",
    [
        Script(HOLD),
        Script(HOLD).pair(),
        Script(HOLD).pair().hold().updates("w-0", "pods", subresource="", seen=1).let_go(),
        Script(HOLD).pair().hold().updates("w-0", "pods", subresource="", seen=1).relist().applied("w", spec=2),
        Script(SeverStream(resource="pods")).opens().ended().watches().pair(),
        Script(HOLD).hold().applied("w", spec=2).made("w-0").restarted().applied("w", spec=3),
    ],
    ids=["empty", "not fired", "nothing else moved", "over before anything moved", "another fault", "another life"],
)
def test_nothing_is_proven_unless_one_moved_while_another_was_late(script: Script) -> None:
    assert judge(script).outcome is Outcome.NOT_EXERCISED
