"""isolates-objects: whom it accuses, whom it does not, and when it knows nothing."""

from collections.abc import Sequence
from typing import Self

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import isolates_objects
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Verdict
from staleproof.core.entry import Stalled
from staleproof.core.fault import AnyFault, HideOwnWrite, Reject
from staleproof.core.history import History

from ..script import WIDGETS, told
from ..stream_script import StreamScript

HIDE = HideOwnWrite(resource="pods")
NOTHING_HIDDEN = "NOT_EXERCISED: no new primary was shown while own writes for another one were hidden from the controller"
DISTURBED = "NOT_EXERCISED: something else was done to the controller meanwhile"


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


def judge(script: StreamScript, references: Sequence[History] = ()) -> Verdict:
    return verdict_of(isolates_objects.REQUIREMENT, Trial(script.ends(), references or (fault_free(1), fault_free(2))))


def waiting(*faults: AnyFault) -> Two:
    """It waits for its create for `w`, and `v` has been shown."""
    return Two(HIDE, *faults).one().hold().creates("w-a").other()


def found(seconds: float) -> str:
    takes = f"for {seconds} s it did nothing for {WIDGETS}/v, which takes 0.1 s without faults"
    return f"FAIL: {takes}, while pod/w-a of another object had not been shown to it"


def short(seconds: float) -> str:
    return f"NOT_EXERCISED: own writes were hidden for {seconds} s only, and it may take 5.0 s"


CASES: dict[str, tuple[StreamScript, str]] = {
    "waits with everything": (waiting().passes(8.0).let_go().creates("v-a", owner="v"), found(8.2)),
    "waits for a deletion": (
        Two(HIDE).one().creates("w-a").hold().deletes("w-a").other().passes(8.0).let_go().creates("v-a", owner="v"),
        found(8.2),
    ),
    "comes to it late": (waiting().passes(8.0).creates("v-a", owner="v").passes(8.0).let_go(), found(8.1)),
    "goes on with the other": (waiting().creates("v-a", owner="v").passes(8.0).let_go(), "PASS"),
    "goes on with the other's status": (waiting().updates("v", status=1).passes(8.0).let_go(), "PASS"),
    # --- nothing is known unless one waited long enough
    "empty": (Two(HIDE), NOTHING_HIDDEN),
    "nothing was hidden": (Two(HIDE).one().creates("w-a").other().creates("v-a", owner="v"), NOTHING_HIDDEN),
    "somebody else's write": (Two(HIDE).one().hold().made("x", owner="w").other().passes(8.0).let_go(), NOTHING_HIDDEN),
    "a live read has shown it": (Two(HIDE).one().hold().creates("w-a").gets("w-a").other().passes(8.0).let_go(), NOTHING_HIDDEN),
    "too short": (waiting().passes(2.0).let_go(), short(2.2)),
    "restarted": (waiting().passes(2.0).restarted(), short(2.1)),
    "rejected": (waiting(Reject(resource="pods")).rejected(fault=1).passes(8.0).let_go(), f"{DISTURBED} (Answered)"),
    "stalled": (
        waiting().adds(Stalled, request=9, verb="create", resource="pods", fault=0).passes(8.0).let_go(),
        f"{DISTURBED} (Stalled)",
    ),
}


@pytest.mark.parametrize(("script", "verdict"), CASES.values(), ids=CASES)
def test_verdict(script: StreamScript, verdict: str) -> None:
    assert told(judge(script), verdict) == verdict


@pytest.mark.parametrize(
    ("script", "references", "verdict"),
    [
        (waiting().passes(8.0).creates("v-a", owner="v").let_go(), (fault_free(1, pause=2.0), fault_free(2)), "PASS"),
        (
            waiting().passes(8.0).let_go(),
            (fault_free(1), fault_free(2, acts=False)),
            f"NOT_EXERCISED: fault-free runs did nothing for {WIDGETS}/v",
        ),
    ],
    ids=["takes as long without faults", "does nothing without faults"],
)
def test_the_references_tell_how_long_it_may_take(script: StreamScript, references: tuple[History, ...], verdict: str) -> None:
    assert told(judge(script, references), verdict) == verdict


def test_the_hidden_write_and_the_other_object_are_witnesses() -> None:
    script, _ = CASES["waits with everything"]

    (finding,) = judge(script).findings
    kinds = [type(script.entries[index]).__name__ for index in finding.witnesses]
    assert kinds == ["FaultOpened", "Committed", "Delivered", "Delivered"]
