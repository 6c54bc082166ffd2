"""Which creates and deletes were the controller's own, those included that it never heard the end of, and in which of its lives.

A write whose answer was lost has an unknown outcome for the controller and a known one for us: the recorded answer says that it was
executed, and has the uid. A write whose answer nobody knows (a connection that broke by itself) is left out.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from staleproof.checks.facts.object_history import is_executed
from staleproof.checks.trial import Evidence
from staleproof.core.entry import Answered, Entry, Started
from staleproof.core.fault import Kill
from staleproof.core.history import History, Request, requests


@dataclass(frozen=True, slots=True)
class OwnWork:
    """By uid, the request that created, or deleted, an object. `lost` has, by position, those whose answer was lost."""

    creates: Mapping[str, Request]
    deletes: Mapping[str, Request]
    lost: Mapping[int, Request]


class Lives:
    """The lives of the controller's process, numbered from 0."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.starts = [index for index, entry in enumerate(entries) if isinstance(entry, Started)]

    def at(self, index: int) -> int:
        """Which life this position belongs to."""
        return max(0, bisect_right(self.starts, index) - 1)

    def began(self, index: int) -> int:
        """Where the life that this position belongs to began."""
        return self.starts[self.at(index)] if self.starts else 0


def own_work(evidence: Evidence) -> OwnWork:
    """Of the trial."""
    children = evidence.population.children.values()
    done = [request for request in requests(evidence.history.entries) if is_executed(request)]
    return OwnWork(
        creates={child.uid: child.creator for child in children if child.creator is not None},
        deletes={child.uid: child.deleter for child in children if child.deleter is not None},
        lost={request.index: request for request in done if _is_lost(request, evidence.history)},
    )


def uid_of(request: Request) -> str:
    """The object that was written."""
    return request.answer.uid if isinstance(request.answer, Answered) else ""


def _is_lost(request: Request, history: History) -> bool:
    """Whether the life that asked never heard, and went on: when it was killed over it, nobody was left to hear."""
    answer = request.answer
    assert isinstance(answer, Answered)
    killed = answer.fault is not None and isinstance(history.header.plan.faults[answer.fault], Kill)
    return answer.outcome == "unknown" and not killed
