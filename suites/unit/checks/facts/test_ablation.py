"""Where another fault fired as well: runs without ours tell whether that one alone brings about the end."""

import pytest

from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.judge import verdict_of
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.fault import HideOwnWrite
from staleproof.core.history.entry import Broke, FaultIndex
from staleproof.core.history.history import History
from staleproof.core.plan.but_for import ablated

from ..rule_cases import ONE_POD
from ..script import SEVER, WIDGETS, Script, two_references

OTHER = HideOwnWrite(resource="configmaps")
UNSURE = f"it did not converge ({ONE_POD}), but HideOwnWrite fired, too, and may explain that"


def severed(*, pods: int = 1) -> History:
    """A trial in which a watch was lost, and something else was done, too."""
    script = Script(SEVER, OTHER).opens().ended(WIDGETS, "reset").watches(WIDGETS).fires(1).pair(pods)
    return (script if pods == 2 else script.stuck()).ends()


def with_the_other(number: int) -> Script:
    """A run of its plan in which no watch was lost."""
    return Script(OTHER, namespace=f"ref-{number}", role="ablated")


def well(number: int) -> History:
    return with_the_other(number).fires(0).pair().ends()


def badly(number: int) -> History:
    return with_the_other(number).fires(0).pair(1).stuck().ends()


def unharmed(number: int) -> History:
    """The other fault found no occasion."""
    return with_the_other(number).pair().ends()


def disturbed(number: int) -> History:
    return with_the_other(number).fires(0).adds(Broke, where="truth", why="gap").pair().ends()


def verdict(*runs: History, trial: History | None = None) -> Verdict:
    compared = Trial(trial or severed(), (*two_references(), *runs))
    return verdict_of(BY_SLUG["survives-stream-loss"], compared)


def test_a_doubt_says_which_faults_to_leave_out() -> None:
    found = verdict()
    assert (found.outcome, found.why, found.without) == (Outcome.INCONCLUSIVE, UNSURE, (0,))
    plan = ablated(severed().header.plan, found.without)
    assert plan is not None
    assert plan.faults == (OTHER,)
    assert plan.steps == severed().header.plan.steps
    assert plan.fresh


def test_it_is_a_finding_where_the_others_alone_do_no_harm() -> None:
    found = verdict(well(3), well(4))
    assert found.outcome is Outcome.FAIL
    assert found.findings[0].because.startswith(f"after its watch of {WIDGETS} was lost")


def test_it_is_none_where_the_others_alone_bring_it_about() -> None:
    found = verdict(badly(3), badly(4))
    assert (found.outcome, found.without) == (Outcome.NOT_EXERCISED, ())
    assert found.why == f"it did not converge ({ONE_POD}), and with HideOwnWrite alone it did not, either, in 2 runs"


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        ((well(3),), "; with HideOwnWrite alone it converged in 1 of 1 run"),
        ((well(3), badly(4)), "; with HideOwnWrite alone it converged in 1 of 2 runs"),
        ((unharmed(3), unharmed(4)), ""),
        ((disturbed(3), disturbed(4)), ""),
    ],
    ids=["one alone", "they disagree", "the others did nothing there", "they were disturbed"],
)
def test_runs_that_do_not_tell_leave_the_doubt(runs: tuple[History, ...], reason: str) -> None:
    found = verdict(*runs)
    assert (found.outcome, found.why, found.without) == (Outcome.INCONCLUSIVE, UNSURE + reason, (0,))


def test_what_is_done_in_them_says_nothing_of_what_is_right() -> None:
    compared = Trial(severed(), (*two_references(), badly(3), badly(4)))
    assert [each.role for each in compared.references] == ["reference", "reference"]
    assert [each.role for each in compared.ablated] == ["ablated", "ablated"]
    assert verdict(badly(3), badly(4), trial=severed(pods=2)).outcome is Outcome.PASS


def test_a_plan_of_one_kind_of_fault_has_no_other_runs_than_its_references() -> None:
    plan = severed().header.plan
    assert ablated(plan, (FaultIndex(0), FaultIndex(1))) is None
    assert ablated(plan, ()) is None
