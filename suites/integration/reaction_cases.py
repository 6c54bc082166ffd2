"""Every fault, as the fixture clients are shown it, and the test that runs one cell of the table."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from staleproof.assess.trial.session import Session
from staleproof.core.fault import (
    AddBookmarks,
    AnyFault,
    Coalesce,
    Compete,
    DelayStream,
    DropBookmarks,
    DropFrame,
    Expire,
    Hang,
    HideOwnWrite,
    HoldStream,
    Kill,
    LoseAnswer,
    NoEndBookmark,
    PastSnapshot,
    Pause,
    Refuse,
    RefuseWatchList,
    Reject,
    Reorder,
    RepeatFrame,
    Restart,
    SeverStream,
    Skew,
    SlowAnswer,
    SlowStart,
    StaleRead,
    Window,
)
from staleproof.core.fault.legality import Contract
from staleproof.core.fault.suggest import FAULTS
from staleproof.core.plan.plan import Settle

from .mirror_stage import a_plan, run
from .reactions import reaction

CM = "configmaps"
LATER = Window(from_step=3)
A_SECOND = Window(from_step=3, seconds=1.0)
SOME_SECONDS = Window(from_step=3, seconds=20.0)  # a Python program takes some to start
AGAIN = Restart(window=LATER)
NO_WATCH = (Reject(resource=CM, verb="watch", code=500, window=LATER), SeverStream(resource=CM, window=LATER))
SETTLE = Settle(deadline_seconds=90.0, limit_seconds=10.0)
NOT_FOR_EVER = Settle(deadline_seconds=5.0, limit_seconds=10.0)


@dataclass(frozen=True)
class Case:
    """The table is about the first fault; the others give it an occasion."""

    title: str
    faults: tuple[AnyFault, ...]

    @property
    def fault(self) -> AnyFault:
        return self.faults[0]


def _case(fault: AnyFault, title: str = "", *more: AnyFault) -> Case:
    return Case(f"{fault.tag} {title}".strip(), (fault, *more))


CASES = (
    _case(HoldStream(resource=CM, window=LATER)),
    _case(HoldStream(resource=CM, window=LATER, release="trickle"), "trickle"),
    _case(HoldStream(resource=CM, window=LATER, release="relist"), "relist"),
    _case(HoldStream(resource=CM, window=LATER, release="resume"), "resume"),
    _case(HideOwnWrite(resource=CM)),
    _case(DelayStream(resource=CM, window=LATER, by_seconds=0.4)),
    _case(Skew(window=LATER, by_seconds={CM: 0.4})),
    _case(SeverStream(resource=CM, window=LATER), "clean"),
    _case(SeverStream(resource=CM, window=LATER, how="truncated", nth=2), "truncated"),
    _case(SeverStream(resource=CM, window=LATER, how="reset"), "reset"),
    _case(Refuse(window=A_SECOND)),
    _case(Hang(resource=CM, window=A_SECOND)),
    _case(Expire(resource=CM, window=LATER), "stream"),
    _case(Expire(resource=CM, window=LATER, at="resume"), "resume"),
    _case(Expire(resource=CM, window=LATER, at="watch"), "watch"),
    _case(Expire(resource=CM, window=LATER, at="list"), "list", *NO_WATCH),
    _case(Coalesce(resource=CM, window=Window(from_step=3, until_step=5))),
    _case(DropBookmarks(resource=CM, window=LATER)),
    _case(AddBookmarks(resource=CM, window=LATER)),
    _case(SlowStart(resource=CM, window=LATER), "ends", AGAIN),
    _case(SlowStart(resource=CM, window=SOME_SECONDS, by_seconds=0.3, then="closes"), "closes", AGAIN),
    _case(RefuseWatchList(window=LATER), "http", AGAIN),
    _case(RefuseWatchList(window=LATER, how="event"), "event", AGAIN),
    _case(PastSnapshot(as_of_step=2, window=Window(from_step=4)), "", Restart(window=Window(from_step=4))),
    _case(Reject(resource=CM, verb="create", code=429), "429"),
    _case(Reject(resource=CM, verb="create", code=500), "500"),
    _case(Reject(resource=CM, verb="create", code=503), "503"),
    _case(Reject(resource=CM, verb="create", code=504), "504"),
    _case(Reject(resource=CM, verb="create", code=0), "reset"),
    _case(NO_WATCH[0], "watch", *NO_WATCH[1:]),
    _case(Compete(resource=CM, verb="update"), "update"),
    _case(Compete(resource=CM, verb="create"), "create"),
    _case(LoseAnswer(resource=CM, verb="create"), "reset"),
    _case(LoseAnswer(resource=CM, verb="create", code=504), "504"),
    _case(SlowAnswer(resource=CM, verb="create", by_seconds=0.6), "after"),
    _case(SlowAnswer(resource=CM, verb="create", by_seconds=0.6, moment="before"), "before"),
    _case(Kill(resource=CM, verb="create", moment="before"), "before"),
    _case(Kill(resource=CM, verb="create", moment="after"), "after"),
    _case(Restart(window=LATER)),
    _case(Restart(window=LATER, stays_down=True), "stays down"),
    _case(Pause(window=LATER)),
    _case(DropFrame(resource=CM, window=LATER, nth=2)),
    _case(RepeatFrame(resource=CM, window=LATER, nth=2)),
    _case(Reorder(resource=CM, window=LATER, nth=2)),
    _case(NoEndBookmark(resource=CM, window=LATER), "", AGAIN),
    _case(StaleRead(resource=CM, as_of_step=2, window=Window(from_step=4)), "", Restart(window=Window(from_step=4))),
)
BY_CHANCE = {"DropBookmarks"}
"""These may fire or not: the API server sends a bookmark about once a minute."""

_ELSEWHERE = {tag for tag, kind in FAULTS.items() if kind.acts_on == "calls"}
"""These clients know the Kubernetes API, and call nothing else."""
assert {case.fault.tag for case in CASES} == set(FAULTS) - _ELSEWHERE, "the table shows every fault"

each_case = pytest.mark.parametrize("case", CASES, ids=[case.title.replace(" ", "-") for case in CASES])


def react(session: Session, case: Case, client: str, folder: Path, record: pytest.FixtureRequest, *, impossible: bool) -> None:
    """Run the trial of one cell, check its result, and put it into the table that is printed at the end.

    A fault that did not fire gets a second chance: whether its moment comes depends on the client's timing, too.
    """
    contract: Contract = "hostile" if any(fault.contract == "hostile" for fault in case.faults) else "legal"
    settle = SETTLE if contract == "legal" else NOT_FOR_EVER
    plan = a_plan(*case.faults, contract=contract, settle=settle)
    found = reaction(run(session, plan, folder / "first"), 0, CM)
    if found.fired:
        found = reaction(run(session, plan, folder / "second"), 0, CM)
    record.node.user_properties.append(("reaction", (case.title, client, str(found))))
    assert found.fired != "no reason was given"
    assert found.broke == ()
    if case.fault.contract == "legal":
        assert found.converged == ""
    if case.title not in BY_CHANCE:
        assert (found.fired == "") is not impossible, str(found)
