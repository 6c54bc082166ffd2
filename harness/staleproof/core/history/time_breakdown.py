"""Where the seconds of a trial went."""

import msgspec

from staleproof.core.history.entry import Ended, Released, Settled, StepBegan, StepEnded
from staleproof.core.history.history import History
from staleproof.core.plan.step import Rest


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds. `steps`: from the beginning of each step until the controller was idle; `hold`: rests, for which faults stayed open;
    `settle`: from the release until everything had converged and was quiet; `after`: reconciling everything once more.
    """

    steps: float = 0.0
    hold: float = 0.0
    settle: float = 0.0
    after: float = 0.0

    @property
    def total(self) -> float:
        return self.steps + self.hold + self.settle + self.after

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


def spent(history: History) -> Spent:
    """The seconds of one trial, as far as it was recorded."""
    seconds = dict.fromkeys(Spent.__struct_fields__, 0.0)
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
