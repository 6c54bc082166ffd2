"""What the controller had been shown, at every moment: a fold over the history.

Shown = frames delivered, items of LIST answers, GET answers. Known = shown, or told by the answer to an own write (a create's
answer carries the new uid). Both belong to one life of the process. When in doubt we say "shown": a doubt must never become an
accusation.

Divergence from Kubernetes: a frame counts as shown when it left the proxy, a little before the controller has really taken it in; a
list without an object counts as having shown that it is gone, whatever its selector.
"""

from dataclasses import dataclass, field

from staleproof.core.entry import Answered, Asked, Closed, Delivered, Entry, Item, Listed, Opened, Started

_Name = tuple[str, str, str]


@dataclass(slots=True)
class Frontier:
    """Call `advance` with each entry in order; ask in between. Objects are told apart by uid: an incarnation of a name."""

    shown: dict[str, int] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    newest: dict[str, int] = field(default_factory=dict)
    _streams: dict[int, Opened] = field(default_factory=dict)
    _bursts: dict[int, set[str]] = field(default_factory=dict)
    _uids: dict[str, dict[_Name, str]] = field(default_factory=dict)
    _asked: dict[int, Asked] = field(default_factory=dict)

    def advance(self, entry: Entry) -> None:
        match entry:
            case Started():
                self._forget()
            case Opened():
                self._streams[entry.stream] = entry
                if not entry.start or entry.start == "0" or entry.watch_list:
                    self._bursts[entry.stream] = set()
                if entry.since is not None:
                    self._reach(entry.resource, entry.since)
            case Closed():
                self._bursts.pop(entry.stream, None)
            case Delivered():
                self._delivered(entry)
            case Listed():
                self._listed(entry)
            case Asked():
                self._asked[entry.request] = entry
            case Answered():
                self._answered(entry)

    def has_seen(self, uid: str, revision: int) -> bool:
        """Whether this incarnation was shown at or after the revision, or shown to be gone."""
        return uid in self.gone or self.shown.get(uid, -1) >= revision

    def _forget(self) -> None:
        self.shown.clear()
        self.known.clear()
        self.gone.clear()
        self.newest.clear()
        self._uids.clear()
        self._bursts.clear()

    def _delivered(self, entry: Delivered) -> None:
        stream = self._streams.get(entry.stream)
        if stream is None:
            return
        if entry.revision is not None:
            self._reach(stream.resource, entry.revision)
        burst = self._bursts.get(entry.stream)
        if entry.initial_end:
            self._only(stream.resource, stream.namespace, self._bursts.pop(entry.stream, set()))
        elif entry.uid:
            self._show(stream.resource, Item(entry.namespace, entry.name, entry.uid, entry.revision))
            if burst is not None:
                burst.add(entry.uid)
            if entry.type == "DELETED":
                self.gone.add(entry.uid)

    def _listed(self, entry: Listed) -> None:
        if entry.revision is not None:
            self._reach(entry.resource, entry.revision)
        for item in entry.items:
            self._show(entry.resource, item)
        if not entry.more:
            self._only(entry.resource, entry.namespace, {item.uid for item in entry.items})

    def _answered(self, entry: Answered) -> None:
        asked = self._asked.get(entry.request)
        if asked is None:
            return
        if entry.outcome == "ok" and entry.uid and not asked.subresource:
            self.known.add(entry.uid)
            if asked.verb == "get":
                self._show(asked.resource, Item(entry.namespace, entry.name, entry.uid, entry.revision))
        elif asked.verb == "get" and entry.code == 404:
            uid = self._uids.get(asked.resource, {}).get((asked.resource, asked.namespace, asked.name))
            if uid is not None:
                self.gone.add(uid)

    def _show(self, resource: str, item: Item) -> None:
        self.known.add(item.uid)
        self.shown[item.uid] = max(item.revision or 0, self.shown.get(item.uid, 0))
        self._uids.setdefault(resource, {})[resource, item.namespace, item.name] = item.uid

    def _only(self, resource: str, namespace: str, uids: set[str]) -> None:
        """The controller was shown a whole collection: what it knew there and is not in it is gone."""
        for (_, where, _), uid in self._uids.get(resource, {}).items():
            if uid not in uids and namespace in ("", where):
                self.gone.add(uid)

    def _reach(self, resource: str, revision: int) -> None:
        self.newest[resource] = max(revision, self.newest.get(resource, 0))
