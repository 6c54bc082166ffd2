"""Writes by which the controller took back what another user had changed, path by path; and what it knew of that change.

What the controller itself had set before in that object, or in one of its name, is its own: to set it again, seen or not, is to
keep it as it should be; unless it leaves that to others once they have changed it, and shows so (`left_to_others`). Paths are those
of the content, the status, and of labels, annotations, finalizers and owner references.

Finalizers and owner references belong to many, so each of them is a value of its own, wherever it stands. Any other list is one
value: the owner of some of it may own all of it, and build it anew.

Divergence from Kubernetes: a field's owner follows from the changes to it, not from `managedFields`, which say the same of a PUT.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import view
from staleproof.checks.view.timeline import Timeline
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import Competed
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import Commit, uid_of
from staleproof.core.plan.manifest import Manifest

_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_SHARED = ("metadata.finalizers", "metadata.ownerReferences")
"""Lists to which several writers add items."""
_NO_CONTENT = ("metadata", "status")


_Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class Overwrite:
    """A path by which an own write took back what another user had committed (`theirs`)."""

    of: Incarnation
    path: str
    theirs: Commit
    ours: Commit
    request: Request

    @property
    def field(self) -> tuple[Role, str]:
        """The path, or the list that it is an item of, as it is called in any run of the workload."""
        return self.of.role, next((each for each in _SHARED if self.path.startswith(f"{each}[")), self.path)


@dataclass(slots=True)
class _Object:
    """What is known of an object, commit by commit: what the controller has set in any object of this name; by path the
    changes of other users since it last set that, each with what was before."""

    own: set[str]
    foreign: dict[str, list[tuple[object, Commit]]] = field(default_factory=lambda: defaultdict(list))

    def take(self, commit: Commit, before: _Values, after: _Values) -> Iterator[tuple[str, Commit]]:
        """The paths that the controller sets back by this commit, each with the change by another user."""
        for path in sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path)):
            if commit.by is not None:
                changes = reversed(self.foreign.pop(path, []))
                theirs = next((change for was, change in changes if was == after.get(path)), None)
                if theirs is None:
                    self.own.add(path)
                else:
                    yield path, theirs
            elif path not in self.own and _is_foreign(commit):
                self.foreign[path].append((before.get(path), commit))


@fact
def overwrites(trial: Trial) -> list[Overwrite]:
    """Of changes by another user, shown or not."""
    by_name = grouped(((of.resource, of.name), of) for of in object_history(trial).objects.values())
    changed = (every for every in by_name.values() if any(_is_foreign(commit) for of in every for commit in of.commits))
    return [loss for incarnations in changed for loss in _overwritten_in(trial, incarnations)]


def _overwritten_in(trial: Trial, incarnations: Sequence[Incarnation]) -> Iterator[Overwrite]:
    """In the incarnations of a name. To have taken back what was shown is to have set it."""
    own = set[str]()
    for of in incarnations:
        known, before = _Object(own), _Values()
        for commit in of.commits:
            after = _values(commit.entry.object)
            for path, theirs in known.take(commit, before, after):
                if commit.by is not None and not commit.deletes:
                    loss = Overwrite(of, path, theirs, commit, commit.by)
                    own |= {path} if knows_change(trial, of, theirs, commit.by) else set()
                    yield loss
            before = after


@fact
def rewritten(trial: Trial) -> list[Overwrite]:
    """Content that it had set itself, and another user had changed, and to which it gave the value from before that change."""
    return [turn for turn, is_kept in _turns(trial) if not is_kept]


@fact
def left_to_others(run: Trial) -> Set[tuple[Role, str]]:
    """The fields that it had set itself, another user then changed, and it kept so when it next wrote to the object; but none
    that it ever took back."""
    kept = {turn.field for turn, is_kept in _turns(run) if is_kept}
    return kept - {turn.field for turn, is_kept in _turns(run) if not is_kept}


@fact
def _turns(trial: Trial) -> list[tuple[Overwrite, bool]]:
    """Each change by another user to content that the controller had set, with its next write to that object, and whether that kept
    the change; none where it gave it a third value."""
    return [turn for of in object_history(trial).objects.values() if of.creator is not None for turn in _turns_of(of)]


def _turns_of(of: Incarnation) -> Iterator[tuple[Overwrite, bool]]:
    own, theirs, before = set[str](), dict[str, tuple[object, Commit]](), _Values()
    for commit in of.commits:
        after = {path: value for path, value in _values(commit.entry.object).items() if not path.startswith(_NO_CONTENT)}
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        if commit.by is not None and not commit.deletes and not commit.by.asked.subresource:
            for path, (was, change) in theirs.items():
                if path not in changed or after.get(path) == was:
                    yield Overwrite(of, path, change, commit, commit.by), path not in changed
            theirs.clear()
            own |= changed
        elif _is_foreign(commit):
            for path in changed & own:
                theirs.setdefault(path, (before.get(path), commit))
        before = after


def knows_change(trial: Trial, of: Incarnation, change: Commit, request: Request) -> bool:
    """Whether this life knew the object as it was then, or later, when it sent the request: from what it was shown, or
    from an own write's answer."""
    return view(trial, request.index).of(of.uid).revision >= change.entry.revision


def blind_puts(trial: Trial) -> Iterator[tuple[Request, Competed]]:
    """Whole objects that were put though another user had written to them since they were sent, each with that write."""
    for _, entry in trial.every(Competed):
        request = None if entry.executed else trial.request_of.get(entry.request)
        is_put = request is not None and request.asked.verb == "update" and not request.asked.subresource
        if request is not None and is_put and request.succeeded and entry.revision and uid_of(request) == entry.uid:
            yield request, entry


@fact
def changes_by_others(trial: Trial) -> Timeline[str, Commit | None]:
    """By uid, the last change by another user that was recorded."""
    found: Timeline[str, Commit | None] = Timeline(None)
    for commit in sorted(filter(_is_foreign, trial.commits), key=lambda each: each.index):
        found.note(commit.index, commit.entry.uid, commit)
    return found


def _is_foreign(commit: Commit) -> bool:
    """Whether another user changed, or ended, an object that was there."""
    return commit.by is None and commit.before is not None


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # JSON
    """Paths that maps lead to. What is null is not set."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif value is not None:
        yield path, value


def _values(obj: Manifest) -> _Values:
    found, metadata = _Values(), obj.get("metadata", {})
    content = {key: value for key, value in obj.items() if key not in ("metadata", "apiVersion", "kind")}
    for path, value in _leaves({**content, "metadata": {key: metadata[key] for key in _METADATA if key in metadata}}):
        if path not in _SHARED:
            found[path] = value
            continue
        for item in value:
            found[f"{path}[{item.get('uid') if isinstance(item, dict) else item}]"] = item
    return found
