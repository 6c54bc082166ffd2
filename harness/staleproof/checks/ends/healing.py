"""Did a trial come to a good end only because it was waited for longer than any controller is given? A cost, and no finding."""

from typing import NamedTuple

from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Probed, Settled
from staleproof.core.plan.pace import overdue_seconds


class Healed(NamedTuple):
    """That what was missing when the usual time was over (`lacked`, in words) was there so many seconds after the release."""

    seconds: float
    lacked: str


@fact
def healed(trial: Trial) -> Healed | None:
    """How it came to a good end after the usual time; None when it did not, or was in time."""
    if trial.released is None:
        return None
    for _, end in trial.every(Settled):
        if end.ok and end.overdue:
            changed = [trial.at(commit.index) for commit in trial.commits if trial.at(commit.index) <= end.at]
            return Healed(max([end.at - end.overdue, *changed]) - trial.at(trial.released), end.why.partition(": ")[2])
    late = next((entry for _, entry in trial.every(Probed) if entry.works and entry.overdue), None)
    return Healed(late.waited, "it did nothing about a new object") if late is not None else None


def usual_seconds(trial: Trial) -> float:
    """How long the trial takes without the time that was waited beyond what every controller is given."""
    return trial.entries[-1].at - overdue_seconds(trial.history) if trial.entries else 0.0
