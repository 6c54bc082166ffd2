"""What the controller had been shown, at every moment.

Shown = frames delivered, items of LIST answers, GET answers. Known = shown, or told by the answer to an own write (a create's
answer carries the new uid). Both belong to one life of the process, and to one client: each has a frontier of its own. When in
doubt we say "shown": a doubt must never become an accusation.

Divergence from Kubernetes: a frame counts as shown when it left the proxy, a little before the controller has really taken it in; a
list without an object counts as having shown that it is gone, whatever its selector; another object under its name does, too.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from staleproof.checks.facts.timeline import Timeline
from staleproof.checks.trial import Trial, fact
from staleproof.core.entry import Answered, Asked, Closed, Delivered, Entry, Item, Listed, Opened, Started

_Place = tuple[str, str]
"""resource, namespace"""


class Frontier:
    """What one client had been shown. Objects are told apart by uid: an incarnation of a name.

    Every question names a position and is about what had happened before it.
    """

    def __init__(self) -> None:
        self._shown: Timeline[str, int | None] = Timeline(None)
        self._known: Timeline[str, bool] = Timeline(default=False)
        self._gone: Timeline[str, bool] = Timeline(default=False)
        self._newest: Timeline[str, int] = Timeline(0)
        self._present: Timeline[tuple[str, str, str], str] = Timeline("")
        self._whole: Timeline[_Place, int] = Timeline(-1)
        self._names: dict[_Place, dict[str, str]] = defaultdict(dict)
        self._streams: dict[int, Opened] = {}
        self._bursts: dict[int, set[str]] = {}
        self._pages: dict[tuple[str, str, str], set[str]] = {}
        self._asked: dict[int, Asked] = {}

    def shown(self, uid: str, *, before: int) -> int | None:
        """The newest revision of an incarnation that was shown; None if none was."""
        return self._shown.before(before, uid)

    def is_known(self, uid: str, *, before: int) -> bool:
        """Whether an incarnation was shown, or told by the answer to an own write."""
        return self._known.before(before, uid)

    def newest(self, resource: str, *, before: int) -> int:
        """The newest revision that any stream or list of the resource had reached; 0 for none."""
        return self._newest.before(before, resource)

    def has_seen(self, uid: str, revision: int, *, before: int) -> bool:
        """Whether this incarnation was shown at or after the revision, or shown to be gone."""
        shown = self._shown.before(before, uid)
        return (shown is not None and shown >= revision) or self._gone.before(before, uid)

    def has_listed(self, resource: str, namespace: str, revision: int, *, before: int) -> bool:
        """Whether a whole list was shown that is at least as new as the revision: what is not in it is gone."""
        return max(self._whole.before(before, (resource, where)) for where in ("", namespace)) >= revision

    def present(self, resource: str, namespace: str, name: str, *, before: int) -> str:
        """The uid of the incarnation that the controller believes to be there; empty when it knows of none."""
        return self._present.before(before, (resource, namespace, name))

    # --- folding

    def advance(self, index: int, entry: Entry) -> None:
        """Note what an entry of this client, or a start of the process, shows."""
        step = _STEPS.get(type(entry))
        if step is not None:
            step(self, index, entry)

    def _started(self, index: int, entry: Started) -> None:
        """A new life knows nothing."""
        for timeline in (self._shown, self._known, self._gone, self._newest, self._present, self._whole):
            timeline.forget(index)
        for memory in (self._names, self._bursts, self._pages):
            memory.clear()

    def _opened(self, index: int, entry: Opened) -> None:
        self._streams[entry.stream] = entry
        if entry.watch_list:
            self._bursts[entry.stream] = set()
        if entry.since is not None:
            self._reach(index, entry.resource, entry.since)

    def _closed(self, index: int, entry: Closed) -> None:
        self._bursts.pop(entry.stream, None)

    def _delivered(self, index: int, entry: Delivered) -> None:
        stream = self._streams.get(entry.stream)
        if stream is None:
            return
        if entry.revision is not None:
            self._reach(index, stream.resource, entry.revision)
        if entry.initial_end:
            self._only(index, (stream.resource, stream.namespace), self._bursts.pop(entry.stream, set()), entry.revision)
        elif entry.uid:
            self._show(index, stream.resource, Item(entry.namespace, entry.name, entry.uid, entry.revision))
            if entry.stream in self._bursts:
                self._bursts[entry.stream].add(entry.uid)
            if entry.type == "DELETED":
                self._lose(index, (stream.resource, entry.namespace), entry.name, entry.uid)

    def _listed(self, index: int, entry: Listed) -> None:
        if entry.revision is not None:
            self._reach(index, entry.resource, entry.revision)
        for item in entry.items:
            self._show(index, entry.resource, item)
        collection = (entry.resource, entry.namespace, entry.selector)
        uids = self._pages.pop(collection, set()) | {item.uid for item in entry.items}
        if entry.more:
            self._pages[collection] = uids
        else:
            self._only(index, (entry.resource, entry.namespace), uids, entry.revision)

    def _ask(self, index: int, entry: Asked) -> None:
        self._asked[entry.request] = entry

    def _answered(self, index: int, entry: Answered) -> None:
        asked = self._asked.pop(entry.request, None)
        if asked is None:
            return
        if entry.outcome == "ok" and entry.uid:
            self._known.note(index, entry.uid, value=True)
            if asked.verb == "get":
                self._show(index, asked.resource, Item(entry.namespace, entry.name, entry.uid, entry.revision))
        elif asked.verb == "get" and entry.code == 404 and not asked.subresource:
            place = (asked.resource, asked.namespace)
            uid = self._names[place].get(asked.name, "")
            if uid:
                self._lose(index, place, asked.name, uid)

    def _show(self, index: int, resource: str, item: Item) -> None:
        self._known.note(index, item.uid, value=True)
        self._shown.note(index, item.uid, max(item.revision or 0, self._shown.now(item.uid) or 0))
        names = self._names[resource, item.namespace]
        before = names.get(item.name)
        if before is not None and before != item.uid:
            self._gone.note(index, before, value=True)
        names[item.name] = item.uid
        self._present.note(index, (resource, item.namespace, item.name), item.uid)

    def _lose(self, index: int, place: _Place, name: str, uid: str) -> None:
        self._gone.note(index, uid, value=True)
        if self._names[place].get(name) == uid:
            del self._names[place][name]
            self._present.note(index, (*place, name), "")

    def _only(self, index: int, place: _Place, uids: set[str], revision: int | None) -> None:
        """The controller was shown a whole collection: what it knew there and is not in it is gone."""
        resource, namespace = place
        if revision is not None:
            self._whole.note(index, place, max(revision, self._whole.now(place), 0))
        places = [place] if namespace else [known for known in self._names if known[0] == resource]
        for known in places:
            for name, uid in [pair for pair in self._names[known].items() if pair[1] not in uids]:
                self._lose(index, known, name, uid)

    def _reach(self, index: int, resource: str, revision: int) -> None:
        self._newest.note(index, resource, max(revision, self._newest.now(resource)))


_STEPS: dict[type, Callable[[Frontier, int, Any], None]] = {
    Started: Frontier._started,
    Opened: Frontier._opened,
    Closed: Frontier._closed,
    Delivered: Frontier._delivered,
    Listed: Frontier._listed,
    Asked: Frontier._ask,
    Answered: Frontier._answered,
}


@fact
def frontiers(trial: Trial) -> Mapping[str, Frontier]:
    """By client: the name of whoever watched, listed and asked, as the proxy recorded it."""
    found: dict[str, Frontier] = {}
    for index, entry in enumerate(trial.entries):
        if isinstance(entry, Started):
            for frontier in found.values():
                frontier.advance(index, entry)
        elif client := _client(trial, entry):
            found.setdefault(client, Frontier()).advance(index, entry)
    return found


@fact
def frontier(trial: Trial) -> Frontier:
    """Of the controller under test: the client that was first heard of. Of nobody, where none was: nothing was shown."""
    return next(iter(frontiers(trial).values()), Frontier())


def _client(trial: Trial, entry: Entry) -> str:
    match entry:
        case Opened(client=client) | Listed(client=client) | Asked(client=client):
            return client
        case Delivered(stream=stream) | Closed(stream=stream) if stream in trial.streams:
            return trial.streams[stream].entry.client
        case Answered(request=request) if request in trial.request_of:
            return trial.request_of[request].asked.client
    return ""
