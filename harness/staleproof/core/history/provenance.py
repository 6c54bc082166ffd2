"""Whose each commit is: the one answer that verdicts and stories share.

A commit is the controller's only if the answer to a write of the controller names it and the write was asked before: by uid and
revision; for the first and for the deletion of an object by the uid alone, because a delete is often answered without a revision.
Evictions and bindings of Pods are answered with a Status that names no object (kubernetes pkg/registry/core/pod/storage,
eviction.go and storage.go): the deletion, or the node, of the Pod of that name is their work when it comes behind them.

A write that changes nothing is answered with an earlier revision, which may be another user's, and may be later than all that was
seen when the write was asked for. The first of the writes that were answered with a revision made it, if it can have: not if it
insists on this very revision; nor if it is to the object, and only the status is another; nor if it is to the status, and the spec
is another. Where the status is a subresource, the object's own endpoint leaves it as it is, and the status's leaves the spec; where
it is none, the generation is raised (apiextensions-apiserver pkg/registry/customresource, strategy.go and status_strategy.go,
PrepareForUpdate; kubernetes pkg/registry/apps/replicaset/strategy.go, and so for other kinds).

Writes whose answer was lost are the controller's own work, too, though it never heard of them (`Commit.heard` is None then).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from staleproof.core.history.entry import Answered, Asked, Committed
from staleproof.core.history.history import Position, Request, is_work
from staleproof.core.history.request import BOOKKEEPING
from staleproof.core.plan.manifest import Manifest

LEADER = "control-plane.alpha.kubernetes.io/leader"
"""The annotation of a ConfigMap or Endpoints that is only there to elect a leader."""
EVICTION, BINDING, STATUS = "eviction", "binding", "status"
_MADE = 201


@dataclass(frozen=True, slots=True)
class Commit:
    """A change that kube-apiserver committed. `before` is the object until then; `by` the controller's request that made it."""

    index: Position
    entry: Committed
    before: Manifest | None = None
    by: Request | None = None

    @property
    def heard(self) -> Request | None:
        """The controller's request that made it, if the controller got an answer that said so."""
        return self.by if self.by is not None and self.by.succeeded else None

    @property
    def generation(self) -> int:
        return int(self.entry.object["metadata"].get("generation", 0))

    @property
    def deletes(self) -> bool:
        """Whether the object is gone after it, or about to go."""
        return self.entry.type == "DELETED" or "deletionTimestamp" in self.entry.object["metadata"]


def commits_of(committed: Iterable[tuple[Position, Committed]], requests: Sequence[Request]) -> list[Commit]:
    """All but bookkeeping, with the requests that made them: resource by resource, each in the order of its revisions."""
    found: dict[str, list[tuple[Position, Committed]]] = defaultdict(list)
    for index, entry in committed:
        if not is_bookkeeping(entry.resource, entry.object):
            found[entry.resource].append((index, entry))
    makers, last = _Makers(requests), dict[str, Manifest]()
    commits = []
    for index, entry in (pair for pairs in found.values() for pair in sorted(pairs, key=lambda pair: pair[1].revision)):
        before = last.get(entry.uid)
        commits.append(Commit(index, entry, before, makers.of(index, entry, before)))
        last[entry.uid] = entry.object
    return commits


class _Makers:
    """Which request made which commit."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._written: dict[tuple[str, int | None], list[Request]] = defaultdict(list)
        self._created: dict[str, Request] = {}
        self._removed: dict[str, Request] = {}
        self._by_name: dict[tuple[str, str], list[Request]] = defaultdict(list)
        self._evicted: dict[str, Request | None] = {}
        self._begun: dict[str, int] = {}
        for request in requests:
            if is_executed(request):
                if request.asked.subresource in (EVICTION, BINDING):
                    self._by_name[request.asked.subresource, request.asked.name].append(request)
                for uid, revision in written(request):
                    self._written[uid, revision].append(request)
                    if is_create(request):
                        self._created[uid] = request
                    elif request.asked.verb in ("delete", "deletecollection"):
                        self._removed.setdefault(uid, request)

    def of(self, index: int, entry: Committed, before: Manifest | None) -> Request | None:
        self._begun.setdefault(entry.uid, index if before is None and entry.type == "ADDED" else -1)
        written = self._written.get((entry.uid, entry.revision), ())
        candidates = [next((each for each in written if _can_have_made(each.asked, entry, before)), None)]
        if before is None:
            candidates.append(self._created.get(entry.uid))
        elif entry.resource == "pods" and _node_of(entry.object) and not _node_of(before):
            candidates.append(self._first_named(BINDING, index, entry))
        if entry.type == "DELETED" or "deletionTimestamp" in entry.object["metadata"]:
            candidates.append(self._removed.get(entry.uid))
            candidates.append(self._evictor(index, entry))
        return next((request for request in candidates if request is not None and request.index < index), None)

    def _evictor(self, index: int, entry: Committed) -> Request | None:
        if entry.resource == "pods" and entry.uid not in self._evicted:
            self._evicted[entry.uid] = self._first_named(EVICTION, index, entry)
        return self._evicted.get(entry.uid)

    def _first_named(self, subresource: str, index: int, entry: Committed) -> Request | None:
        """The first eviction or binding by that name which was asked while this incarnation was there, and before this change."""
        named = self._by_name.get((subresource, entry.name), ())
        return next((each for each in named if self._begun[entry.uid] < each.index < index), None)


def _can_have_made(asked: Asked, entry: Committed, before: Manifest | None) -> bool:
    """Whether a write that was answered with this commit's revision is one that can bring it about."""
    if asked.precondition_revision == str(entry.revision):
        return False
    if before is None or entry.type != "MODIFIED" or asked.verb not in ("update", "patch"):
        return True
    changed = {name for name in before.keys() | entry.object.keys() if before.get(name) != entry.object.get(name)}
    if asked.subresource == STATUS:
        return "spec" not in changed
    return bool(asked.subresource) or "status" not in changed or bool(_changed_besides(changed, before, entry.object))


def _changed_besides(changed: Set[str], before: Manifest, after: Manifest) -> Set[str]:
    """What of an object and its metadata is another besides the status; the resourceVersion always is."""
    metadata, own = before["metadata"], after["metadata"]
    of_metadata = {name for name in metadata.keys() | own.keys() if metadata.get(name) != own.get(name)}
    return (changed - {"status", "metadata"}) | (of_metadata - {"resourceVersion", "managedFields"})


def _node_of(pod: Manifest) -> str:
    spec = pod.get("spec")
    return str(spec.get("nodeName", "")) if isinstance(spec, Mapping) else ""


def is_removal(asked: Asked) -> bool:
    """Whether a request asks for something to be deleted: by a delete, or by the eviction of a pod."""
    return asked.verb in ("delete", "deletecollection") or asked.subresource == EVICTION


def written(request: Request) -> Iterator[tuple[str, int | None]]:
    """(uid, revision) of each object that the answer to a write names."""
    answer = request.answer
    if isinstance(answer, Answered):
        objects = [(answer.uid, answer.revision)] if answer.uid else [(item.uid, item.revision) for item in answer.items]
        yield from (pair for pair in objects if pair[0])


def is_executed(request: Request) -> bool:
    """A write that counts and is known to have been executed, whatever answer the controller got."""
    answer = request.answer
    done = isinstance(answer, Answered) and (answer.outcome == "ok" or answer.executed is True)
    return done and is_work(request.asked)


def is_create(request: Request) -> bool:
    """Whether a write that was executed made the object: a create, or a server-side apply that found nothing there."""
    answer = request.answer
    if request.asked.verb != "patch":
        return request.asked.verb == "create" and not request.asked.subresource
    return isinstance(answer, Answered) and answer.code == _MADE


def is_bookkeeping(resource: str, manifest: Manifest) -> bool:
    """Whether an object is there only for the controller's own running."""
    return resource in BOOKKEEPING or LEADER in (manifest["metadata"].get("annotations") or ())


def uid_of(request: Request) -> str:
    """The object that was written; empty when no answer names it."""
    return request.answer.uid if isinstance(request.answer, Answered) else ""
