"""What each life of the controller had been shown, and what it knew before any position.

Shown = frames delivered, items of LIST answers, GET answers. Known = shown, or learnt from the answer to an own write (a create's
answer carries the new uid). A life begins with nothing, and is of one client. When in doubt we say "shown": a doubt must never
become an accusation.

A list with a selector shows its items, and that what it would have held is not there (`selections`): what the same selector had
shown, what fits it, and in doubt what may fit. Of everything else it says nothing. What leaves a selection is gone for the
controller, unless another stream has it: then the list, or the event, has only shown what had happened by then.

Frames leave a stream in order, so while one is kept nothing newer can have been shown on that stream. What a stream kept when it
ended is forgotten: a client that opens the next one is shown it again, or lists.

The first list of a resource begins with a LIST, with a WATCH that asks for the initial state (WatchList), or when either is
refused. It is complete with its last page, with the bookmark that ends the initial events, or when another watch is opened: that
goes on from a list, or has no end that could be seen, as a WatchList that does not ask for bookmarks (apiserver
pkg/storage/cacher/cacher.go, isListWatchRequest). A stream that was open before the trial had been listed then. Whichever list of a
collection comes first counts, a live one with a selector, too: when in doubt it is complete.

Divergence from Kubernetes: a frame counts as shown when it left the proxy, a little before the controller has really taken it in; a
list without an object counts as having shown that it is gone, if it would have held it; another object under its name does, too.
"""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.selections import Selections
from staleproof.checks.view.timeline import Timeline
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Closed,
    Delivered,
    Dropped,
    Entry,
    Item,
    Listed,
    Opened,
    Refused,
    RequestId,
    StreamId,
    Withheld,
)

Means = Literal["frame", "list", "get", "answer"]
"""How a controller learns of a state of an object; `answer`: to an own write."""
_Name = tuple[str, str, str]
"""resource, namespace, name"""


class Selection(NamedTuple):
    """What a list or a stream is of."""

    resource: str
    namespace: str
    selector: str


class Known(NamedTuple):
    """What a life knew of an object: an incarnation, which its uid identifies.

    Attributes:
        shown: the newest revision that was shown, and `cached` by frames and lists; None if none was.
        answered: the newest that an answer to a GET or to an own write carried; None if none did.
        means: how it learnt of the newest that it knows; None if it knows none.
        is_gone: whether it was shown that the object is gone.
        absent: the newest revision at which a list may have shown that it was not there.
        chosen: by which revision it was learnt, by frames shown or kept, whether a stream with a selector has it; None: none had.
        back: the newest that it was shown since a list of the past, which a fault had at hand; 0 without such a list.
    """

    shown: int | None = None
    cached: int | None = None
    answered: int | None = None
    means: Means | None = None
    is_gone: bool = False
    absent: int = -1
    chosen: tuple[int, bool] | None = None
    back: int = 0

    @property
    def revision(self) -> int:
        """The newest that it was shown, or an answer carried; 0 for none."""
        return max(self.shown or 0, self.answered or 0)

    @property
    def is_known(self) -> bool:
        """Whether the object was shown, or known from the answer to an own write."""
        return self.shown is not None or self.answered is not None

    def has_seen(self, revision: int) -> bool:
        """Whether it was shown at or after the revision, or shown to be gone, or not there at such a revision."""
        return self.has_met(revision) or self.absent >= revision

    def has_met(self, revision: int) -> bool:
        """The same, without what only a list with a selector may have shown not to be there."""
        return self.is_gone or (self.shown is not None and self.shown >= revision)

    def onwards(self, revision: int) -> int:
        """`back` when this revision is shown, or carried by an answer, as well."""
        return self.back and max(revision, self.back)


@dataclass(slots=True)
class _Stream:
    """An open stream: the revisions of the frames that are kept on it, in order; the uids of its initial events until they end."""

    of: Selection
    kept: list[int] = field(default_factory=list)
    burst: set[str] | None = None


class Life:
    """What one life of the controller was shown, folded entry by entry.

    By position: `objects` by uid; `present`, the uid by resource, namespace and name; how far streams and lists of a resource had
    come (`newest`, `passed`), and whole lists of it (`whole_lists`); whether a frame of a resource was `kept`, and from which
    revision on nothing can have been shown.

    The first position of each: `versions` of an object that were shown, and those `selected` by a stream that kept them; selections
    `streamed` and `looked` for; resources whose first list was under way (`listing`) and complete (`listed`).
    """

    def __init__(self, truth: Selections) -> None:
        self.truth = truth
        self.objects: Timeline[str, Known] = Timeline(Known())
        self.present: Timeline[_Name, str] = Timeline("")
        self.newest: Timeline[str, int] = Timeline(0)
        self.passed: Timeline[str, int] = Timeline(0)
        self.whole_lists: Timeline[tuple[str, str], int] = Timeline(-1)
        self.kept: Timeline[str, tuple[bool, int | None]] = Timeline((False, None))
        self.versions: dict[tuple[str, int], int] = {}
        self.selected: dict[tuple[str, int], int] = {}
        self.streamed: dict[Selection, int] = {}
        self.looked: dict[Selection, int] = {}
        self.listing: dict[str, int] = {}
        self.listed: dict[str, int] = {}
        self._requests: dict[RequestId, Asked] = {}
        self._streams: dict[StreamId, _Stream] = {}
        self._items: dict[Selection, dict[str, Item]] = defaultdict(dict)
        self._pages: dict[Selection, set[str]] = {}
        self._over: set[str] = set()

    def advance(self, index: int, entry: Entry) -> None:
        """Note what an entry of this life shows."""
        step = _STEPS.get(type(entry))
        if step is not None:
            step(self, index, entry)

    # --- streams

    def _opened(self, index: int, entry: Opened) -> None:
        of = _selection(entry)
        self._streams[entry.stream] = _Stream(of, burst=set() if entry.watch_list else None)
        self.streamed.setdefault(of, index)
        for item in self._items[of].values():  # a list has shown it, and the stream goes on from there
            self._choose(index, of, item)
        if entry.since is not None:
            self._reach(index, entry.resource, entry.since)
        self.listing.setdefault(entry.resource, index)
        if not (entry.watch_list and entry.bookmarks) or entry.since is not None:
            self.listed.setdefault(entry.resource, index)
        self._keep(index, entry.resource)

    def _closed(self, index: int, entry: Closed) -> None:
        stream = self._streams.pop(entry.stream, None)
        if stream is not None:
            self._keep(index, stream.of.resource)

    def _withheld(self, index: int, entry: Withheld) -> None:
        """That a stream with a selector would show an object proves that it fits; or that it has left the selection."""
        stream = self._streams.get(entry.stream)
        if stream is None:
            return
        if entry.revision is not None:
            insort(stream.kept, entry.revision)
            self._keep(index, stream.of.resource)
        if not stream.of.selector or not entry.uid:
            return
        revision, chosen = entry.revision or 0, self.objects.now(entry.uid).chosen
        self.selected.setdefault((entry.uid, revision), index)
        if entry.type != "DELETED":
            self._choose(index, stream.of, _item(entry))
        elif self.truth.lives_on(entry.uid, revision) and (chosen is None or revision > chosen[0]):
            self._note(index, entry.uid, chosen=(revision, False))

    def _dropped(self, index: int, entry: Dropped) -> None:
        stream = self._streams.get(entry.stream)
        if stream is not None and entry.revision in stream.kept:
            stream.kept.remove(entry.revision)
            self._keep(index, stream.of.resource)

    def _delivered(self, index: int, entry: Delivered) -> None:
        stream = self._streams.get(entry.stream)
        if stream is None:
            return
        resource = stream.of.resource
        if entry.revision is not None:
            self._reach(index, resource, entry.revision, passes=not stream.of.selector or not self._is_followed(resource))
            del stream.kept[: bisect_right(stream.kept, entry.revision)]
            self._keep(index, resource)
        if entry.initial_end:
            self.listed.setdefault(resource, index)
            self._collected(index, stream.of, stream.burst or set(), entry.revision)
            stream.burst = None
        elif entry.uid:
            self._event(index, stream, entry)

    def _event(self, index: int, stream: _Stream, entry: Delivered) -> None:
        of, item = stream.of, _item(entry)
        self._show(index, of.resource, item, "frame")
        if stream.burst is not None:
            stream.burst.add(entry.uid)
        if entry.type != "DELETED":
            self._choose(index, of, item)
        elif of.selector and self.truth.lives_on(entry.uid, entry.revision or 0):
            self._leave(index, of, item, entry.revision)
        else:
            self._lose(index, (of.resource, item.namespace, item.name), item.uid)

    def _keep(self, index: int, resource: str) -> None:
        """Note what the open streams of a resource keep."""
        kept = [stream.kept for stream in self._streams.values() if stream.of.resource == resource]
        oldest = max(revisions[0] for revisions in kept) if kept and all(kept) else None
        if (any(kept), oldest) != self.kept.now(resource):
            self.kept.note(index, resource, (any(kept), oldest))

    def _reach(self, index: int, resource: str, revision: int, *, passes: bool = True) -> None:
        for timeline in (self.newest, self.passed) if passes else (self.newest,):
            timeline.note(index, resource, max(revision, timeline.now(resource)))

    def _is_followed(self, resource: str) -> bool:
        """Whether it has watched all of the resource."""
        every = (of for of in self.streamed if of.resource == resource)
        return any(not of.selector and self.truth.concerns(of.namespace) for of in every)

    # --- requests

    def _ask(self, index: int, entry: Asked) -> None:
        self._requests[entry.request] = entry
        if entry.verb == "list":
            self.listing.setdefault(entry.resource, index)

    def _refused(self, index: int, entry: Refused) -> None:
        self.listing.setdefault(entry.resource, index)

    def _listed(self, index: int, entry: Listed) -> None:
        of = _selection(entry)
        if entry.revision is not None:
            self._reach(index, entry.resource, entry.revision, passes=not entry.selector)
        for item in entry.items:
            self._show(index, entry.resource, item, "list", is_past=entry.fault is not None)
            self._choose(index, of, item)
        uids = self._pages.pop(of, set()) | {item.uid for item in entry.items}
        if entry.more:
            self._pages[of] = uids
        else:
            self.listed.setdefault(entry.resource, index)
            self._collected(index, of, uids, entry.revision)

    def _answered(self, index: int, entry: Answered) -> None:
        request = self._requests.pop(entry.request, None)
        if request is None:
            return
        is_read = request.verb == "get"
        if entry.outcome == "ok" and entry.uid:
            now, revision = self.objects.now(entry.uid), entry.revision or 0
            means: Means | None = now.means if revision <= now.revision else "get" if is_read else "answer"
            self._note(index, entry.uid, answered=max(revision, now.answered or 0), means=means, back=now.onwards(revision))
            if is_read:
                self._show(index, request.resource, _item(entry), "get")
        elif is_read and entry.code == 404 and not request.subresource:
            name = (request.resource, request.namespace, request.name)
            if self.present.now(name):
                self._lose(index, name, self.present.now(name))

    # --- objects

    def _note(self, index: int, uid: str, **fields: Any) -> None:  # noqa: ANN401  # of `Known`
        self.objects.note(index, uid, self.objects.now(uid)._replace(**fields))

    def _show(self, index: int, resource: str, item: Item, means: Means, *, is_past: bool = False) -> None:
        now, revision = self.objects.now(item.uid), item.revision or 0
        goes_back = is_past and revision < (now.back or now.revision)
        self._note(
            index,
            item.uid,
            shown=max(revision, now.shown or 0),
            cached=now.cached if means == "get" else max(revision, now.cached or 0),
            means=means if revision > now.revision else now.means,
            back=revision if goes_back else now.onwards(revision),
        )
        self.versions.setdefault((item.uid, revision), index)
        name = (resource, item.namespace, item.name)
        before = self.present.now(name)
        if before and before != item.uid:
            self._note(index, before, is_gone=True)
        self.present.note(index, name, item.uid)

    def _lose(self, index: int, name: _Name, uid: str) -> None:
        self._note(index, uid, is_gone=True)
        if self.present.now(name) == uid:
            self.present.note(index, name, "")

    def _miss(self, index: int, uid: str, revision: int) -> None:
        """It was not there at this revision."""
        self._note(index, uid, absent=max(revision, self.objects.now(uid).absent))

    # --- collections

    def _collected(self, index: int, of: Selection, uids: set[str], revision: int | None) -> None:
        """The controller was shown a whole collection, or all of it that a selector selects."""
        if revision is not None:
            self.looked.setdefault(of, index)
        if of.selector:
            self._only_selected(index, of, uids, revision)
        else:
            self._only(index, of, uids, revision)

    def _only(self, index: int, of: Selection, uids: set[str], revision: int | None) -> None:
        """What it knew there and is not in it is gone."""
        if revision is not None:
            place = (of.resource, of.namespace)
            self.whole_lists.note(index, place, max(revision, self.whole_lists.now(place), 0))
        for name in list(self.present):
            uid = self.present.now(name)
            if name[0] == of.resource and of.namespace in ("", name[1]) and uid and uid not in uids:
                self._lose(index, name, uid)

    def _only_selected(self, index: int, of: Selection, uids: set[str], revision: int | None) -> None:
        """What the selector had shown and shows no more has left it; what it may have held was not there at that revision."""
        had = [item for item in self._items[of].values() if item.uid not in uids]
        for item in [item for item in had if revision is None or (item.revision or 0) <= revision]:
            self._leave(index, of, item, revision)
        if revision is not None:
            for uid in self.truth.may_hold(*of, revision, but=self._over):
                if uid not in uids:
                    self._miss(index, uid, revision)
                    if self.truth.is_over(uid, revision):  # no later list can say more of it
                        self._over.add(uid)

    def _choose(self, index: int, of: Selection, item: Item) -> None:
        """A stream has the object, or will go on from a list that has it: it has not left, whatever was shown before."""
        if of.selector:
            self._items[of][item.uid] = item
        now, revision = self.objects.now(item.uid), item.revision or 0
        is_newer = now.chosen is None or revision >= now.chosen[0]
        if of in self.streamed and is_newer and (of.selector or now.chosen is not None):
            had_left = now.chosen is not None and not now.chosen[1]
            self._note(index, item.uid, chosen=(revision, True), is_gone=now.is_gone and not had_left)

    def _leave(self, index: int, of: Selection, item: Item, revision: int | None) -> None:
        """It is gone, or has left the selection: then it is gone for a controller that no other stream shows it to."""
        self._items[of].pop(item.uid, None)
        at = (item.revision or 0) if revision is None else revision
        selections = {stream.of for stream in self._streams.values() if stream.of.resource == of.resource}
        if self._is_followed(of.resource) or any(item.uid in self._items[other] for other in selections):
            self._miss(index, item.uid, at)
            return
        if not self.truth.is_over(item.uid, at):
            self._note(index, item.uid, chosen=(at, False))
        self._lose(index, (of.resource, item.namespace, item.name), item.uid)


_STEPS: dict[type, Callable[[Life, int, Any], None]] = {
    Opened: Life._opened,
    Closed: Life._closed,
    Withheld: Life._withheld,
    Dropped: Life._dropped,
    Delivered: Life._delivered,
    Asked: Life._ask,
    Refused: Life._refused,
    Listed: Life._listed,
    Answered: Life._answered,
}


@dataclass(frozen=True, slots=True)
class View:
    """What a life knew when all that is before a position had happened."""

    life: Life
    before: int

    def of(self, uid: str) -> Known:
        return self.life.objects.before(self.before, uid)

    def has_shown(self, uid: str, revision: int) -> bool:
        """Whether an object was shown as it was at this revision."""
        return self.life.versions.get((uid, revision), self.before) < self.before

    def present(self, resource: str, name: str) -> str:
        """The uid of the incarnation that it believes to be there; empty when it knows of none."""
        return self.life.present.before(self.before, (resource, self.life.truth.namespace, name))

    def newest(self, resource: str) -> int:
        """The newest revision that any stream or list of the resource had reached; 0 for none."""
        return self.life.newest.before(self.before, resource)

    def passed(self, resource: str) -> int:
        """The same, of whole lists and of streams, those with a selector only where there is none without: that one may have yet to
        show what a selector left out."""
        return self.life.passed.before(self.before, resource)

    def has_listed(self, resource: str, revision: int) -> bool:
        """Whether a whole list was shown that is at least as new as the revision: what is not in it is gone."""
        places = ((resource, namespace) for namespace in ("", self.life.truth.namespace))
        return any(self.life.whole_lists.before(self.before, place) >= revision for place in places)

    def has_looked_for(self, uid: str, resource: str) -> bool:
        """Whether a list was shown, old or new, that would have it if it were there: it surely fits the selector, if any."""
        truth = self.life.truth
        looked = (of for of, index in self.life.looked.items() if index < self.before and of.resource == resource)
        return any(truth.concerns(of.namespace) and truth.begins_in(uid, of.selector) for of in looked)

    def streamed(self, resource: str) -> set[str]:
        """The selectors of all streams that were ever opened of the resource; empty for all of it."""
        every = (of for of, index in self.life.streamed.items() if index < self.before and of.resource == resource)
        return {of.selector for of in every if self.life.truth.concerns(of.namespace)}

    def has_first_list(self, resource: str) -> bool:
        """Whether the first list of a resource is complete."""
        return self.life.listed.get(resource, self.before) < self.before

    def awaits_first_list(self, resource: str) -> bool:
        """Whether it has begun, and is not complete."""
        return self.life.listing.get(resource, self.before) < self.before and not self.has_first_list(resource)

    def withheld(self) -> set[str]:
        """Resources of which a frame is being kept from it."""
        return {resource for resource in self.life.kept if self.life.kept.before(self.before, resource)[0]}

    def oldest_withheld(self, resource: str) -> int | None:
        """The revision from which on no open stream of this resource can have shown anything; None if one may have."""
        return self.life.kept.before(self.before, resource)[1]


@fact
def lives(trial: Trial) -> Sequence[Life]:
    """What came before the first start, and each life of the controller under test: the client that was first heard of."""
    controller = next((client for entry in trial.entries if (client := _client(trial, entry))), "")
    truth, found = Selections((commit.entry for commit in trial.commits), trial.namespace), []
    for since, until in pairwise([0, *trial.starts, len(trial.entries)]):
        life = Life(truth)
        for index in range(since, until):
            entry = trial.entries[index]
            if type(entry) in _STEPS and _client(trial, entry) == controller:
                life.advance(index, entry)
        found.append(life)
    return found


def view(trial: Trial, before: int) -> View:
    """Of the life that leads up to a position."""
    return View(lives(trial)[bisect_left(trial.starts, before)], before)


def withheld_between(trial: Trial, since: int, until: int) -> set[str]:
    """Resources of which a frame was being kept at some time from behind the entry at one position to before that at another."""
    return set().union(*(view(trial, index).withheld() for index in range(since + 1, until + 1)))


def _client(trial: Trial, entry: Entry) -> str:
    match entry:
        case Opened(client=client) | Listed(client=client) | Asked(client=client) | Refused(client=client):
            return client
        case Withheld(stream=stream) | Delivered(stream=stream) | Closed(stream=stream) | Dropped(stream=stream):
            return trial.streams[stream].entry.client if stream in trial.streams else ""
        case Answered(request=request) if request in trial.request_of:
            return trial.request_of[request].asked.client
    return ""


def _selection(entry: Opened | Listed) -> Selection:
    return Selection(entry.resource, entry.namespace, entry.selector)


def _item(entry: Withheld | Delivered | Answered) -> Item:
    return Item(entry.namespace, entry.name, entry.uid, entry.revision)
