"""The entries of a history: a closed union of everything that can happen in a trial, one struct each.

Every entry has `at`, the seconds since the trial began on the runner's monotonic clock, which is the proxy's, too. Times order what
the *controller* saw and did; commits are ordered by their revision within a resource. Resources are spelt group-qualified (`pods`,
`replicasets.apps`). Requests, streams, faults and steps are referred to by number.
"""

from typing import Any, Literal, NewType

import msgspec

from staleproof.core.history.resource_version import Revision

RequestId = NewType("RequestId", int)
"""The proxy's number of a request; 0 is a WATCH."""
StreamId = NewType("StreamId", int)
"""The proxy's number of a watch stream."""
FaultIndex = NewType("FaultIndex", int)
"""The position of a fault in its plan, from 0."""
CallId = NewType("CallId", int)
"""The relay's number of a call to an external system, from 1."""

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "UNREADABLE"]
RequestOutcome = Literal["ok", "fail", "unknown"]
CallEffect = Literal["delay", "reject", "cut", "lose-answer", "stall"]
"""How a call goes wrong: it is answered late; refused, and not executed; its connection ends before it is executed, or after; or it
is executed and never answered, and the connection stays."""
NotificationEffect = Literal["lose", "repeat", "delay"]
"""How a notification goes wrong: it never comes, comes twice, or comes late."""


class _Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="entry", tag=str.lower):
    at: float


class Item(msgspec.Struct, frozen=True, array_like=True):
    """One object of a list answer: namespace, name, uid, revision."""

    namespace: str
    name: str
    uid: str
    revision: Revision | None


# --- truth ---------------------------------------------------------------------------------------------------------------------


class Committed(_Entry, frozen=True, kw_only=True):
    """kube-apiserver committed a change; the harness's own direct watch showed it. For DELETED, `object` is the last state.

    `managers`: who changed it, as `metadata.managedFields` says; empty where that does not say it.
    """

    resource: str
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    namespace: str = ""
    name: str
    uid: str
    revision: Revision
    object: dict[str, Any]
    managers: tuple[str, ...] = ()


# --- the controller's requests ---------------------------------------------------------------------------------------------------


class Asked(_Entry, frozen=True, kw_only=True):
    """A request of the controller reached the proxy; nothing has been forwarded yet. `version`: the resourceVersion that a read
    asks for; empty: the newest state, and in histories of before it was recorded. `precondition_uid` and `precondition_revision`:
    without which a write is refused; those of updates and patches are missing in older histories."""

    request: RequestId
    client: str
    verb: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    selector: str = ""
    version: str = ""
    precondition_uid: str = ""
    precondition_revision: str = ""
    dry_run: bool = False


class Answered(_Entry, frozen=True, kw_only=True):
    """The answer to a request left for the controller. `unknown`: the controller cannot know whether the request was executed.

    For a write or a GET, uid and revision are those of the object in the API server's answer; a DELETE is often answered by a
    Status, which has the uid and no revision. `fault` is the plan's fault that gave this answer in place of the API server's, or
    lost the API server's; then `executed` says what only we know.
    """

    request: RequestId
    outcome: RequestOutcome
    code: int = 0
    reason: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    revision: Revision | None = None
    items: tuple[Item, ...] = ()
    fault: FaultIndex | None = None
    executed: bool | None = None


class Listed(_Entry, frozen=True, kw_only=True):
    """The answer to a LIST: one snapshot of a collection. `more`: another page follows; `fault`: the snapshot was of the past."""

    request: RequestId
    client: str
    resource: str
    namespace: str = ""
    selector: str = ""
    revision: Revision | None
    items: tuple[Item, ...] = ()
    more: bool = False
    fault: FaultIndex | None = None


class Stalled(_Entry, frozen=True, kw_only=True):
    """A request (0: a WATCH) is kept waiting by a fault, and nothing is owed to the controller meanwhile."""

    request: RequestId = RequestId(0)
    verb: str
    resource: str
    fault: FaultIndex


class Resumed(_Entry, frozen=True, kw_only=True):
    """A request that was kept waiting goes on, or its connection is cut. No `fault`: the plan has been replaced meanwhile."""

    request: RequestId = RequestId(0)
    verb: str
    resource: str
    fault: FaultIndex | None = None


class Competed(_Entry, frozen=True, kw_only=True):
    """Another user wrote to the object of a request of the controller just before it was forwarded; or, if that had been `executed`
    by then, before its answer left: not the controller's commit."""

    request: RequestId
    resource: str
    namespace: str = ""
    name: str = ""
    uid: str = ""
    revision: Revision | None = None
    fault: FaultIndex
    executed: bool = False


RequestEntry = Asked | Answered | Listed | Stalled | Resumed | Competed


# --- the controller's watches ----------------------------------------------------------------------------------------------------


class Opened(_Entry, frozen=True, kw_only=True):
    """A watch stream was opened. `start` is its resourceVersion parameter. `since`: it was open before the trial, and had shown
    everything up to this revision."""

    stream: StreamId
    client: str
    resource: str
    namespace: str = ""
    selector: str = ""
    start: str = ""
    watch_list: bool = False
    bookmarks: bool = False
    since: Revision | None = None


class Refused(_Entry, frozen=True, kw_only=True):
    """A WATCH was answered with an error, or cut, before any stream was open. Code 0: no answer. Without `fault`: by the API server
    itself."""

    client: str
    resource: str
    namespace: str = ""
    start: str = ""
    watch_list: bool = False
    code: int
    reason: str = ""
    fault: FaultIndex | None = None


class Withheld(_Entry, frozen=True, kw_only=True):
    """A frame arrived at the proxy and was not let through; `fault` is the plan's fault that keeps it."""

    stream: StreamId
    type: EventType
    namespace: str = ""
    name: str = ""
    uid: str = ""
    revision: Revision | None
    fault: FaultIndex | None = None


class Delivered(_Entry, frozen=True, kw_only=True):
    """A frame left for the controller. `fault`: one that a fault added."""

    stream: StreamId
    type: EventType
    namespace: str = ""
    name: str = ""
    uid: str = ""
    revision: Revision | None
    initial_end: bool = False
    fault: FaultIndex | None = None


class Dropped(_Entry, frozen=True, kw_only=True):
    """A frame was thrown away for good (a bookmark, under a legal fault)."""

    stream: StreamId
    type: EventType
    revision: Revision | None
    fault: FaultIndex | None = None


class Closed(_Entry, frozen=True, kw_only=True):
    """A watch stream ended. `client`: the controller closed it. `discarded` frames had been withheld and were not sent."""

    stream: StreamId
    how: Literal["clean", "truncated", "reset", "expired", "lapsed", "gone", "cut", "client", "refused"]
    discarded: int = 0
    fault: FaultIndex | None = None


WatchEntry = Opened | Refused | Withheld | Delivered | Dropped | Closed


# --- external systems ------------------------------------------------------------------------------------------------------------


class Called(_Entry, frozen=True, kw_only=True):
    """A call of the controller to an external system reached the relay; nothing has been passed on yet.

    `verb` is what it is counted as (`SELECT`, `PUT`), `text` the statement or the path, without secrets. Resource, namespace and
    name are those of the object of Kubernetes that it is about, as its words say; empty: none, or it does not say.
    """

    call: CallId
    system: str
    client: str = ""
    verb: str
    text: str
    resource: str = ""
    namespace: str = ""
    name: str = ""


class Replied(_Entry, frozen=True, kw_only=True):
    """The answer to a call left for the controller, or it is known that none will.

    `unknown`: the controller cannot know whether the call was executed; `executed` says what we know. `effect`: how a fault has
    acted, and `fault` which one of the plan.
    """

    call: CallId
    system: str
    outcome: RequestOutcome
    code: str = ""
    executed: bool | None = None
    effect: CallEffect | None = None
    fault: FaultIndex | None = None


class Notified(_Entry, frozen=True, kw_only=True):
    """An external system notified its listeners. It reached the controller now, unless `effect` says how a fault has acted.
    Resource, namespace and name as in `Called`."""

    system: str
    channel: str
    resource: str = ""
    namespace: str = ""
    name: str = ""
    effect: NotificationEffect | None = None
    fault: FaultIndex | None = None


ExternalChange = Literal["created", "changed", "deleted"]
"""What the harness does to something in an external system, as another user would."""
SystemState = Literal["down", "slow", "up"]
"""What an external system was made to be."""


class Drifted(_Entry, frozen=True, kw_only=True):
    """The harness changed something in an external system behind the controller's back; it is done.

    `kind` and `external` are what it is there, and its name. Resource, namespace and name are those of the object of Kubernetes
    that it belongs to, as in `Called`; empty if that is unknown. `step`: which of the plan; 0: none.
    """

    system: str
    change: ExternalChange
    kind: str
    external: str
    resource: str = ""
    namespace: str = ""
    name: str = ""
    step: int = 0


class Held(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Something that an external system held.

    Attributes:
        kind, external: what it is there, and its name.
        digest: of all its fields; it changes whenever one of them does.
        fields: those that are plain and say nothing secret; a digest in place of every other one.
        resource, namespace, name: the object of Kubernetes that it belongs to, as in `Called`.
    """

    kind: str
    external: str
    digest: str
    fields: dict[str, Any] = {}
    resource: str = ""
    namespace: str = ""
    name: str = ""


class ExternalState(_Entry, frozen=True, kw_only=True):
    """What an external system held when the harness read it, which is no call of the controller's. `objects` is all of it, in
    order of kind and name. It is read at the end of each step and before and after each drift; while a repair is waited for, it is
    read over and over, and recorded when it has changed."""

    system: str
    objects: tuple[Held, ...] = ()


class SystemTurned(_Entry, frozen=True, kw_only=True):
    """The harness had an external system down, answering late by so many `seconds`, or up again as it was; it is so now."""

    system: str
    state: SystemState
    seconds: float = 0.0
    step: int = 0


ExternalEntry = Called | Replied | Notified | Drifted | ExternalState | SystemTurned


# --- faults ----------------------------------------------------------------------------------------------------------------------


class FaultOpened(_Entry, frozen=True, kw_only=True):
    """A fault of the plan began to act."""

    fault: FaultIndex
    why: str


class FaultClosed(_Entry, frozen=True, kw_only=True):
    """A fault of the plan stopped acting."""

    fault: FaultIndex


class FaultFired(_Entry, frozen=True, kw_only=True):
    """A fault did something to the controller for the first time; `on` says to what."""

    fault: FaultIndex
    on: str


class FaultRefused(_Entry, frozen=True, kw_only=True):
    """A fault of the plan did nothing because that would have been hostile (`row` of the legality table), or could not."""

    fault: FaultIndex
    on: str
    row: str = ""
    why: str


class FaultMissed(_Entry, frozen=True, kw_only=True):
    """A fault of the plan closed without having fired; `why` says what did not come."""

    fault: FaultIndex
    why: str


FaultEntry = FaultOpened | FaultClosed | FaultFired | FaultRefused | FaultMissed


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
    """The end of the settling phase. `ok`: converged and quiet; otherwise `why` says what was still missing at the end.

    `overdue`: the last so many seconds of it came after the time that any controller is given. They were waited for what was
    missing by then, which `why` says if nothing is at the end. 0: it was not waited for any longer.
    """

    ok: bool
    why: str = ""
    overdue: float = 0.0


class Ended(_Entry, frozen=True, kw_only=True):
    """The last entry of a complete trial."""


class Stopped(_Entry, frozen=True, kw_only=True):
    """The runner killed (or gently stopped) the controller, or with `paused` stopped its process; `fault` asked for it.

    `program`, here and in entries like this: it is about that further program of the subject; empty: about the controller itself.
    """

    life: int
    program: str = ""
    paused: bool = False
    fault: FaultIndex | None = None


class Continued(_Entry, frozen=True, kw_only=True):
    """The controller's process, which was paused, goes on."""

    life: int
    program: str = ""


class Started(_Entry, frozen=True, kw_only=True):
    """The controller's process runs. A new life starts with an empty view."""

    life: int
    pid: int = 0
    program: str = ""


class Exited(_Entry, frozen=True, kw_only=True):
    """The controller's process ended by itself; it is started again, as a supervisor does.

    `reason`: what is known besides the code. `log` is how its log ends, without secrets. `unrenewed`: how many seconds ago this
    life last wrote a Lease of its own, None if it held none; `renews_every`: the seconds between its last two such writes, None if
    there was only one. Old histories have none of them.
    """

    life: int
    code: int
    reason: str = ""
    log: tuple[str, ...] = ()
    unrenewed: float | None = None
    renews_every: float | None = None
    program: str = ""


class Probed(_Entry, frozen=True, kw_only=True):
    """After the settling the runner made new primaries, in a namespace of their own, to see whether the controller still works.

    `works`: it asked for a write there within `waited` seconds; the last `overdue` of them came after the time that any controller
    is given.
    """

    works: bool
    waited: float
    overdue: float = 0.0


class Sample(msgspec.Struct, frozen=True, array_like=True):
    """One sample of a controller's metrics whose value is a whole number."""

    name: str
    labels: dict[str, str]
    value: int


class Metrics(_Entry, frozen=True, kw_only=True):
    """What the controller's metrics said when the runner read them; only what requirements look at is kept.

    The answer had come at `at` and took `took` seconds: the values are of some moment in between.
    """

    took: float
    samples: tuple[Sample, ...] = ()


WORKLOAD, SELF_CHECK = "workload", "self-check"
"""Where a step could not be done, and where the proxy found that what it sent is not what a watch shows."""


class Broke(_Entry, frozen=True, kw_only=True):
    """Part of the harness failed: the history proves nothing, whatever it seems to show."""

    where: str
    why: str


class Elsewhere(_Entry, frozen=True, kw_only=True):
    """Stands where the history has an entry about another program of the subject than the one by whose view it is judged
    (`core.history.programs`), so that positions stay what they are. It is in no file."""


RunnerEntry = StepBegan | StepEnded | Released | Settled | Ended | Started | Stopped | Continued | Exited | Probed | Metrics | Broke
Entry = Committed | RequestEntry | WatchEntry | ExternalEntry | FaultEntry | RunnerEntry | Elsewhere
