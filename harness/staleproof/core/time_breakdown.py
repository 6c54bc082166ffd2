"""Where the seconds of a trial went."""

import msgspec

from staleproof.core.entry import Ended, Released, Settled, StepBegan, StepEnded
from staleproof.core.history import History
from staleproof.core.plan import Rest


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds. `steps`: doing them, until the controller was idle; `hold`: rests, for which watches were withheld or calls refused;
    `settle`: from the release until everything had converged and was quiet; `after`: reconciling everything once more.
    """

    steps: float = 0.0
    hold: float = 0.0
    settle: float = 0.0
    after: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            steps=self.steps + other.steps,
            hold=self.hold + other.hold,
            settle=self.settle + other.settle,
            after=self.after + other.after,
        )


def spent(history: History) -> Spent:
    """Of one trial; a history that ends early has what was recorded."""
    seconds = dict.fromkeys(("steps", "hold", "settle", "after"), 0.0)
    steps = history.header.plan.steps
    phase, since = "", 0.0
    for entry in history.entries:
        match entry:
            case StepBegan(step=step):
                phase, since = "hold" if isinstance(steps[step - 1], Rest) else "steps", entry.at
            case Released():
                phase, since = "settle", entry.at
            case StepEnded() | Settled() | Ended() if phase:
                seconds[phase] += entry.at - since
                phase, since = "after" if isinstance(entry, Settled) else "", entry.at
    return Spent(**{name: round(value, 3) for name, value in seconds.items()})
