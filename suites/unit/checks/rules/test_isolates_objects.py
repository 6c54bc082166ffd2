"""isolates-objects: whom it accuses, whom it does not, and when it knows nothing."""

from typing import Self

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import isolates_objects
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Stalled
from staleproof.core.fault import AnyFault, HideOwnWrite, Reject
from staleproof.core.history import History

from ..script import WIDGETS
from ..stream_script import StreamScript

HIDE = HideOwnWrite(resource="pods")


class Two(StreamScript):
    """Two widgets, `w` and `v`."""

    def __init__(self, *faults: AnyFault, namespace: str = "ns") -> None:
        super().__init__(*faults, namespace=namespace, names=("w", "v"))

    def one(self) -> Self:
        return self.step(1, "apply").applied("w", spec=1)

    def other(self) -> Self:
        return self.step(2, "apply").applied("v", spec=1)


def fault_free(number: int, *, pause: float = 0.0, acts: bool = True) -> History:
    script = Two(namespace=f"ref-{number}").one().creates("w-a").updates("w", status=1).other().passes(pause)
    return script.creates("v-a", owner="v").ends() if acts else script.ends()


def judge(script: StreamScript, *references: History) -> Verdict:
    return verdict_of(isolates_objects.REQUIREMENT, Trial(script.ends(), references or (fault_free(1), fault_free(2))))


def waiting(*faults: AnyFault) -> Two:
    """It waits for its create for `w`, and `v` has been shown."""
    return Two(HIDE, *faults).one().hold().creates("w-a").other()


def test_a_controller_that_waits_with_everything_is_guilty() -> None:
    script = waiting().passes(8.0).let_go().creates("v-a", owner="v")

    verdict = judge(script)

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].because == (
        f"for 8.2 s it did nothing for {WIDGETS}/v, which takes 0.1 s without faults, "
        "while pod/w-a of another object had not been shown to it"
    )
    kinds = [type(script.entries[index]).__name__ for index in verdict.findings[0].witnesses]
    assert kinds == ["FaultOpened", "Committed", "Delivered", "Delivered"]


def test_so_is_one_that_waits_for_a_deletion() -> None:
    script = Two(HIDE).one().creates("w-a").hold().deletes("w-a").other().passes(8.0).let_go().creates("v-a", owner="v")

    assert judge(script).outcome is Outcome.FAIL


def test_so_is_one_that_comes_to_it_late() -> None:
    assert judge(waiting().passes(8.0).creates("v-a", owner="v").passes(8.0).let_go()).outcome is Outcome.FAIL


def test_one_that_goes_on_with_the_other_passes() -> None:
    assert judge(waiting().creates("v-a", owner="v").passes(8.0).let_go()).outcome is Outcome.PASS
    assert judge(waiting().updates("v", status=1).passes(8.0).let_go()).outcome is Outcome.PASS


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_one_that_takes_as_long_without_faults_is_innocent() -> None:
    references = fault_free(1, pause=2.0), fault_free(2)

    assert judge(waiting().passes(8.0).creates("v-a", owner="v").let_go(), *references).outcome is Outcome.PASS


def test_one_whose_own_writes_were_shown_by_a_live_read_waits_for_nothing() -> None:
    script = Two(HIDE).one().hold().creates("w-a").gets("w-a").other().passes(8.0).let_go()

    assert judge(script).outcome is Outcome.NOT_EXERCISED


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (Two(HIDE), "no new primary was shown while own writes for another one were hidden from the controller"),
        (
            Two(HIDE).one().creates("w-a").other().creates("v-a", owner="v"),
            "no new primary was shown while own writes for another one were hidden from the controller",
        ),
        (
            Two(HIDE).one().hold().made("x", owner="w").other().passes(8.0).let_go(),
            "no new primary was shown while own writes for another one were hidden from the controller",
        ),
        (waiting().passes(2.0).let_go(), "own writes were hidden for 2.2 s only, and it may take 5.0 s"),
        (
            waiting(Reject(resource="pods")).rejected(fault=1).passes(8.0).let_go(),
            "something else was done to the controller meanwhile (Answered)",
        ),
        (
            waiting().adds(Stalled, request=9, verb="create", resource="pods", fault=0).passes(8.0).let_go(),
            "something else was done to the controller meanwhile (Stalled)",
        ),
        (waiting().passes(2.0).restarted(), "own writes were hidden for 2.1 s only, and it may take 5.0 s"),
    ],
    ids=["empty", "nothing was hidden", "somebody else's write", "too short", "rejected", "stalled", "restarted"],
)
def test_nothing_is_proven_unless_one_waited_long_enough(script: StreamScript, why: str) -> None:
    verdict = judge(script)

    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, why)


def test_a_primary_for_which_nothing_is_done_without_faults_tells_nothing() -> None:
    verdict = judge(waiting().passes(8.0).let_go(), fault_free(1), fault_free(2, acts=False))

    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, f"fault-free runs did nothing for {WIDGETS}/v")
