"""An API server and a client for the gate's tests, as small as they can be: what is shown and what is understood.

`Server` commits changes to a handful of objects of one resource and knows every earlier state. `Reflector` does what clients in the
wild do to follow them: client-go with a WatchList (and its fallback), LIST with resourceVersion 0 and WATCH, LIST without
resourceVersion and WATCH, a bare WATCH. Neither knows of faults or of the proxy.
"""

from collections.abc import Mapping
from itertools import count
from typing import Literal

import msgspec

from staleproof.core.history.frame import Frame, read_frame
from staleproof.core.history.request import ApiRequest, parse

RESOURCE = "widgets.example.com"
NAMESPACE = "trial"
PATH = "/apis/example.com/v1/namespaces/trial/widgets"
NAMES = ("a", "b", "c", "d")

Kind = Literal["watch-list", "list-0", "list", "watch"]


def request(line: str) -> ApiRequest:
    """`GET /api/v1/pods?watch=1`."""
    parsed = parse(*line.split(" "))
    assert parsed is not None
    return parsed


def event(type_: str, name: str, revision: int | None, uid: str = "", *, serial: int = 0) -> Frame:
    """`serial` tells frames apart that say the same."""
    metadata = {"namespace": NAMESPACE, "name": name, "uid": uid or f"uid-{name}", "resourceVersion": str(revision)}
    return _frame(type_, metadata | ({"labels": {"serial": str(serial)}} if serial else {}))


def bookmark(revision: int | None, *, initial_end: bool = False) -> Frame:
    metadata: dict[str, object] = {"resourceVersion": str(revision)}
    if initial_end:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return _frame("BOOKMARK", metadata)


def _frame(type_: str, metadata: Mapping[str, object]) -> Frame:
    obj = {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": metadata}
    return read_frame(msgspec.json.encode({"type": type_, "object": obj}) + b"\n")


class Server:
    """Every change is an event of its own revision. `now` is what there is: name to revision."""

    def __init__(self) -> None:
        self.revision = 100
        self.now: dict[str, int] = {}
        self.log: list[Frame] = []
        self._uids: dict[str, str] = {}
        self._serials = count(1)

    def put(self, name: str) -> Frame:
        self.revision += 1
        known = name in self.now
        if not known:
            self._uids[name] = f"{name}-{self.revision}"
        self.now[name] = self.revision
        self.log.append(self._event("MODIFIED" if known else "ADDED", name, self.revision, self._uids[name]))
        return self.log[-1]

    def delete(self, name: str) -> Frame:
        self.revision += 1
        del self.now[name]
        self.log.append(self._event("DELETED", name, self.revision, self._uids[name]))
        return self.log[-1]

    def since(self, start: int) -> list[Frame]:
        return [past for past in self.log if (past.revision or 0) > start]

    def at(self, revision: int) -> dict[str, Frame]:
        """The newest event of each object that was there at this revision."""
        state: dict[str, Frame] = {}
        for past in self.log:
            if (past.revision or 0) > revision:
                break
            if past.type == "DELETED":
                del state[past.name]
            else:
                state[past.name] = past
        return state

    def state_at(self, revision: int) -> dict[str, int]:
        return {name: past.revision or 0 for name, past in self.at(revision).items()}

    def initial(self, revision: int) -> list[Frame]:
        """The state as initial events: by name, which is not the order of revisions."""
        return [self._event("ADDED", name, past.revision or 0, past.uid) for name, past in sorted(self.at(revision).items())]

    def _event(self, type_: str, name: str, revision: int, uid: str) -> Frame:
        return event(type_, name, revision, uid, serial=next(self._serials))


class Reflector:
    """What the client knows. `resume` is where its next watch starts; None: with the current state.

    A client of kind `watch` begins anew each time, and nothing tells it when it is complete.
    """

    def __init__(self, kind: Kind, *, bookmarks: bool, from_zero: bool) -> None:
        self.kind, self._bookmarks = kind, bookmarks
        self.known: dict[str, int] = {}
        self.resume: int | None = None
        self._from_zero = from_zero  # whether a bare WATCH or the first LIST takes any state (resourceVersion 0)
        self._falls_back = False
        self._initial: dict[str, int] | None = None

    def wants(self) -> str:
        """The target of its next request."""
        bookmarks = "&allowWatchBookmarks=true" if self._bookmarks else ""
        if self.resume is not None:
            return f"{PATH}?watch=1&resourceVersion={self.resume}{bookmarks}"
        any_state = "resourceVersion=0" if self._from_zero else ""
        if self.kind == "watch":
            return f"{PATH}?watch=1&{any_state}{bookmarks}"
        if self.kind == "watch-list" and not self._falls_back:
            return f"{PATH}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
        return f"{PATH}?{any_state}"

    def listed(self, items: dict[str, int], revision: int) -> None:
        self.known, self.resume = dict(items), revision

    def opened(self, request: ApiRequest) -> None:
        self._initial = {} if request.is_watch_list else None
        if self.kind == "watch":
            self.known = {}

    def take(self, frame: Frame) -> None:
        if self._initial is not None:
            self._take_initial(frame, self._initial)
            return
        if frame.type == "DELETED":
            self.known.pop(frame.name, None)
        elif frame.is_event:
            self.known[frame.name] = frame.revision or 0
        self.resume = None if self.kind == "watch" else frame.revision

    def _take_initial(self, frame: Frame, initial: dict[str, int]) -> None:
        if frame.initial_end:
            self.known, self._initial, self.resume = initial, None, frame.revision
        elif frame.type == "ADDED":
            initial[frame.name] = frame.revision or 0

    def refused(self, code: int) -> None:
        """An error in place of the stream (or at its end)."""
        if code == 410:
            self.resume, self._from_zero = None, self.kind == "watch" and self._from_zero  # a relist reads what is most recent
        elif self.resume is None and self.kind == "watch-list":
            self._falls_back = True
