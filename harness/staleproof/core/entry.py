"""The history's closed union: everything that can happen in a trial, one struct each.

Every entry has `at`, seconds since the trial began on the runner's monotonic clock (the proxy's clock is the same one). Times
order what the *controller* saw and did; commits are ordered by their revision within a resource. Resources are spelt
group-qualified (`pods`, `replicasets.apps`). Requests, streams, faults and steps are referred to by number.
"""

from typing import Any, Literal

import msgspec

Revision = int | None
EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "UNREADABLE"]
Outcome = Literal["ok", "fail", "unknown"]


class _Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="entry", tag=str.lower):
    at: float


class Item(msgspec.Struct, frozen=True, array_like=True):
    """One object of a list answer: namespace, name, uid, revision."""

    namespace: str
    name: str
    uid: str
    revision: Revision


# --- truth ---------------------------------------------------------------------------------------------------------------------


class Committed(_Entry, frozen=True, kw_only=True):
    """kube-apiserver committed a change, as the harness's own direct watch showed it. For DELETED the object is its last state."""

    resource: str
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    namespace: str = ""
    name: str
    uid: str
    revision: int
    object: dict[str, Any]


# --- the controller's requests ---------------------------------------------------------------------------------------------------


class Asked(_Entry, frozen=True, kw_only=True):
    """A request of the controller reached the proxy; nothing has been forwarded yet."""

    request: int
    client: str
    verb: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    selector: str = ""
    precondition_uid: str = ""
    precondition_revision: str = ""
    dry_run: bool = False


class Answered(_Entry, frozen=True, kw_only=True):
    """The answer to a request left for the controller. `unknown`: the controller cannot know whether it was executed.

    For a write or a GET, uid and revision are those of the object in the answer; a DELETE is often answered by a Status, which
    has the uid and no revision.
    """

    request: int
    outcome: Outcome
    code: int = 0
    reason: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    revision: Revision = None
    items: tuple[Item, ...] = ()


class Listed(_Entry, frozen=True, kw_only=True):
    """The answer to a LIST: one snapshot of a collection. `more`: it goes on in another page."""

    request: int
    client: str
    resource: str
    namespace: str = ""
    selector: str = ""
    revision: Revision
    items: tuple[Item, ...] = ()
    more: bool = False


# --- the controller's watches ----------------------------------------------------------------------------------------------------


class Opened(_Entry, frozen=True, kw_only=True):
    """A watch stream was opened. `start` is its resourceVersion parameter; `since`: it was open before the trial, shown so far."""

    stream: int
    client: str
    resource: str
    namespace: str = ""
    selector: str = ""
    start: str = ""
    watch_list: bool = False
    bookmarks: bool = False
    since: Revision = None


class Withheld(_Entry, frozen=True, kw_only=True):
    """A frame arrived at the proxy and was not let through; `fault` is the plan's fault that keeps it."""

    stream: int
    type: EventType
    namespace: str = ""
    name: str = ""
    uid: str = ""
    revision: Revision
    fault: int | None = None


class Delivered(_Entry, frozen=True, kw_only=True):
    """A frame left for the controller."""

    stream: int
    type: EventType
    namespace: str = ""
    name: str = ""
    uid: str = ""
    revision: Revision
    initial_end: bool = False


class Dropped(_Entry, frozen=True, kw_only=True):
    """A frame was thrown away for good (a bookmark, under a legal fault)."""

    stream: int
    type: EventType
    revision: Revision
    fault: int | None = None


class Closed(_Entry, frozen=True, kw_only=True):
    """A watch stream ended. `client`: the controller closed it. `discarded` frames had been withheld and were not sent."""

    stream: int
    how: Literal["clean", "reset", "expired", "cut", "client", "refused"]
    discarded: int = 0
    fault: int | None = None


# --- faults ----------------------------------------------------------------------------------------------------------------------


class FaultOpened(_Entry, frozen=True, kw_only=True):
    """A fault of the plan began to act."""

    fault: int
    why: str


class FaultClosed(_Entry, frozen=True, kw_only=True):
    """A fault of the plan stopped acting."""

    fault: int


class FaultFired(_Entry, frozen=True, kw_only=True):
    """A fault did something to the controller for the first time; `on` says to what."""

    fault: int
    on: str


# --- the runner ------------------------------------------------------------------------------------------------------------------


class StepBegan(_Entry, frozen=True, kw_only=True):
    """The runner is about to do a step of the workload."""

    step: int
    does: str


class StepEnded(_Entry, frozen=True, kw_only=True):
    """The step is done. `idle`: the controller became idle; otherwise the limit ran out while it was still busy."""

    step: int
    idle: bool


class Released(_Entry, frozen=True, kw_only=True):
    """Every fault is closed and everything held has left: from here the controller can catch up."""


class Settled(_Entry, frozen=True, kw_only=True):
    """The end of the settling phase. `ok`: converged and quiet; otherwise `why` says what was still missing at the deadline."""

    ok: bool
    why: str = ""


class Ended(_Entry, frozen=True, kw_only=True):
    """The last entry of a complete trial."""


class Started(_Entry, frozen=True, kw_only=True):
    """The controller process runs. A new life starts with an empty view."""

    life: int
    pid: int = 0


class Exited(_Entry, frozen=True, kw_only=True):
    """The controller process ended without being told to."""

    life: int
    code: int


class Broke(_Entry, frozen=True, kw_only=True):
    """Part of the harness failed: whatever the history seems to show, it proves nothing."""

    where: str
    why: str


Entry = (
    Committed
    | Asked
    | Answered
    | Listed
    | Opened
    | Withheld
    | Delivered
    | Dropped
    | Closed
    | FaultOpened
    | FaultClosed
    | FaultFired
    | StepBegan
    | StepEnded
    | Released
    | Settled
    | Ended
    | Started
    | Exited
    | Broke
)
