"""Which state of each primary a life of the controller had been shown, and on which state it had done its work: a fold.

What a life knows of a primary is the newest revision that it was shown or that an answer to it carried. What it acted on is the
newest that it was *shown*: the lesser of the two, so that a doubt never makes a view look older than the work. One that lists a
past state which a fault had at hand, though it had been shown a newer one, has gone back: from then on that is what it knows.

Two states differ only if what the user wants of the primary differs (everything but metadata and status, and whether it is being
deleted): own status updates and touches make a revision newer, and nobody would do anything else on the older one.
"""

from collections import defaultdict

from staleproof.checks.facts.frontier import Frontier
from staleproof.checks.facts.object_history import Child, is_executed
from staleproof.checks.facts.own_work import uid_of
from staleproof.checks.trial import Evidence
from staleproof.core.entry import Answered, Asked, Committed, Delivered, Entry, Listed, Started
from staleproof.core.history import Request, requests
from staleproof.core.plan import Manifest
from staleproof.core.request import WRITES


class Views:
    """Call `advance` with each entry in order; ask in between.

    `acted_on` has, for each object that the controller created or updated, the newest revision of its primary that it had been
    shown when it asked for that; `answers` where it was told. `wrote` has the same for each commit (uid, revision) of its own.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._primaries = evidence.primaries
        self._namespace = evidence.history.header.namespace
        self._children = evidence.population.children
        self.frontier = Frontier()
        self.acted_on: dict[str, int] = {}
        self.answers: dict[str, int] = {}
        self.wrote: dict[tuple[str, int], int] = {}
        self._told: dict[str, int] = {}
        self._back: dict[str, int] = {}
        self._asked: set[int] = set()
        self._states: dict[str, list[tuple[int, Manifest]]] = defaultdict(list)
        self._writes = {
            request.index: request
            for request in requests(evidence.history.entries)
            if is_executed(request) and request.asked.verb in ("create", "update", "patch")
        }

    def advance(self, index: int, entry: Entry) -> None:
        self.frontier.advance(entry)
        match entry:
            case Started():
                self._told.clear()
                self._back.clear()
            case Listed() if entry.resource in self._primaries:
                self._listed(entry)
            case Delivered() | Answered() if entry.uid in self._back:
                self._back[entry.uid] = max(entry.revision or 0, self._back[entry.uid])
            case Committed() if entry.resource in self._primaries:
                self._states[entry.uid].append((entry.revision, _wanted(entry.object)))
            case Asked() if entry.verb in WRITES:
                self._asked.add(entry.request)
            case Answered() if entry.request in self._asked and entry.outcome == "ok" and entry.uid:
                self._told[entry.uid] = max(entry.revision or 0, self._told.get(entry.uid, 0))
        if index in self._writes:
            self._note(self._writes[index])

    def _listed(self, entry: Listed) -> None:
        for item in entry.items:
            revision = item.revision or 0
            if entry.fault is not None and revision < self.known(item.uid):
                self._back[item.uid] = revision
            elif item.uid in self._back:
                self._back[item.uid] = max(revision, self._back[item.uid])

    def _note(self, request: Request) -> None:
        answer, uid = request.answer, uid_of(request)
        assert isinstance(answer, Answered)
        primary = self.primary_of(uid)
        shown = self._shown(primary.uid if primary is not None else uid)
        self.wrote[uid, answer.revision or 0] = shown
        if primary is not None:
            self.acted_on[uid] = max(shown, self.acted_on.get(uid, 0))
            if request.answer_index is not None:
                self.answers[uid] = request.answer_index

    def known(self, uid: str) -> int:
        """The newest revision that this life had been shown or told; 0 for none."""
        return self._back.get(uid) or max(self.frontier.shown.get(uid, 0), self._told.get(uid, 0))

    def _shown(self, uid: str) -> int:
        return self._back.get(uid) or self.frontier.shown.get(uid, 0)

    def primary_of(self, uid: str) -> Child | None:
        """The primary at the top of an object's owners, if that is where they lead. A primary has none above it."""
        seen: set[str] = set()
        child = self._children.get(uid)
        while child is not None and child.owner_uid and child.uid not in seen:
            seen.add(child.uid)
            child = self._children.get(child.owner_uid)
            if child is not None and child.named.resource in self._primaries:
                return child
        return None

    def is_old(self, primary: Child) -> bool:
        """Whether this life has a view of the primary at all: it is there, was not there yet, or was another of that name."""
        resource, name = primary.named.resource, primary.named.name
        if self.known(primary.uid):
            return True
        frontier = self.frontier
        listed = frontier.has_listed(resource, self._namespace, 0)
        return bool(frontier.present(resource, self._namespace, name)) or (
            listed and not frontier.has_listed(resource, self._namespace, primary.create_revision)
        )

    def is_behind(self, uid: str, primary: Child) -> bool:
        """Whether this object was made, or changed, on a later state of the primary than this life knows."""
        known, acted = self.known(primary.uid), self.acted_on.get(uid, 0)
        return acted > known and self.is_old(primary) and self.state(primary.uid, known) != self.state(primary.uid, acted)

    def has_newer(self, uid: str) -> bool:
        """Whether a primary that is known by now wants something else than what this life knows."""
        known, states = self.known(uid), self._states.get(uid, [])
        return bool(known and states) and self.state(uid, known) != states[-1][1]

    def state(self, uid: str, revision: int) -> Manifest | None:
        """What was wanted of a primary at a revision; None: it was not there yet."""
        states = [wanted for committed, wanted in self._states.get(uid, ()) if committed <= revision]
        return states[-1] if states else None


def _wanted(obj: Manifest) -> Manifest:
    content = {key: value for key, value in obj.items() if key not in ("metadata", "status", "apiVersion", "kind")}
    return content | {"deletionTimestamp": "deletionTimestamp" in obj["metadata"]}
