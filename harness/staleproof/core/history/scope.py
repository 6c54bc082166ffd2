"""What belongs to a trial wherever it is, and how the trial's history shows it.

A trial has a namespace. In other namespaces, or in none, its own is what the workload applied, what the controller created
meanwhile and what speaks of the trial (and whatever has the name of these), and what is owned by any of them; but nothing in the
namespaces of other trials. What the controller makes for itself (a certificate, a role that all share) speaks of no trial, and
belongs to none. A controller that looks into one namespace only has its primaries there, and trials share it in turn (`shared`):
what is made there with the trial's mark in its name, labels or annotations is the trial's, too, whatever makes it.

A history shows all that is the trial's as if it were in the trial's namespace, so that the judge need not ask where
things are. What is in another namespace, unless that is the shared one, has that before its name (`kube-system/settings`); the
object still says where it is. Watches and lists of the shared namespace are recorded as if of the trial's.

A primary that is not in the trial's namespace has a name of its own in each trial: `mark` is what makes it so. A history leaves it
out of whatever has it (names of children, fields, selectors), so that trials can be compared.

The answer names what a create has made, and its commit may come before. Where the answer to a server-side apply was lost, it made
what began with that very answer, or, if there was none, what of this name began after it was asked for. `history_entry` goes by
what is known so far, `history_entries` by what is known in the end.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from staleproof.core.history.entry import (
    Answered,
    Asked,
    Called,
    CallId,
    Committed,
    Competed,
    Delivered,
    Drifted,
    Entry,
    ExternalState,
    Held,
    Item,
    Listed,
    Notified,
    Opened,
    Refused,
    Replied,
    RequestId,
    Withheld,
)
from staleproof.core.history.history import Position, Request, is_work
from staleproof.core.history.provenance import is_bookkeeping, is_create, is_executed
from staleproof.core.plan.manifest import Manifest

T = TypeVar("T", bound=Answered | Competed | Delivered | Withheld | Item)
X = TypeVar("X", bound=Called | Notified | Drifted | ExternalState | Held)
Key = tuple[str, str, str]
"""resource, namespace, name"""
PROBE = "-probe"
"""What the name of a trial's second namespace ends with, in which the runner sees whether the controller works."""
_TRIALS = re.compile(rf"staleproof-[0-9a-f]{{8}}({PROBE})?")
_MAKES = ("create", "patch")
_entries = msgspec.json.Decoder(Entry)


def is_trials(namespace: str) -> bool:
    """Whether it is the namespace of a trial, or of a probe."""
    return _TRIALS.fullmatch(namespace) is not None


class Scope:
    """A fold over the entries of a run. `primaries`: as they really are, those that are not in the trial's namespace;
    `has_fixed_names`: one of them has the same name in each trial; `shared`: the namespace that such primaries are in, if they are
    not cluster-scoped.

    An object speaks of the trial when its namespace or mark is somewhere in it, or, in the shared namespace, its mark in the name,
    a label or an annotation: what lists all primaries there is no trial's. It speaks of a primary that has neither when it has that
    one's name in its own, or as a label or an annotation.

    Without a namespace there is no trial, and nothing belongs to any.
    """

    def __init__(self, namespace: str = "", primaries: Iterable[Key] = (), mark: str = "", shared: str = "") -> None:
        self.namespace, self.mark, self.shared = namespace, mark, shared
        self._keys: set[Key] = set(primaries)
        self._fixed = frozenset(name for _, _, name in self._keys if not (mark and name.endswith(mark)))
        self.has_fixed_names = bool(self._fixed)
        said = _word(namespace) + f"(?!{PROBE})"
        self._words = re.compile(f"{said}|{re.escape(mark)}" if mark else said)
        self._uids: dict[str, Key] = {}
        self._made: dict[str, Key] = {}
        self._speaking: set[str] = set()
        self._results: dict[RequestId, str] = {}
        self._asked: dict[RequestId, Asked] = {}
        self._begun: dict[Key, dict[str, Committed]] = {}  # by uid
        self._unheard: dict[Key, dict[RequestId, tuple[Asked, Answered]]] = {}
        self._left_out: set[RequestId] = set()
        self._calls_left_out: set[CallId] = set()

    # --- what is the trial's

    def see(self, entry: Entry) -> None:
        """Learn from it what is the trial's elsewhere. To see an entry twice does no harm."""
        match entry:
            case Asked() if self._is_elsewhere(entry.namespace) and entry.verb in _MAKES and is_work(entry):
                self._asked[entry.request] = entry
            case Answered() if (asked := self._asked.pop(entry.request, None)) is not None:
                self._answered(asked, entry)
            case Committed() if self._is_elsewhere(entry.namespace) and entry.uid:
                self._committed(entry, (entry.resource, entry.namespace, entry.name))

    def _answered(self, asked: Asked, entry: Answered) -> None:
        request = Request(Position(0), asked, Position(0), entry)
        if entry.uid and is_executed(request) and is_create(request):
            self._results[entry.request] = entry.uid
            self._make(entry.uid, (asked.resource, entry.namespace, entry.name))
        elif entry.outcome == "unknown" and entry.executed is not False and asked.verb == "patch":
            key = asked.resource, asked.namespace, asked.name
            self._unheard.setdefault(key, {})[entry.request] = asked, entry
            self._make_unheard(key)

    def _committed(self, entry: Committed, key: Key) -> None:
        if entry.type == "ADDED":
            self._begun.setdefault(key, {})[entry.uid] = entry
            self._make_unheard(key)
        if entry.uid not in self._speaking and self._speaks(entry):
            self._speaking.add(entry.uid)
            self._own_what_speaks(entry.uid)
        is_named = key in self._keys and entry.type != "DELETED"  # that may be one of an earlier trial
        if is_named or self._is_marked(entry) or _is_owned(entry.object, self._uids):
            self._own(entry.uid, key)

    def claim(self, resource: str, namespace: str, name: str) -> None:
        """What will have this name is the trial's."""
        self._keys.add((resource, namespace, name))

    def mine(self, objects: Mapping[Key, Manifest]) -> dict[Key, Manifest]:
        """Those of these objects that are the trial's, as they are."""
        here = {key: obj for key, obj in objects.items() if self.namespace and key[1] == self.namespace}
        if not self._keys:  # nothing was made or applied elsewhere, so nothing there is owned by it
            return here
        elsewhere = ((key, obj) for key, obj in objects.items() if self._is_elsewhere(key[1]) and obj["metadata"].get("uid"))
        there = [(key, obj) for key, obj in elsewhere if not is_bookkeeping(key[0], obj)]
        own = self._uids.keys() | {obj["metadata"]["uid"] for key, obj in there if key in self._keys}
        while new := {obj["metadata"]["uid"] for _, obj in there if _is_owned(obj, own)} - own:
            own |= new
        return here | {key: obj for key, obj in there if obj["metadata"]["uid"] in own}

    def _is_marked(self, commit: Committed) -> bool:
        """Whether it was made in the shared namespace with the trial's mark, whatever made it."""
        return commit.type == "ADDED" and self._is_shared(commit.namespace) and self._bears_mark(commit)

    def _bears_mark(self, commit: Committed) -> bool:
        return bool(self.mark) and any(self.mark in text for text in (commit.name, *_said(commit.object)))

    def _make(self, uid: str, key: Key) -> None:
        """The controller made it."""
        self._made[uid] = key
        self._own_what_speaks(uid)

    def _make_unheard(self, key: Key) -> None:
        """Own what the controller made by requests for this name whose answers were lost, as far as its commits are known."""
        for asked, answer in self._unheard.get(key, {}).values():
            begun = (each for each in self._begun.get(key, {}).values() if _is_made_by(each, asked, answer))
            if (made := next(begun, None)) is not None:
                self._make(made.uid, key)

    def _own_what_speaks(self, uid: str) -> None:
        if uid in self._made and uid in self._speaking:
            self._own(uid, self._made[uid])

    def _speaks(self, commit: Committed) -> bool:
        """Whether it is about the trial, as far as it says."""
        if self._is_shared(commit.namespace):
            is_said = self._bears_mark(commit)
        else:
            is_said = bool(self._words.search(msgspec.json.encode(commit.object).decode()))
        said = _said(commit.object)
        return is_said or any(re.search(_word(name), commit.name) or name in said for name in self._fixed)

    def _own(self, uid: str, key: Key) -> None:
        self._uids[uid] = key
        self._keys.add(key)

    def _is_elsewhere(self, namespace: str) -> bool:
        return bool(self.namespace) and namespace != self.namespace and not is_trials(namespace)

    # --- how the history shows it

    def place(self, entry: Entry) -> Entry:
        """The entry; in the trial's namespace, if it is about something of the trial's, as far as is known."""
        match entry:
            case Committed() if self._is_own(entry):
                obj, name = entry.object, self._name(entry.namespace, entry.name)
                renamed = {**obj, "metadata": {**obj["metadata"], "name": name}}
                return msgspec.structs.replace(entry, namespace=self.namespace, name=name, object=renamed)
            case Answered(items=items) if items:
                entry = msgspec.structs.replace(entry, items=tuple(map(self._placed, items)))
            case Listed():
                return msgspec.structs.replace(entry, items=tuple(map(self._placed, entry.items)))
        match entry:
            case Answered() | Competed() | Delivered() | Withheld():
                return self._placed(entry)
            case Called() | Notified() | Drifted() | ExternalState():
                return self._placed_outside(entry)
            case Asked(name="", namespace=namespace) if self._is_shared(namespace) and entry.verb != "create":
                return msgspec.structs.replace(entry, namespace=self.namespace)
            case Asked(namespace=namespace, name=name) if self._asks_for_own(entry):
                return msgspec.structs.replace(entry, namespace=self.namespace, name=self._name(namespace, name) if name else "")
        return entry

    def history_entry(self, entry: Entry) -> Entry | None:
        """The entry as the history has it, as far as is known; None for what happened in another namespace."""
        entry, here = self.place(entry), ("", self.namespace)
        if isinstance(entry, Called | Replied | Notified | Drifted | ExternalState):
            return self._external_entry(entry)
        match entry:
            case Committed() | Delivered() | Withheld() if entry.namespace not in here:
                return None
            case Asked() if entry.namespace not in here and not self._lists_own(entry):
                self._left_out.add(entry.request)
                return None
            case Asked():
                self._left_out.discard(entry.request)
            case Answered() | Listed() if entry.request in self._left_out:
                return None
            case Listed():
                mine = tuple(item for item in entry.items if item.namespace in here)
                where = self.namespace if self._is_shared(entry.namespace) else entry.namespace
                entry = msgspec.structs.replace(entry, items=mine, namespace=where)
            case Opened() | Refused() if self._is_shared(entry.namespace):
                entry = msgspec.structs.replace(entry, namespace=self.namespace)
        return self._entry_unmarked(entry) if self.mark else entry

    def _external_entry(self, entry: Called | Replied | Notified | Drifted | ExternalState) -> Entry | None:
        """The same of an external system: what is about another trial's object is left out, what names none stays."""
        here = ("", self.namespace)
        match entry:
            case ExternalState(objects=objects):
                entry = msgspec.structs.replace(entry, objects=tuple(each for each in objects if each.namespace in here))
                is_left_out = False
            case Replied(call=call):
                is_left_out = call in self._calls_left_out
            case _:
                is_left_out = entry.namespace not in here
        if isinstance(entry, Called):
            (self._calls_left_out.add if is_left_out else self._calls_left_out.discard)(entry.call)
        if is_left_out:
            return None
        return self._entry_unmarked(entry) if self.mark else entry

    def history_entries(self, entries: Sequence[Entry]) -> list[Entry]:
        """What the history has of these, in whatever order they came."""
        known = -1
        while known < len(self._uids):  # what owns something may have become known after it
            known = len(self._uids)
            for entry in entries:
                self.see(entry)
        return [found for entry in entries if (found := self.history_entry(entry)) is not None]

    def shown(self, objects: Mapping[Key, Manifest]) -> dict[Key, Manifest]:
        """Objects of the trial's as its history shows them."""
        found = {}
        for (resource, namespace, name), obj in objects.items():
            called = self._name(namespace, name)
            renamed: Manifest = {**obj, "metadata": {**obj["metadata"], "name": called}}
            if self.mark:
                called, renamed = msgspec.json.decode(self._unmarked(msgspec.json.encode((called, renamed))))
            found[resource, self.namespace, called] = renamed
        return found

    def _is_own(self, record: Committed | Answered | Competed | Delivered | Withheld | Item) -> bool:
        return record.uid in self._uids and self._is_elsewhere(record.namespace)

    def _asks_for_own(self, asked: Asked) -> bool:
        creates = asked.verb == "create" and not asked.subresource and is_work(asked)
        if creates and (result := self._results.get(asked.request)) is not None:
            creates = result in self._uids
        return self._is_elsewhere(asked.namespace) and (creates or (asked.resource, asked.namespace, asked.name) in self._keys)

    def _lists_own(self, asked: Asked) -> bool:
        """Whether it asks for all there is where something of the trial's is: what the answer shows of that is recorded."""
        return asked.verb == "list" and any(key[:2] == (asked.resource, asked.namespace) for key in self._keys)

    def _placed(self, record: T) -> T:
        if not self._is_own(record):
            return record
        _, namespace, _ = self._uids[record.uid]  # the answer to a delete does not say it
        return msgspec.structs.replace(record, namespace=self.namespace, name=self._name(namespace, record.name))

    def _placed_outside(self, record: X) -> X:
        """The same of what an external system has, or was asked."""
        if isinstance(record, ExternalState):
            return msgspec.structs.replace(record, objects=tuple(map(self._placed_outside, record.objects)))
        if (record.resource, record.namespace, record.name) not in self._keys:
            return record
        return msgspec.structs.replace(record, namespace=self.namespace, name=self._name(record.namespace, record.name))

    def _name(self, namespace: str, name: str) -> str:
        return name if namespace in ("", self.namespace, self.shared) else f"{namespace}/{name}"

    def _is_shared(self, namespace: str) -> bool:
        return bool(namespace) and namespace == self.shared

    def _entry_unmarked(self, entry: Entry) -> Entry:
        data = msgspec.json.encode(entry)
        return _entries.decode(self._unmarked(data)) if self.mark.encode() in data else entry

    def _unmarked(self, data: bytes) -> bytes:
        return data.replace(self.mark.encode(), b"")


def _is_made_by(begun: Committed, asked: Asked, lost: Answered) -> bool:
    """Whether an object began with a request whose answer was lost; where there was no answer, it may have if it came later."""
    return (begun.uid, begun.revision) == (lost.uid, lost.revision) if lost.uid else begun.at >= asked.at


def _said(obj: Manifest) -> set[str]:
    """The values of its labels and annotations."""
    metadata = obj["metadata"]
    return {*(metadata.get("labels") or {}).values(), *(metadata.get("annotations") or {}).values()}


def _word(name: str) -> str:
    return rf"(?<![0-9a-z]){re.escape(name)}(?![0-9a-z])"


def _is_owned(obj: Manifest, uids: Collection[str]) -> bool:
    return any(owner["uid"] in uids for owner in obj["metadata"].get("ownerReferences") or ())
