"""Writes of the controller that returned content to an earlier value: path by path, over the commits of each object.

Content is all but metadata and status: those have requirements of their own. Whether anything is wrong with such a write is decided
by who uses this; scaling up and down again is the most natural reason. What any reference returned, too, is left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from staleproof.checks.facts.flatten import flatten
from staleproof.checks.facts.object_history import Child, Population, is_executed
from staleproof.checks.facts.own_work import uid_of
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Evidence
from staleproof.core.entry import Answered, Committed
from staleproof.core.history import History, Request, requests

_NOT_CONTENT = ("metadata", "status", "apiVersion", "kind")
_MISSING = "<not set>"


@dataclass(frozen=True, slots=True)
class State:
    """The content of an object after the commit at this position."""

    index: int
    revision: int
    flat: Mapping[str, object]

    def value(self, path: str) -> object:
        return self.flat.get(path, _MISSING)


@dataclass(frozen=True, slots=True)
class WrittenBack:
    """`path` had its present value before `overwritten` gave it another one; `commit` is where it was returned."""

    child: Child
    request: Request
    path: str
    overwritten: State
    commit: State

    @property
    def value(self) -> object:
        return self.commit.value(self.path)


def written_back(evidence: Evidence) -> dict[int, WrittenBack]:
    """By the position of the request: the first path that it returned."""
    usual = {pair for h, made in zip(evidence.references, evidence.reference_populations, strict=True) for pair in _usual(h, made)}
    own = _own_updates(evidence.history)
    found: dict[int, WrittenBack] = {}
    for uid, states in _states(evidence.history, {uid for uid, _ in own}).items():
        child = evidence.population.children.get(uid)
        for path, overwritten, commit in _returns(states):
            request = own.get((uid, commit.revision))
            if child is not None and request is not None and (child.role, path) not in usual:
                found.setdefault(request.index, WrittenBack(child, request, path, overwritten, commit))
    return found


def _usual(history: History, made: Population) -> Iterator[tuple[Role, str]]:
    """What was returned in a reference, by whomever."""
    for uid, states in _states(history, set(made.children)).items():
        yield from ((made.children[uid].role, path) for path, _, _ in _returns(states))


def _own_updates(history: History) -> dict[tuple[str, int], Request]:
    """The controller's updates by what they committed. A write that changed nothing is answered with somebody else's commit."""
    found: dict[tuple[str, int], Request] = {}
    for request in requests(history.entries):
        answer = request.answer
        if is_executed(request) and request.asked.verb in ("update", "patch") and isinstance(answer, Answered) and answer.revision:
            found[uid_of(request), answer.revision] = request
    return found


def _states(history: History, uids: set[str]) -> dict[str, list[State]]:
    found: dict[str, list[State]] = defaultdict(list)
    for index, entry in enumerate(history.entries):
        if isinstance(entry, Committed) and entry.type != "DELETED" and entry.uid in uids:
            content = {key: value for key, value in entry.object.items() if key not in _NOT_CONTENT}
            found[entry.uid].append(State(index, entry.revision, dict(flatten(content, {}))))
    return {uid: sorted(states, key=lambda state: state.revision) for uid, states in found.items()}


def _returns(states: Sequence[State]) -> Iterator[tuple[str, State, State]]:
    """(path, the commit that had given it another value, the commit that returned it)."""
    given: dict[str, list[State]] = defaultdict(list)
    before: State | None = None
    for state in states:
        for path in sorted(state.flat.keys() | (before.flat.keys() if before is not None else ())):
            if before is not None and state.value(path) == before.value(path):
                continue
            values = given[path]
            if before is not None and not values:
                values.append(before)  # it was not set so far
            if any(earlier.value(path) == state.value(path) for earlier in values):
                yield path, values[-1], state
            values.append(state)
        before = state
