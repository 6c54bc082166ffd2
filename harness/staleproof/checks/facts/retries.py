"""What became of requests that a fault rejected: how often the controller tried again, and when: a fold over the history.

Attempts are grouped by what they are about: verb, resource, subresource, and the name where the request has one (a create has
none). Whether an attempt is the same work as another cannot be seen, so only the rate of all of a group is told.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from staleproof.checks.facts.recovery_budget import fired, spans
from staleproof.checks.trial import Evidence
from staleproof.core.entry import Answered, Asked, Listed, Opened, Refused
from staleproof.core.fault import Reject
from staleproof.core.request import BOOKKEEPING


class Target(NamedTuple):
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
    """The attempts at a target that one fault rejected, by position; `until` is where the fault closed, or had rejected its last.

    `later` is the first attempt of this verb and resource that came after the last rejected one and was not rejected.
    """

    target: Target
    fault: int
    rejected: list[int] = field(default_factory=list)
    until: int = 0
    later: int | None = None


def rejections(evidence: Evidence, settled: int) -> list[Rejections]:
    """All of a trial, up to the end of its settling phase."""
    found: dict[tuple[Target, int], Rejections] = {}
    others: dict[tuple[str, str], list[int]] = defaultdict(list)
    faults = {number: fault for number, fault in fired(evidence).items() if isinstance(fault, Reject)}
    for index, target, fault in _attempts(evidence, settled):
        if fault in faults and fault is not None:
            found.setdefault((target, fault), Rejections(target, fault)).rejected.append(index)
        else:
            others[target.verb, target.resource].append(index)
    open_for = spans(evidence)
    for (target, number), group in found.items():
        last = group.rejected[-1]
        limited = faults[number].times is not None or number not in open_for
        group.until = last if limited else min(open_for[number][1], settled)
        group.later = next((index for index in others[target.verb, target.resource] if index > last), None)
    return list(found.values())


def _attempts(evidence: Evidence, until: int) -> Iterator[tuple[int, Target, int | None]]:
    """(position, target, fault that answered it) of each request about the trial, bookkeeping aside."""
    entries = evidence.history.entries[:until]
    answers = {entry.request: entry for entry in entries if isinstance(entry, Answered | Listed)}
    for index, entry in enumerate(entries):
        match entry:
            case Asked() if entry.resource not in BOOKKEEPING and _is_mine(entry, evidence):
                answer = answers.get(entry.request)
                target = Target(entry.verb, entry.resource, entry.name, entry.subresource)
                yield index, target, None if answer is None else answer.fault
            case Refused() if entry.resource not in BOOKKEEPING:
                yield index, Target("watch", entry.resource), entry.fault
            case Opened() if entry.resource not in BOOKKEEPING:
                yield index, Target("watch", entry.resource), None


def _is_mine(asked: Asked, evidence: Evidence) -> bool:
    return not asked.dry_run and asked.namespace in ("", evidence.history.header.namespace)
