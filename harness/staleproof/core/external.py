"""External systems: what a controller keeps outside Kubernetes, what somebody else does to it, and how a call to it may go wrong.

A *call* is one thing that a client asks an external system for: a statement, an HTTP request.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

from staleproof.core.fault.model import Positive, Seconds, Value

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
    """Somebody else creates it."""

    object: ExternalObject


class Change(Value, frozen=True, kw_only=True, tag_field="drift", tag="change"):
    """Somebody else changes these fields of it."""

    kind: Word
    name: Word
    fields: dict[str, Any]


class Delete(Value, frozen=True, kw_only=True, tag_field="drift", tag="delete"):
    """Somebody else deletes it."""

    kind: Word
    name: Word


Drift = Create | Change | Delete
"""A change of an external system that neither the controller nor Kubernetes has made."""


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


CallEffect = Literal["delay", "reject", "cut", "lose-answer"]


class CallFault(Value, frozen=True, kw_only=True):
    """How calls to an external system go wrong.

    Attributes:
        effect: `delay`: the call reaches the system late, by `seconds`; `reject`: the client is told that the system cannot do it
            now, and the system is not asked; `cut`: the connection ends before the system is asked; `lose-answer`: the system
            does what was asked, and the connection ends before the answer.
        seconds: of a delay.
        mentions: only calls that have this word; empty means all.
        count: only so many of them; empty means all.
    """

    effect: CallEffect
    seconds: Seconds | None = None
    mentions: str = ""
    count: Positive | None = None
