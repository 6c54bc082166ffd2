"""Writes of the controller that returned content to an earlier value: path by path, over the commits of each object.

Content is all but metadata and status: those have requirements of their own. Whether anything is wrong with such a write is decided
by the rule that uses this; scaling up and down again is the most natural reason.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.flatten import MISSING, flatten
from staleproof.core.history.provenance import Commit
from staleproof.core.plan.manifest import content_of

_FEWEST = 3
"""Commits that it takes to return a value: one has it, one has another, one has it again."""


@dataclass(frozen=True, slots=True)
class Content:
    """What an object held after a commit, flattened."""

    commit: Commit
    flat: Mapping[str, object]

    def value(self, path: str) -> object:
        return self.flat.get(path, MISSING)


@dataclass(frozen=True, slots=True)
class Revert:
    """`path` had its present value before `overwritten` gave it another one; `content` is where it was returned."""

    child: Incarnation
    path: str
    overwritten: Content
    content: Content

    @property
    def request_index(self) -> int:
        """The position of the request; of the commit, for what another user returned."""
        by = self.content.commit.by
        return self.content.commit.index if by is None else by.index

    @property
    def field(self) -> tuple[Role, str]:
        """The field, as it is called in any run of the workload."""
        return self.child.role, self.path

    @property
    def value(self) -> object:
        return self.content.value(self.path)

    @property
    def turn(self) -> "Turn":
        """The change that it is."""
        before, after = (in_any_run(value, self.child) for value in (self.overwritten.value(self.path), self.value))
        return Turn(self.field, before, after, self.request_index)


class Turn(NamedTuple):
    """That a field was given another value, by any writer; the values as they are called in any run of the workload."""

    field: tuple[Role, str]
    before: str
    after: str
    at: int

    @property
    def change(self) -> tuple[tuple[Role, str], str, str]:
        """The same, whenever it was."""
        return self.field, self.before, self.after


def in_any_run(value: object, of: Incarnation) -> str:
    """A value without the namespace of the run."""
    namespace = of.first.entry.namespace
    return repr(value).replace(namespace, "<namespace>") if namespace else repr(value)


@fact
def turns(trial: Trial) -> Mapping[tuple[Role, str], Sequence[Turn]]:
    """All of them, by field, object by object."""
    found: dict[tuple[Role, str], list[Turn]] = defaultdict(list)
    for child in object_history(trial).objects.values():
        for before, after in pairwise(_contents(child)):
            index = after.commit.by.index if after.commit.by is not None else after.commit.index
            for path in (path for path in before.flat.keys() | after.flat.keys() if before.value(path) != after.value(path)):
                turn = Turn((child.role, path), in_any_run(before.value(path), child), in_any_run(after.value(path), child), index)
                found[turn.field].append(turn)
    return found


@fact
def reverts(trial: Trial) -> Sequence[Revert]:
    """What was returned, by any writer: object by object, each in the order of its commits."""
    return [back for child in object_history(trial).objects.values() for back in _of(child)]


@fact
def own_reverts(trial: Trial) -> Sequence[Revert]:
    """What the controller returned by an update."""
    written = (child for child in object_history(trial).objects.values() if any(map(_is_own_update, child.commits)))
    return [back for child in written for back in _of(child) if _is_own_update(back.content.commit)]


def _is_own_update(commit: Commit) -> bool:
    return commit.by is not None and commit.by.asked.verb in ("update", "patch") and not commit.by.asked.subresource


def _of(child: Incarnation) -> Iterator[Revert]:
    """What was returned in one object."""
    given: dict[str, list[Content]] = defaultdict(list)
    before: Content | None = None
    for content in _contents(child) if len(child.commits) >= _FEWEST else ():
        for path in sorted(content.flat.keys() | (before.flat.keys() if before is not None else ())):
            if before is not None and content.value(path) == before.value(path):
                continue
            values = given[path]
            if before is not None and not values:
                values.append(before)  # it was not set so far
            if any(earlier.value(path) == content.value(path) for earlier in values):
                yield Revert(child, path, values[-1], content)
            values.append(content)
        before = content


def _contents(child: Incarnation) -> Iterator[Content]:
    """What it held after each commit but that of its end."""
    commits = (commit for commit in child.commits if commit.entry.type != "DELETED")
    return (Content(commit, dict(flatten(content_of(commit.entry.object), {}))) for commit in commits)
