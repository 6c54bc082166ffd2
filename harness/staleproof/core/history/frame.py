"""Bytes of a watch response, cut into frames.

A frame is one line of JSON: `{"type": "ADDED", "object": {...}}`. A chunk of the HTTP body is not a frame: one event may span
several chunks and one chunk may carry several events. Only metadata is decoded; the bytes are kept as they came and leave the proxy
unchanged.
"""

from dataclasses import dataclass

import msgspec

from staleproof.core.history.resource_version import Revision, revision

EVENTS = frozenset({"ADDED", "MODIFIED", "DELETED"})
UNREADABLE = "UNREADABLE"
_INITIAL_END = b'"k8s.io/initial-events-end"'


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Event(msgspec.Struct):
    type: str
    object: _Object


_decode = msgspec.json.Decoder(_Event).decode


@dataclass(frozen=True, slots=True)
class Frame:
    """One event, bookmark or error of a watch, with the bytes that carry it (newline included).

    `type` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, or UNREADABLE for a line that is not a watch event.
    `initial_end` marks the bookmark that ends the initial events of a WatchList (KEP-3157).
    """

    type: str
    namespace: str
    name: str
    uid: str
    revision: Revision | None
    initial_end: bool
    raw: bytes

    @property
    def is_event(self) -> bool:
        return self.type in EVENTS


def read_frame(line: bytes) -> Frame:
    """The frame in one line. It never raises: a line that is not a watch event is UNREADABLE."""
    try:
        event = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Frame(UNREADABLE, "", "", "", None, initial_end=False, raw=line)
    meta = event.object.metadata
    end = event.type == "BOOKMARK" and _INITIAL_END in line
    return Frame(event.type, meta.namespace, meta.name, meta.uid, revision(meta.resourceVersion), end, line)


class FrameReader:
    """Cuts a stream of bytes into frames. `feed` returns the complete ones; `rest` holds the bytes of an incomplete one."""

    def __init__(self) -> None:
        self.rest = b""

    def feed(self, data: bytes) -> list[Frame]:
        *lines, self.rest = (self.rest + data).split(b"\n")
        return [read_frame(line + b"\n") for line in lines]


class _Typed(msgspec.Struct):
    apiVersion: str = ""
    kind: str = ""
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _TypedEvent(msgspec.Struct):
    object: _Typed


_decode_typed = msgspec.json.Decoder(_TypedEvent).decode


def bookmark_behind(frame: Frame) -> Frame:
    """An ordinary bookmark at the revision of this event, as the API server would send it for the same type."""
    seen = _decode_typed(frame.raw).object
    metadata = {"resourceVersion": seen.metadata.resourceVersion, "creationTimestamp": None}
    bookmark = {"kind": seen.kind, "apiVersion": seen.apiVersion, "metadata": metadata}
    raw = msgspec.json.encode({"type": "BOOKMARK", "object": bookmark}) + b"\n"
    return Frame("BOOKMARK", "", "", "", frame.revision, initial_end=False, raw=raw)
