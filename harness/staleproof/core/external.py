"""External systems: what a controller keeps outside Kubernetes, what another user does to it, and how a call to it may go wrong.

A *call* is one thing that a client asks an external system for: a statement, an HTTP request.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import msgspec

from staleproof.core.fault.model import Positive, Seconds, Value
from staleproof.core.history.entry import CallEffect, NotificationEffect, RequestOutcome

OTHER = "staleproof-drift"
"""What another user says where the controller has said something."""
Word = Annotated[str, msgspec.Meta(min_length=1)]


class ExternalObject(Value, frozen=True, kw_only=True):
    """Something that is in an external system.

    Attributes:
        kind: as the adapter calls it, in the plural: `roles`, `databases`, `buckets`.
        name: unique in its kind.
        fields: what can be read and changed of it. A secret is there as a digest, or not at all.
    """

    kind: Word
    name: Word
    fields: dict[str, Any] = msgspec.field(default_factory=dict)


class Create(Value, frozen=True, kw_only=True, tag_field="drift", tag="create"):
    """Another user creates it."""

    object: ExternalObject


class Change(Value, frozen=True, kw_only=True, tag_field="drift", tag="change"):
    """Another user changes these fields of it."""

    kind: Word
    name: Word
    fields: dict[str, Any]


class Delete(Value, frozen=True, kw_only=True, tag_field="drift", tag="delete"):
    """Another user deletes it."""

    kind: Word
    name: Word


Drift = Create | Change | Delete
"""A change of an external system that neither the controller nor Kubernetes has made."""


def otherwise(fields: Mapping[str, Any], bare: Mapping[str, Any]) -> dict[str, Any]:
    """One of these fields, with another value than it has: the first that is not as in something of which nothing was said
    (`bare`), since that is what its maker cares about. Empty: there is none."""
    for name, unsaid in bare.items():
        if name in fields and fields[name] != unsaid:
            return {name: _another(fields[name])}
    return {}


def _another(value: object) -> object:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case dict():
            return {**value, OTHER: OTHER}
    return OTHER


def target(drift: Drift) -> tuple[str, str]:
    """Kind and name of what drifts."""
    return (drift.object.kind, drift.object.name) if isinstance(drift, Create) else (drift.kind, drift.name)


def drifted(state: Iterable[ExternalObject], drift: Drift) -> tuple[ExternalObject, ...]:
    """The state afterwards, in order of kind and name. What is not there cannot change; deleting it leaves all as it is."""
    objects = {(each.kind, each.name): each for each in state}
    match drift:
        case Create(object=obj):
            objects[target(drift)] = obj
        case Change(fields=fields) if (found := objects.get(target(drift))) is not None:
            objects[target(drift)] = msgspec.structs.replace(found, fields=found.fields | fields)
        case Delete():
            objects.pop(target(drift), None)
    return tuple(objects[key] for key in sorted(objects))


class CallFault(Value, frozen=True, kw_only=True, tag_field="fault", tag="calls"):
    """How calls to an external system go wrong.

    Attributes:
        effect: `delay`: the system does at once what it is asked for, and answers late, by `seconds`; `reject`: the answer is
            that the system cannot do it now, and the call does not reach the system; `cut`: the connection ends before the call
            reaches it; `lose-answer`: the system does what it is asked for, and the connection ends before the answer; `stall`: the
            same, and the connection stays.
        seconds: of a delay.
        mentions: only calls that have this in them; empty means all.
        changes: only calls that change something, as their verb says (`changes_something`).
        nth: from which of them on, from 1.
        count: only so many of them; empty means all.
        of: the position in its plan of the fault that this belongs to; empty: it belongs to none.
    """

    effect: CallEffect
    seconds: Seconds | None = None
    mentions: str = ""
    changes: bool = False
    nth: Positive = 1
    count: Positive | None = None
    of: int | None = None


class NotificationFault(Value, frozen=True, kw_only=True, tag_field="fault", tag="notifications"):
    """How notifications of an external system go wrong: they are lost, come twice, or late by `seconds`, and then perhaps behind
    what came after them. Otherwise as in `CallFault`."""

    effect: NotificationEffect
    seconds: Seconds | None = None
    mentions: str = ""
    nth: Positive = 1
    count: Positive | None = None
    of: int | None = None


class SystemFaults(Value, frozen=True, kw_only=True):
    """All that goes wrong with a system from now on; what was there before ends. Of several that concern a call the first acts."""

    system: Word
    faults: tuple[CallFault | NotificationFault, ...] = ()


class CallSeen(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="seen", tag="call"):
    """A client has called an external system; nothing has been passed on yet. It may have secrets in it: it is not stored.

    Attributes:
        at: seconds on the machine's monotonic clock.
        call: the relay's number of the call, from 1.
        client: the user that it has connected as.
        verb: what it is counted as: the first word of a statement, or an HTTP method.
        text: the statement, or the path.
        values: what is sent beside the text and may be words: the parameters of a statement, the body of a request.
    """

    at: float
    call: int
    system: str
    client: str = ""
    verb: str
    text: str
    values: tuple[str, ...] = ()


class AnswerSeen(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="seen", tag="answer"):
    """The answer to a call has left for the client, or it is known that none will.

    Attributes:
        outcome: `unknown`: the client cannot know whether the call was executed.
        code: the error's, or the HTTP status.
        executed: whether the system did it, as far as we know.
        effect: the fault that acted; `of` is as in `CallFault`.
    """

    at: float
    call: int
    system: str
    outcome: RequestOutcome
    code: str = ""
    executed: bool | None = None
    effect: CallEffect | None = None
    of: int | None = None


class NotificationSeen(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="seen", tag="notification"
):
    """A notification came from the system. It leaves for the client now, unless `effect` says that a fault acted; `of` is as in
    `CallFault`."""

    at: float
    system: str
    channel: str
    text: str
    effect: NotificationEffect | None = None
    of: int | None = None


Seen = CallSeen | AnswerSeen | NotificationSeen
"""What a relay reports, in order."""


_ONLY_LOOKS = frozenset(
    {"SELECT", "SHOW", "EXPLAIN", "GET", "HEAD", "OPTIONS", "LISTEN", "UNLISTEN", "SET", "RESET", "DISCARD", "DEALLOCATE", "CLOSE",
     "FETCH", "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "DECLARE", "LOCK", "PREPARE", ""}
)  # fmt: skip


def changes_something(verb: str) -> bool:
    """Whether a call that is counted as this is there to change something. A statement that begins otherwise than it goes on (`WITH
    … INSERT`) is taken for one that is."""
    return verb.upper() not in _ONLY_LOOKS


def faults_problem(faults: Iterable[CallFault | NotificationFault]) -> str:
    """What makes no sense in them, in words; empty when they are right."""
    for each in faults:
        if (each.effect == "delay") is (each.seconds is None):
            return f"{each.effect}: a delay needs seconds" if each.seconds is None else f"{each.effect}: only a delay has seconds"
    return ""
