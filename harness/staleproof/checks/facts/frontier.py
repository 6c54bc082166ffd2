"""What the controller had been shown, at every moment: a fold over the history.

Shown = frames delivered, items of LIST answers, GET answers. Known = shown, or told by the answer to an own write (a create's
answer carries the new uid). Both belong to one life of the process. When in doubt we say "shown": a doubt must never become an
accusation.

Divergence from Kubernetes: a frame counts as shown when it left the proxy, a little before the controller has really taken it in; a
list without an object counts as having shown that it is gone, whatever its selector; another object under its name does, too.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from staleproof.core.entry import Answered, Asked, Closed, Delivered, Entry, Item, Listed, Opened, Started

_Place = tuple[str, str]
"""resource, namespace"""


@dataclass(slots=True)
class Frontier:
    """Call `advance` with each entry in order; ask in between. Objects are told apart by uid: an incarnation of a name.

    Attributes:
        shown: uid to the newest revision shown.
        known: uids shown or told.
        gone: uids shown to be gone.
        newest: resource to the newest revision that any of its streams or lists has reached.
    """

    shown: dict[str, int] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    newest: dict[str, int] = field(default_factory=dict)
    _streams: dict[int, Opened] = field(default_factory=dict)
    _bursts: dict[int, set[str]] = field(default_factory=dict)
    _pages: dict[tuple[str, str, str, str], set[str]] = field(default_factory=dict)
    _present: dict[_Place, dict[str, str]] = field(default_factory=dict)
    _whole: dict[_Place, int] = field(default_factory=dict)
    _asked: dict[int, Asked] = field(default_factory=dict)

    def advance(self, entry: Entry) -> None:
        step = _STEPS.get(type(entry))
        if step is not None:
            step(self, entry)

    def has_seen(self, uid: str, revision: int) -> bool:
        """Whether this incarnation was shown at or after the revision, or shown to be gone."""
        return uid in self.gone or self.shown.get(uid, -1) >= revision

    def has_listed(self, resource: str, namespace: str, revision: int) -> bool:
        """Whether a whole list was shown that is at least as new as the revision: what is not in it is gone."""
        return max(self._whole.get((resource, ""), -1), self._whole.get((resource, namespace), -1)) >= revision

    def present(self, resource: str, namespace: str, name: str) -> str:
        """The uid of the incarnation that the controller believes to be there; empty when it knows of none."""
        return self._present.get((resource, namespace), {}).get(name, "")

    def _started(self, entry: Started) -> None:
        """A new life knows nothing."""
        for memory in (self.shown, self.known, self.gone, self.newest, self._bursts, self._pages, self._present, self._whole):
            memory.clear()

    def _opened(self, entry: Opened) -> None:
        self._streams[entry.stream] = entry
        if entry.watch_list:
            self._bursts[entry.stream] = set()
        if entry.since is not None:
            self._reach(entry.resource, entry.since)

    def _closed(self, entry: Closed) -> None:
        self._bursts.pop(entry.stream, None)

    def _delivered(self, entry: Delivered) -> None:
        stream = self._streams.get(entry.stream)
        if stream is None:
            return
        if entry.revision is not None:
            self._reach(stream.resource, entry.revision)
        if entry.initial_end:
            self._only(stream.resource, stream.namespace, self._bursts.pop(entry.stream, set()), entry.revision)
        elif entry.uid:
            self._show(stream.resource, Item(entry.namespace, entry.name, entry.uid, entry.revision))
            if entry.stream in self._bursts:
                self._bursts[entry.stream].add(entry.uid)
            if entry.type == "DELETED":
                self._lose(stream.resource, entry.namespace, entry.name, entry.uid)

    def _listed(self, entry: Listed) -> None:
        if entry.revision is not None:
            self._reach(entry.resource, entry.revision)
        for item in entry.items:
            self._show(entry.resource, item)
        collection = (entry.client, entry.resource, entry.namespace, entry.selector)
        uids = self._pages.pop(collection, set()) | {item.uid for item in entry.items}
        if entry.more:
            self._pages[collection] = uids
        else:
            self._only(entry.resource, entry.namespace, uids, entry.revision)

    def _ask(self, entry: Asked) -> None:
        self._asked[entry.request] = entry

    def _answered(self, entry: Answered) -> None:
        asked = self._asked.pop(entry.request, None)
        if asked is None:
            return
        if entry.outcome == "ok" and entry.uid:
            self.known.add(entry.uid)
            if asked.verb == "get":
                self._show(asked.resource, Item(entry.namespace, entry.name, entry.uid, entry.revision))
        elif asked.verb == "get" and entry.code == 404 and not asked.subresource:
            uid = self.present(asked.resource, asked.namespace, asked.name)
            if uid:
                self._lose(asked.resource, asked.namespace, asked.name, uid)

    def _show(self, resource: str, item: Item) -> None:
        self.known.add(item.uid)
        self.shown[item.uid] = max(item.revision or 0, self.shown.get(item.uid, 0))
        names = self._present.setdefault((resource, item.namespace), {})
        before = names.get(item.name)
        if before is not None and before != item.uid:
            self.gone.add(before)
        names[item.name] = item.uid

    def _lose(self, resource: str, namespace: str, name: str, uid: str) -> None:
        self.gone.add(uid)
        names = self._present.get((resource, namespace), {})
        if names.get(name) == uid:
            del names[name]

    def _only(self, resource: str, namespace: str, uids: set[str], revision: int | None) -> None:
        """The controller was shown a whole collection: what it knew there and is not in it is gone."""
        if revision is not None:
            self._whole[resource, namespace] = max(revision, self._whole.get((resource, namespace), 0))
        places = [(resource, namespace)] if namespace else [place for place in self._present if place[0] == resource]
        for place in places:
            names = self._present.get(place, {})
            for name, uid in [pair for pair in names.items() if pair[1] not in uids]:
                self._lose(resource, place[1], name, uid)

    def _reach(self, resource: str, revision: int) -> None:
        self.newest[resource] = max(revision, self.newest.get(resource, 0))


_STEPS: dict[type, Callable[[Frontier, Any], None]] = {
    Started: Frontier._started,
    Opened: Frontier._opened,
    Closed: Frontier._closed,
    Delivered: Frontier._delivered,
    Listed: Frontier._listed,
    Asked: Frontier._ask,
    Answered: Frontier._answered,
}
