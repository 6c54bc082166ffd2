"""timeline.json: everything that a picture of a trial needs, as one value.

All times are seconds since the trial began. `entry` is the position of an entry in the history, from 0: marks, witnesses and lines
of stories refer to one another by it. What lasts has `since` and `until`; an `until` of None lasts to the end of the trial.
"""

from typing import Any, Literal

import msgspec

from staleproof.core.history.entry import CallEffect, ExternalChange, NotificationEffect
from staleproof.core.plan.plan import API_VERSION, ApiVersion

Means = Literal["frame", "list", "get", "answer"]
Maker = Literal["controller", "user"]
"""Whose write a revision is: the controller's under test, or any other user's."""
EventKind = Literal[
    "stream opened", "stream ended", "watch refused", "frame dropped", "request waiting", "request resumed", "competing write",
    "killed", "paused", "continued", "exited", "started", "fault fired", "released", "settled", "probed", "harness failed",
]  # fmt: skip


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Keys are lower camel case; what has its default is left out."""


class Revision(_Struct, frozen=True, kw_only=True):
    """A state that kube-apiserver committed. `request`: the number of the controller's request that made it; 0: another user did.
    `managers` changed it, as `metadata.managedFields` says. `deletes`: it is gone, or about to go."""

    entry: int
    at: float
    revision: int
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    by: Maker = "user"
    request: int = 0
    managers: tuple[str, ...] = ()
    deletes: bool = False


class Showing(_Struct, frozen=True, kw_only=True):
    """What a life of the controller knew of an object from here on. `revision`: the newest that it was shown or learnt of, or,
    after a list of the past, the newest since then. `gone`: it was shown that the object is gone."""

    entry: int
    at: float
    life: int
    revision: int
    means: Means
    gone: bool = False
    replica: int = 0


class Stale(_Struct, frozen=True, kw_only=True):
    """A revision was committed, and the controller, which follows the object, had not been shown it, or was shown what had been so
    before. `entry`: its commit."""

    entry: int
    revision: int
    since: float
    until: float | None = None
    replica: int = 0


class Object(_Struct, frozen=True, kw_only=True):
    """One incarnation of an object, known by its uid: above the line its revisions, below it what was shown."""

    uid: str
    namespace: str
    name: str
    revisions: tuple[Revision, ...] = ()
    shown: tuple[Showing, ...] = ()
    stale: tuple[Stale, ...] = ()


class Kept(_Struct, frozen=True, kw_only=True):
    """A frame of the resource was being kept from the controller all that time. `entry`: from which one on."""

    entry: int
    since: float
    until: float | None = None
    replica: int = 0


class Behind(_Struct, frozen=True, kw_only=True):
    """From here on so many revisions of the resource were committed and not shown."""

    at: float
    revisions: int
    replica: int = 0


class Lane(_Struct, frozen=True, kw_only=True):
    """A resource. `primary`: the workload applies objects of it."""

    name: str
    primary: bool = False
    objects: tuple[Object, ...] = ()
    kept: tuple[Kept, ...] = ()
    behind: tuple[Behind, ...] = ()


class Band(_Struct, frozen=True, kw_only=True):
    """A fault was open. `effects`: what it does to a controller (`core.fault.effects`), in order of the alphabet; `fired`: it did
    something. `lane`: the resource that it concerns, or `*`."""

    fault: int
    entry: int
    since: float
    until: float | None = None
    name: str
    lane: str
    effects: tuple[str, ...]
    says: str
    fired: bool = False


class Request(_Struct, frozen=True, kw_only=True):
    """A request of the controller. `changed`: the commits that it made, by their entries. Without `answered` no answer was seen.

    `rejected`: a fault answered in place of the API server, and it was not executed; `lost`: executed, and the controller did not
    hear of it, or cannot know; `past`: a fault answered with what had been so before.
    """

    number: int
    entry: int
    at: float
    answer: int | None = None
    answered: float | None = None
    verb: str
    lane: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    code: int = 0
    reason: str = ""
    rejected: bool = False
    lost: bool = False
    past: bool = False
    changed: tuple[int, ...] = ()
    replica: int = 0


class Event(_Struct, frozen=True, kw_only=True):
    """What else happened, to a stream, a request or the process. `lane` is empty for what concerns all of it; `fault`: the number
    of the fault that did it, None for none."""

    entry: int
    at: float
    kind: EventKind
    lane: str = ""
    says: str = ""
    fault: int | None = None
    replica: int = 0


class Call(_Struct, frozen=True, kw_only=True):
    """A call of the controller to an external system. `changes`: it was there to change something, as its verb says. Resource,
    namespace and name are those of the object of Kubernetes that it is about, empty where it does not say. Without `answered` no
    answer was seen.

    `rejected`: it was refused, by the system or by a fault, and not executed; `lost`: the controller cannot know whether it was
    executed, and `executed` says what is known of that. `effect`: how a fault acted, and `fault` which one.
    """

    number: int
    entry: int
    at: float
    answer: int | None = None
    answered: float | None = None
    verb: str
    text: str
    changes: bool = False
    resource: str = ""
    namespace: str = ""
    name: str = ""
    code: str = ""
    rejected: bool = False
    lost: bool = False
    executed: bool | None = None
    effect: CallEffect | None = None
    fault: int | None = None


class Notification(_Struct, frozen=True, kw_only=True):
    """An external system notified its listeners; it reached the controller then, unless `effect` says how a fault acted."""

    entry: int
    at: float
    channel: str
    resource: str = ""
    namespace: str = ""
    name: str = ""
    effect: NotificationEffect | None = None
    fault: int | None = None


class Drift(_Struct, frozen=True, kw_only=True):
    """Another user changed something in an external system. `kind` and `external`: what it is there, and its name. `step`: which of
    the workload did it; 0: none."""

    entry: int
    at: float
    change: ExternalChange
    kind: str
    external: str
    step: int = 0


class Outage(_Struct, frozen=True, kw_only=True):
    """An external system was down, or answered late by so many `seconds`. `entry`: where that began; `end`: where it ended."""

    entry: int
    since: float
    end: int | None = None
    until: float | None = None
    state: Literal["down", "slow"]
    seconds: float = 0.0


class Seen(_Struct, frozen=True, kw_only=True):
    """Something in an external system was otherwise than at the look before, which was at `after`: it happened between the two."""

    entry: int
    at: float
    after: float
    change: ExternalChange


class Thing(_Struct, frozen=True, kw_only=True):
    """Something that an external system held when it was looked at. Resource, namespace and name are those of the object of
    Kubernetes that it belongs to, empty where that is not known."""

    kind: str
    external: str
    resource: str = ""
    namespace: str = ""
    name: str = ""
    seen: tuple[Seen, ...] = ()


class System(_Struct, frozen=True, kw_only=True):
    """An external system: what it was asked for, its notifications, what others did there, and what it held."""

    name: str
    calls: tuple[Call, ...] = ()
    notifications: tuple[Notification, ...] = ()
    drifts: tuple[Drift, ...] = ()
    outages: tuple[Outage, ...] = ()
    things: tuple[Thing, ...] = ()


class Reading(_Struct, frozen=True, array_like=True):
    """A value that the controller's metrics had at some seconds."""

    at: float
    value: int


class Series(_Struct, frozen=True, kw_only=True):
    """What the controller's metrics said, reading by reading, of a resource, or of a queue by its name.

    `informer`: so many revisions of the trial that were committed before the reading were newer than what its informer said to
    have; `queue`: the depth of a queue.
    """

    what: Literal["informer", "queue"]
    of: str
    readings: tuple[Reading, ...]


class Step(_Struct, frozen=True, kw_only=True):
    """A step of the workload."""

    number: int
    entry: int
    since: float
    until: float | None = None
    does: str


class LifeSpan(_Struct, frozen=True, kw_only=True):
    """A life of the controller's process: it begins with having been shown nothing. Life 0 began before the trial."""

    life: int
    since: float
    until: float | None = None
    replica: int = 0


class Leadership(_Struct, frozen=True, kw_only=True):
    """A replica was the leader."""

    replica: int
    since: float
    until: float | None = None


class Witness(_Struct, frozen=True, kw_only=True):
    """A line of a story, by its number from 1, and the entries that it is about."""

    line: int
    at: float
    says: str
    entries: tuple[int, ...]


class Tale(_Struct, frozen=True, kw_only=True):
    """The story of a finding: see `checks.story.narrative.Story`."""

    requirement: str
    severity: str
    headline: str
    cause: str = ""
    also: tuple[str, ...] = ()
    likewise: tuple[str, ...] = ()
    heading: str = ""
    compared: str = ""
    remedy: str
    lines: tuple[Witness, ...]


class Timeline(_Struct, frozen=True, kw_only=True):
    """A trial as it can be drawn. `replicas`: the controller's clients, one for each; what belongs to a replica names its place. A
    replica of which nothing is `shown` anywhere has no view: it is not known what it had been shown.
    `seconds`: when the last entry was. `metrics`: empty where the controller's were not read."""

    api_version: ApiVersion = API_VERSION
    kind: Literal["Timeline"] = "Timeline"
    title: str
    scenario: str
    namespace: str
    seconds: float
    entries: int
    replicas: tuple[str, ...] = ("controller",)
    lives: tuple[LifeSpan, ...] = ()
    leaders: tuple[Leadership, ...] = ()
    steps: tuple[Step, ...] = ()
    bands: tuple[Band, ...] = ()
    lanes: tuple[Lane, ...] = ()
    systems: tuple[System, ...] = ()
    metrics: tuple[Series, ...] = ()
    requests: tuple[Request, ...] = ()
    events: tuple[Event, ...] = ()
    tales: tuple[Tale, ...] = ()


def encode(timeline: Timeline) -> bytes:
    """timeline.json. Constants are written, too: a file must say what it is."""
    said = {"apiVersion": timeline.api_version, "kind": timeline.kind}
    return msgspec.json.encode(said | msgspec.to_builtins(timeline))


def schema() -> dict[str, Any]:
    """Its JSON Schema."""
    return msgspec.json.schema(Timeline)
