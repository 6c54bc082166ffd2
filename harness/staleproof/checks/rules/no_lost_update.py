"""no-lost-update: not write back what somebody else has changed and was not shown.

Any of these is a finding:

1. an update or a patch by which a path of the object has again the value that it had before somebody else changed it, though that
   change had not been shown to the controller, nor told by the answer to an own write. It makes no difference how: by PUT without
   resourceVersion, by a PATCH of the whole object, or by an apply with force;
2. a PUT of the whole object that was carried out though somebody else had written to it after the controller sent it
   (`Competed`): so it insisted on no resourceVersion, and whatever the other one had changed is gone. A fault may change something
   without a trace (`core.nudge`), and then no path tells of it.

What the controller itself had set before in that object, or in one of its name, is its own: to set it again, seen or not, is to
keep it as it should be. So is what any reference wrote back, too, shown or not: that is its policy, and no staleness brought it
about. Paths are those of the content, the status, and of labels, annotations, finalizers and owner references.

Finalizers and owner references belong to many, so each of them is a value of its own, wherever it stands. Any other list is one
value: who owns some of it may own it all, and build it anew. Of lists that a reference wrote back, no item is looked at.

Divergence from Kubernetes: whose a field is follows from who has changed it, not from `managedFields`, which say the same of a PUT.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from staleproof.checks.facts.frontier import frontier
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.roles import Role
from staleproof.checks.facts.timeline import Timeline
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name
from staleproof.checks.requirement import HIDDEN, Requirement
from staleproof.checks.trial import Trial, fact
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.core.entry import Answered, Competed, Started
from staleproof.core.history import Request
from staleproof.core.manifest import Manifest
from staleproof.core.provenance import Commit, uid_of

_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_SHARED = ("metadata.finalizers", "metadata.ownerReferences")
"""Lists that belong to nobody alone."""


_Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class _Loss:
    """A path by which an own write took back what somebody else had committed (`theirs`)."""

    of: Incarnation
    path: str
    theirs: Commit
    ours: Commit
    request: Request

    @property
    def field(self) -> str:
        """The path, or the list that it is an item of."""
        return next((each for each in _SHARED if self.path.startswith(f"{each}[")), self.path)


@dataclass(slots=True)
class _Object:
    """What is known of an object, commit by commit: what the controller has set in any object of this name; by path the changes by
    others since it last set that, each with what was before."""

    own: set[str]
    foreign: dict[str, list[tuple[object, Commit]]] = field(default_factory=lambda: defaultdict(list))

    def take(self, commit: Commit, before: _Values, after: _Values) -> Iterator[tuple[str, Commit]]:
        """The paths that the controller sets back by this commit, each with the change by somebody else."""
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


def check(trial: Trial) -> Iterator[Said]:
    lost = [loss for loss in _losses(trial) if (loss.of.role, loss.field) not in _usual(trial)]
    found = {request.index: _replaced(trial, request, entry) for request, entry in _blind_puts(trial)}
    found |= {loss.request.index: _finding(trial, loss) for loss in reversed(lost)}
    yield from (found[index] for index in sorted(found))
    if not any(_is_tempted(trial, request) for request in trial.work):
        yield NotExercised("the controller never wrote to an object that somebody else had changed unseen")


def _blind_puts(trial: Trial) -> Iterator[tuple[Request, Competed]]:
    """Those that were carried out, each with the write that had come before it."""
    for _, entry in trial.every(Competed):
        request = trial.request_of.get(entry.request)
        is_put = request is not None and request.asked.verb == "update" and not request.asked.subresource
        if request is not None and is_put and request.succeeded and entry.revision and uid_of(request) == entry.uid:
            yield request, entry


def _replaced(trial: Trial, request: Request, entry: Competed) -> Finding:
    of = object_history(trial).objects.get(entry.uid)
    name = full_name(of.first.entry) if of is not None else f"{entry.resource}/{entry.name}"
    because = f"the controller replaced {name} whole though somebody else had changed it, and so took that change away"
    though = f"though it had not been shown that change (resourceVersion {entry.revision})"
    return Finding(because, context(trial, [], request.index, request.answer_index or request.index), though)


@fact
def _usual(trial: Trial) -> Set[tuple[Role, str]]:
    """What any reference wrote back, shown or not."""
    return {(loss.of.role, loss.field) for reference in trial.references for loss in _reverted(reference)}


def _losses(trial: Trial) -> list[_Loss]:
    """Of changes that had not been shown."""
    return [loss for loss in _reverted(trial) if not _is_shown(trial, loss.of, loss.theirs, loss.request)]


@fact
def _reverted(trial: Trial) -> list[_Loss]:
    """Of changes by somebody else, shown or not."""
    by_name: dict[tuple[str, str], list[Incarnation]] = defaultdict(list)
    for of in object_history(trial).objects.values():
        by_name[of.resource, of.name].append(of)
    changed = (incarnations for incarnations in by_name.values() if _is_changed(incarnations))
    return [loss for incarnations in changed for loss in _reverted_in(trial, incarnations)]


def _is_changed(incarnations: Sequence[Incarnation]) -> bool:
    """Whether somebody else changed any of them."""
    return any(_is_foreign(commit) for of in incarnations for commit in of.commits)


def _reverted_in(trial: Trial, incarnations: Sequence[Incarnation]) -> Iterator[_Loss]:
    """In the incarnations of a name. To have taken back what was shown is to have set it."""
    own = set[str]()
    for of in incarnations:
        known, before = _Object(own), _Values()
        for commit in of.commits:
            after = _values(commit.entry.object)
            for path, theirs in known.take(commit, before, after):
                if commit.by is not None and not commit.deletes:
                    loss = _Loss(of, path, theirs, commit, commit.by)
                    own |= {path} if _is_shown(trial, of, theirs, commit.by) else set()
                    yield loss
            before = after


def _is_shown(trial: Trial, of: Incarnation, change: Commit, request: Request) -> bool:
    """Whether this life knew the object as it was then, or later, when it asked: by what it was shown, or an own write's answer."""
    shown = frontier(trial).shown(of.uid, before=request.index) or 0
    return max(shown, _told(trial).before(request.index, of.uid)) >= change.entry.revision


@fact
def _told(trial: Trial) -> Timeline[str, int]:
    """By uid, the newest revision that an answer told the controller of."""
    told: Timeline[str, int] = Timeline(0)
    for index, entry in enumerate(trial.entries):
        if isinstance(entry, Started):
            told.forget(index)
        elif isinstance(entry, Answered) and entry.outcome == "ok" and entry.uid:
            told.note(index, entry.uid, max(entry.revision or 0, told.now(entry.uid)))
    return told


@fact
def _foreign(trial: Trial) -> Timeline[str, Commit | None]:
    """By uid, the last change by somebody else that was recorded."""
    found: Timeline[str, Commit | None] = Timeline(None)
    for commit in sorted(filter(_is_foreign, trial.commits), key=lambda each: each.index):
        found.note(commit.index, commit.entry.uid, commit)
    return found


def _is_foreign(commit: Commit) -> bool:
    """Whether somebody else changed, or ended, an object that was there."""
    return commit.by is None and commit.before is not None


def _is_tempted(trial: Trial, request: Request) -> bool:
    """Whether it asked to update or patch an object that somebody else had changed by then, or just before the answer, unseen."""
    asked = request.asked
    if asked.verb not in ("update", "patch") or asked.namespace != trial.namespace:
        return False
    until = request.answer_index or request.index
    named = object_history(trial).named(asked.resource, asked.name)
    changes = ((of, _foreign(trial).before(until, of.uid)) for of in named)
    return any(change is not None and not _is_shown(trial, of, change, request) for of, change in changes)


def _finding(trial: Trial, loss: _Loss) -> Finding:
    name, revision = full_name(loss.of.first.entry), loss.theirs.entry.revision
    because = f"the controller wrote back {loss.path} of {name}, which somebody else had changed"
    though = f"though it had not been shown that change (resourceVersion {revision})"
    return Finding(because, context(trial, [loss.theirs.index], loss.request.index, loss.ours.index), though)


def _content(obj: Manifest) -> Manifest:
    metadata = obj.get("metadata", {})
    content = {key: value for key, value in obj.items() if key not in ("metadata", "apiVersion", "kind")}
    return {**content, "metadata": {key: metadata[key] for key in _METADATA if key in metadata}}


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # JSON
    """Paths that maps lead to. What is null is not set."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif value is not None:
        yield path, value


def _values(obj: Manifest) -> _Values:
    found = _Values()
    for path, value in _leaves(_content(obj)):
        if path not in _SHARED:
            found[path] = value
            continue
        for item in value:
            found[f"{path}[{item.get('uid') if isinstance(item, dict) else item}]"] = item
    return found


REQUIREMENT = Requirement(
    slug="no-lost-update",
    must="The controller MUST not write back what somebody else has changed and it has not been shown.",
    level="core",
    source="API conventions, Concurrency Control and Consistency; API concepts, Resource versions",
    faults=("Compete", *HIDDEN),
    remedy="send the resourceVersion that the decision was made on with every PUT, patch only what is yours, and apply by force "
    "only fields that you own",
    kind="deed",
    wrong="another's change written back",
    reasons=("hidden",),
    check=check,
)
