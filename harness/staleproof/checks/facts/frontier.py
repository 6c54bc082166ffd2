"""What the controller had been shown, at every moment.

Shown = frames delivered, items of LIST answers, GET answers. Known = shown, or told by the answer to an own write (a create's
answer carries the new uid). Both belong to one life of the process, and to one client: each has a frontier of its own. When in
doubt we say "shown": a doubt must never become an accusation.

A list with a selector shows its items, and that what it would have held is not there (`selections`): what the same selector had
shown, what fits it, and in doubt what may fit. Of everything else it says nothing. What leaves a selection is gone for the
controller, unless another stream has it: then the list, or the event, has only shown what had happened by then.

Divergence from Kubernetes: a frame counts as shown when it left the proxy, a little before the controller has really taken it in; a
list without an object counts as having shown that it is gone, if it would have held it; another object under its name does, too.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from staleproof.checks.facts.selections import Selections, selections
from staleproof.checks.facts.timeline import Timeline
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Answered, Asked, Closed, Delivered, Entry, Item, Listed, Opened, Started, Withheld

Means = Literal["frame", "list", "get", "answer"]
"""How a controller learns of a state of an object; `answer`: to an own write."""
_Place = tuple[str, str]
"""resource, namespace"""


class _Selection(NamedTuple):
    """What a list or a stream with a selector is of."""

    resource: str
    namespace: str
    selector: str


class Frontier:
    """What one client had been shown. Objects are told apart by uid: an incarnation of a name.

    Every question names a position and is about what had happened before it.
    """

    def __init__(self, truth: Selections) -> None:
        self._truth = truth
        self._shown: Timeline[str, int | None] = Timeline(None)
        self._told: Timeline[str, int] = Timeline(0)
        self._means: Timeline[str, Means | None] = Timeline(None)
        self._known: Timeline[str, bool] = Timeline(default=False)
        self._gone: Timeline[str, bool] = Timeline(default=False)
        self._absent: Timeline[str, int] = Timeline(-1)
        self._chosen: Timeline[str, tuple[int, bool] | None] = Timeline(None)
        self._newest: Timeline[str, int] = Timeline(0)
        self._passed: Timeline[str, int] = Timeline(0)
        self._present: Timeline[tuple[str, str, str], str] = Timeline("")
        self._whole: Timeline[_Place, int] = Timeline(-1)
        self._looked: Timeline[_Selection, bool] = Timeline(default=False)
        self._looks: set[_Selection] = set()
        self._timelines = (
            *(self._shown, self._told, self._means, self._known, self._gone, self._absent, self._chosen),
            *(self._newest, self._passed, self._present, self._whole, self._looked),
        )
        self._names: dict[_Place, dict[str, str]] = defaultdict(dict)
        self._streams: dict[int, Opened] = {}
        self._open: set[int] = set()
        self._streamed: set[_Selection] = set()
        self._watched: set[str] = set()
        self._selections: dict[_Selection, dict[str, Item]] = defaultdict(dict)
        self._bursts: dict[int, set[str]] = {}
        self._pages: dict[_Selection, set[str]] = {}
        self._over: set[str] = set()
        self._memories = (
            *(self._names, self._bursts, self._pages, self._over),
            *(self._open, self._streamed, self._watched, self._selections),
        )
        self._asked: dict[int, Asked] = {}

    def shown(self, uid: str, *, before: int) -> int | None:
        """The newest revision of an incarnation that was shown; None if none was."""
        return self._shown.before(before, uid)

    def told(self, uid: str, *, before: int) -> int:
        """The newest revision of an incarnation that an answer to a GET or to an own write told of; 0 for none."""
        return self._told.before(before, uid)

    def means(self, uid: str, *, before: int) -> Means | None:
        """How it learnt of the newest revision of an incarnation that it knows; None if it knows none."""
        return self._means.before(before, uid)

    def is_known(self, uid: str, *, before: int) -> bool:
        """Whether an incarnation was shown, or told by the answer to an own write."""
        return self._known.before(before, uid)

    def newest(self, resource: str, *, before: int) -> int:
        """The newest revision that any stream or list of the resource had reached; 0 for none."""
        return self._newest.before(before, resource)

    def passed(self, resource: str, *, before: int) -> int:
        """The same, of whole lists and of streams, those with a selector only where there is none without: that one may have yet to
        show what a selector left out."""
        return self._passed.before(before, resource)

    def has_seen(self, uid: str, revision: int, *, before: int) -> bool:
        """Whether this incarnation was shown at or after the revision, or shown to be gone, or not there at such a revision."""
        return self._has_met(uid, revision, before) or self._absent.before(before, uid) >= revision

    def is_presumed(self, uid: str, revision: int, *, before: int) -> bool:
        """Whether it counts as seen only because a list with a selector may have shown that it was not there."""
        return self.has_seen(uid, revision, before=before) and not self._has_met(uid, revision, before)

    def is_chosen(self, uid: str, *, before: int) -> bool | None:
        """Whether a stream with a selector has the object, as far as it was shown or is kept; None: none ever had."""
        chosen = self._chosen.before(before, uid)
        return None if chosen is None else chosen[1]

    def has_listed(self, resource: str, namespace: str, revision: int, *, before: int) -> bool:
        """Whether a whole list was shown that is at least as new as the revision: what is not in it is gone."""
        return max(self._whole.before(before, (resource, where)) for where in ("", namespace)) >= revision

    def has_looked_for(self, uid: str, resource: str, namespace: str, *, before: int) -> bool:
        """Whether a list was shown, old or new, that would have it if it were there: it surely fits the selector, if any."""
        looked = (of for of in self._looks if of.resource == resource and of.namespace in ("", namespace))
        return any(self._looked.before(before, of) and self._truth.begins_in(uid, of.selector) for of in looked)

    def present(self, resource: str, namespace: str, name: str, *, before: int) -> str:
        """The uid of the incarnation that the controller believes to be there; empty when it knows of none."""
        return self._present.before(before, (resource, namespace, name))

    def _has_met(self, uid: str, revision: int, before: int) -> bool:
        shown = self._shown.before(before, uid)
        return (shown is not None and shown >= revision) or self._gone.before(before, uid)

    # --- folding

    def advance(self, index: int, entry: Entry) -> None:
        """Note what an entry of this client, or a start of the process, shows."""
        step = _STEPS.get(type(entry))
        if step is not None:
            step(self, index, entry)

    def _started(self, index: int, entry: Started) -> None:
        """A new life knows nothing."""
        for timeline in self._timelines:
            timeline.forget(index)
        for memory in self._memories:
            memory.clear()

    def _opened(self, index: int, entry: Opened) -> None:
        self._streams[entry.stream] = entry
        self._open.add(entry.stream)
        self._streamed.add(_selection(entry))
        if not entry.selector and self._truth.concerns(entry.namespace):
            self._watched.add(entry.resource)
        for item in self._selections[_selection(entry)].values():  # a list has shown it, and the stream goes on from there
            self._choose(index, _selection(entry), item)
        if entry.watch_list:
            self._bursts[entry.stream] = set()
        if entry.since is not None:
            self._reach(index, entry.resource, entry.since)

    def _closed(self, index: int, entry: Closed) -> None:
        self._open.discard(entry.stream)
        self._bursts.pop(entry.stream, None)

    def _withheld(self, index: int, entry: Withheld) -> None:
        """That a stream with a selector would show an object proves that it fits; or that it has left the selection."""
        stream = self._streams.get(entry.stream)
        if stream is None or not stream.selector or not entry.uid:
            return
        revision, chosen = entry.revision or 0, self._chosen.now(entry.uid)
        if entry.type != "DELETED":
            self._choose(index, _selection(stream), Item(entry.namespace, entry.name, entry.uid, entry.revision))
        elif self._truth.lives_on(entry.uid, revision) and (chosen is None or revision > chosen[0]):
            self._chosen.note(index, entry.uid, (revision, False))

    def _delivered(self, index: int, entry: Delivered) -> None:
        stream = self._streams.get(entry.stream)
        if stream is None:
            return
        if entry.revision is not None:
            is_all = not stream.selector or stream.resource not in self._watched
            self._reach(index, stream.resource, entry.revision, passes=is_all)
        if entry.initial_end:
            self._collected(index, _selection(stream), self._bursts.pop(entry.stream, set()), entry.revision)
        elif entry.uid:
            self._event(index, _selection(stream), entry)

    def _event(self, index: int, of: _Selection, entry: Delivered) -> None:
        item = Item(entry.namespace, entry.name, entry.uid, entry.revision)
        self._show(index, of.resource, item, "frame")
        if entry.stream in self._bursts:
            self._bursts[entry.stream].add(entry.uid)
        if entry.type != "DELETED":
            self._choose(index, of, item)
        elif of.selector and self._truth.lives_on(entry.uid, entry.revision or 0):
            self._leave(index, of, item, entry.revision)
        else:
            self._lose(index, (of.resource, entry.namespace), entry.name, entry.uid)

    def _listed(self, index: int, entry: Listed) -> None:
        of = _selection(entry)
        if entry.revision is not None:
            self._reach(index, entry.resource, entry.revision, passes=not entry.selector)
        for item in entry.items:
            self._show(index, entry.resource, item, "list")
            self._choose(index, of, item)
        uids = self._pages.pop(of, set()) | {item.uid for item in entry.items}
        if entry.more:
            self._pages[of] = uids
        else:
            self._collected(index, of, uids, entry.revision)

    def _ask(self, index: int, entry: Asked) -> None:
        self._asked[entry.request] = entry

    def _answered(self, index: int, entry: Answered) -> None:
        asked = self._asked.pop(entry.request, None)
        if asked is None:
            return
        if entry.outcome == "ok" and entry.uid:
            self._known.note(index, entry.uid, value=True)
            self._learn(index, entry.uid, entry.revision or 0, "get" if asked.verb == "get" else "answer")
            self._told.note(index, entry.uid, max(entry.revision or 0, self._told.now(entry.uid)))
            if asked.verb == "get":
                self._show(index, asked.resource, Item(entry.namespace, entry.name, entry.uid, entry.revision), "get")
        elif asked.verb == "get" and entry.code == 404 and not asked.subresource:
            place = (asked.resource, asked.namespace)
            uid = self._names[place].get(asked.name, "")
            if uid:
                self._lose(index, place, asked.name, uid)

    def _learn(self, index: int, uid: str, revision: int, means: Means) -> None:
        if revision > max(self._shown.now(uid) or 0, self._told.now(uid)):
            self._means.note(index, uid, means)

    def _show(self, index: int, resource: str, item: Item, means: Means) -> None:
        self._learn(index, item.uid, item.revision or 0, means)
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

    def _collected(self, index: int, of: _Selection, uids: set[str], revision: int | None) -> None:
        """The controller was shown a whole collection, or all of it that a selector selects."""
        if revision is not None:
            self._looks.add(of)
            self._looked.note(index, of, value=True)
        if of.selector:
            self._selected(index, of, uids, revision)
        else:
            self._only(index, (of.resource, of.namespace), uids, revision)

    def _only(self, index: int, place: _Place, uids: set[str], revision: int | None) -> None:
        """The controller was shown a whole collection: what it knew there and is not in it is gone."""
        resource, namespace = place
        if revision is not None:
            self._whole.note(index, place, max(revision, self._whole.now(place), 0))
        places = [place] if namespace else [known for known in self._names if known[0] == resource]
        for known in places:
            for name, uid in [pair for pair in self._names[known].items() if pair[1] not in uids]:
                self._lose(index, known, name, uid)

    # --- selections

    def _selected(self, index: int, of: _Selection, uids: set[str], revision: int | None) -> None:
        """What the selector had shown and shows no more has left it; what it may have held was not there at that revision."""
        had = [item for item in self._selections[of].values() if item.uid not in uids]
        for item in [item for item in had if revision is None or (item.revision or 0) <= revision]:
            self._leave(index, of, item, revision)
        if revision is not None:
            for uid in self._truth.may_hold(*of, revision, but=self._over):
                if uid not in uids:
                    self._absent.note(index, uid, max(revision, self._absent.now(uid)))
                    if self._truth.is_over(uid, revision):  # no later list can say more of it
                        self._over.add(uid)

    def _choose(self, index: int, of: _Selection, item: Item) -> None:
        """A stream has the object, or will go on from a list that has it: it has not left, whatever was shown before."""
        if of.selector:
            self._selections[of][item.uid] = item
        chosen, revision = self._chosen.now(item.uid), item.revision or 0
        is_newer = chosen is None or revision >= chosen[0]
        if of not in self._streamed or not is_newer:
            return
        if chosen is not None and not chosen[1]:
            self._gone.note(index, item.uid, value=False)
        if of.selector or chosen is not None:
            self._chosen.note(index, item.uid, (revision, True))

    def _leave(self, index: int, of: _Selection, item: Item, revision: int | None) -> None:
        """It is gone, or has left the selection: then it is gone for a controller that no other stream shows it to."""
        self._selections[of].pop(item.uid, None)
        at = (item.revision or 0) if revision is None else revision
        if self._has_otherwise(item, of.resource):
            self._absent.note(index, item.uid, max(at, self._absent.now(item.uid)))
            return
        if not self._truth.is_over(item.uid, at):
            self._chosen.note(index, item.uid, (at, False))
        self._lose(index, (of.resource, item.namespace), item.name, item.uid)

    def _has_otherwise(self, item: Item, resource: str) -> bool:
        others = {_selection(self._streams[number]) for number in self._open if self._streams[number].resource == resource}
        return resource in self._watched or any(item.uid in self._selections[other] for other in others)

    def _reach(self, index: int, resource: str, revision: int, *, passes: bool = True) -> None:
        for timeline in (self._newest, self._passed) if passes else (self._newest,):
            timeline.note(index, resource, max(revision, timeline.now(resource)))


_STEPS: dict[type, Callable[[Frontier, int, Any], None]] = {
    Started: Frontier._started,
    Opened: Frontier._opened,
    Closed: Frontier._closed,
    Withheld: Frontier._withheld,
    Delivered: Frontier._delivered,
    Listed: Frontier._listed,
    Asked: Frontier._ask,
    Answered: Frontier._answered,
}


@fact
def frontiers(trial: Trial) -> Mapping[str, Frontier]:
    """By client: the name of whoever watched, listed and asked, as the proxy recorded it."""
    found: dict[str, Frontier] = defaultdict(lambda: Frontier(selections(trial)))
    for index, entry in enumerate(trial.entries):
        if isinstance(entry, Started):
            for frontier in found.values():
                frontier.advance(index, entry)
        elif client := _client(trial, entry):
            found[client].advance(index, entry)
    return found


@fact
def frontier(trial: Trial) -> Frontier:
    """Of the controller under test: the client that was first heard of. Of nobody, where none was: nothing was shown."""
    return next(iter(frontiers(trial).values()), Frontier(Selections()))


def _selection(entry: Opened | Listed) -> _Selection:
    return _Selection(entry.resource, entry.namespace, entry.selector)


def _client(trial: Trial, entry: Entry) -> str:
    match entry:
        case Opened(client=client) | Listed(client=client) | Asked(client=client):
            return client
        case Withheld(stream=stream) | Delivered(stream=stream) | Closed(stream=stream) if stream in trial.streams:
            return trial.streams[stream].entry.client
        case Answered(request=request) if request in trial.request_of:
            return trial.request_of[request].asked.client
    return ""
