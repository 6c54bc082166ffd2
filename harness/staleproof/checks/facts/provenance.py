"""Every incarnation's commits in the order of their revisions, and which of them are the controller's.

A commit is the controller's only if an answer says so by uid and revision, and if it came after the request was asked: a write that
changes nothing is answered with the revision of an earlier change, which may be somebody else's. A write whose answer was lost is
nobody's here: the controller cannot know of it, and a doubt must never become an accusation.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from staleproof.checks.facts.object_history import is_bookkeeping
from staleproof.checks.facts.roles import owner_labels
from staleproof.core.entry import Answered, Committed, Entry
from staleproof.core.history import History, Request, is_work, requests
from staleproof.core.plan import Manifest

BEYOND = 2**63 - 1
"""More than any generation: for what was shown at a revision that we have no commit of."""


@dataclass(frozen=True, slots=True)
class Change:
    """One commit. `before` is the object until then; `by` the controller's request that made it, None if it was somebody else's."""

    index: int
    commit: Committed
    before: Manifest | None = None
    by: Request | None = None

    @property
    def generation(self) -> int:
        return int(self.commit.object["metadata"].get("generation", 0))


@dataclass(frozen=True, slots=True)
class Incarnation:
    """One object by its uid. `label` is what roles call it as an owner: `Widget/w`, with `#2` for a second incarnation."""

    label: str
    changes: Sequence[Change]

    @property
    def first(self) -> Change:
        return self.changes[0]

    @property
    def last(self) -> Change:
        return self.changes[-1]

    @property
    def uid(self) -> str:
        return self.first.commit.uid

    @property
    def resource(self) -> str:
        return self.first.commit.resource

    def generation_at(self, revision: int) -> int:
        """The newest generation that whoever was shown this revision can have seen."""
        return next((change.generation for change in self.changes if change.commit.revision >= revision), BEYOND)

    def reaching(self, generation: int) -> Change | None:
        """The commit that brought this generation."""
        return next((change for change in self.changes if change.generation >= generation), None)


def incarnations(history: History) -> dict[str, Incarnation]:
    """By uid: everything in the trial's namespace but bookkeeping."""
    by_uid = defaultdict(list)
    for index, commit in _commits(history):
        by_uid[commit.uid].append((index, commit))
    labels = owner_labels(commit.object for commits in by_uid.values() for _, commit in commits)
    own = _own(history.entries)
    return {uid: Incarnation(labels[uid], list(_changes(commits, own))) for uid, commits in by_uid.items()}


def _commits(history: History) -> list[tuple[int, Committed]]:
    namespace = history.header.namespace
    found = [
        (index, entry)
        for index, entry in enumerate(history.entries)
        if isinstance(entry, Committed) and entry.namespace == namespace and not is_bookkeeping(entry.resource, entry.object)
    ]
    return sorted(found, key=lambda pair: (pair[1].resource, pair[1].revision))


def _changes(commits: Iterable[tuple[int, Committed]], own: dict[tuple[str, int], Request]) -> Iterable[Change]:
    before: Manifest | None = None
    for index, commit in commits:
        by = own.get((commit.uid, commit.revision))
        yield Change(index, commit, before, by if by is not None and by.index < index else None)
        before = commit.object


def _own(entries: Sequence[Entry]) -> dict[tuple[str, int], Request]:
    """The first request that was answered with this revision: those after it changed nothing."""
    found: dict[tuple[str, int], Request] = {}
    for request in requests(entries):
        answer = request.answer
        if is_work(request.asked) and request.succeeded and isinstance(answer, Answered) and answer.revision is not None:
            found.setdefault((answer.uid, answer.revision), request)
    return found
