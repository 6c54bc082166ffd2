"""What became of requests that a fault rejected: how often the controller tried again, and when.

Attempts are grouped by what they are about: verb, resource, subresource, and the name where the request has one (a create has
none). Whether an attempt is the same work as another cannot be seen, so only the rate of all of a group is told.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from staleproof.checks.trial import Trial, fact
from staleproof.core.entry import Asked, Opened, Refused
from staleproof.core.fault import CallFault
from staleproof.core.request import BOOKKEEPING


class Attempted(NamedTuple):
    """What requests are about. `name` is empty for creates, lists and watches."""

    verb: str
    resource: str
    name: str = ""
    subresource: str = ""

    @property
    def words(self) -> str:
        """`create of pods`, `update of the status of widgets/w`."""
        part = f"the {self.subresource} of " if self.subresource else ""
        return f"{self.verb} of {part}{self.resource}{f'/{self.name}' if self.name else ''}"


@dataclass(slots=True)
class Rejections:
    """The attempts of one kind that one fault rejected, by position; `until` is where the fault closed, or had rejected its last.

    `later` is the first attempt of this verb and resource that came after the last rejected one and was not rejected.
    """

    target: Attempted
    fault: int
    rejected: list[int] = field(default_factory=list)
    until: int = 0
    later: int | None = None


@fact
def rejections(trial: Trial) -> Sequence[Rejections]:
    """All of a trial, up to the end of its settling phase."""
    settled = len(trial.entries) if trial.settled is None else trial.settled
    found: dict[tuple[Attempted, int], Rejections] = {}
    others: dict[tuple[str, str], list[int]] = defaultdict(list)
    faults = {number: fault for number, fault in trial.fired.items() if "rejects" in fault.effects}
    for index, target, number in _attempts(trial, settled):
        if number is not None and number in faults:
            found.setdefault((target, number), Rejections(target, number)).rejected.append(index)
        else:
            others[target.verb, target.resource].append(index)
    for (target, number), group in found.items():
        last = group.rejected[-1]
        fault, span = faults[number], trial.spans.get(number)
        limited = span is None or (isinstance(fault, CallFault) and fault.times is not None)
        group.until = last if limited else min(trial.closing(number), settled)
        group.later = next((index for index in others[target.verb, target.resource] if index > last), None)
    return list(found.values())


def _attempts(trial: Trial, until: int) -> Iterator[tuple[int, Attempted, int | None]]:
    """(position, what it is about, fault that answered it) of each request of the trial, bookkeeping aside."""
    for index in trial.positions(Asked, Refused, Opened):
        if index >= until:
            return
        match trial.entries[index]:
            case Asked() as entry if entry.resource not in BOOKKEEPING and _is_mine(entry, trial):
                request = trial.request_of[entry.request]
                answered = request.answer_index is not None and request.answer_index < until
                fault = request.answer.fault if request.answer is not None and answered else None
                yield index, Attempted(entry.verb, entry.resource, entry.name, entry.subresource), fault
            case Refused() as entry if entry.resource not in BOOKKEEPING:
                yield index, Attempted("watch", entry.resource), entry.fault
            case Opened() as entry if entry.resource not in BOOKKEEPING:
                yield index, Attempted("watch", entry.resource), None


def _is_mine(asked: Asked, trial: Trial) -> bool:
    return not asked.dry_run and asked.namespace in ("", trial.namespace)
