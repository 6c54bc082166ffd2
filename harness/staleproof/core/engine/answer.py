"""What the proxy reads in the body of an answer: metadata, never content. Also the preconditions in a delete's body."""

from dataclasses import dataclass

import msgspec

from staleproof.core.engine import protobuf
from staleproof.core.entry import Item, RequestOutcome
from staleproof.core.resource_version import Revision, revision


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    # ListMeta
    continue_: str = msgspec.field(default="", name="continue")


class _Partial(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Details(msgspec.Struct):
    name: str = ""
    uid: str = ""


class _Document(msgspec.Struct):
    """An object, a list, a Table or a Status, by whichever fields are there."""

    kind: str = ""
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    items: list[_Partial] | None = None
    reason: str = ""
    details: _Details | None = None


class _Object(msgspec.Struct):
    """An object whose own `items`, `reason` or `details` mean something else: we read only its metadata."""

    kind: str = ""
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _TableRow(msgspec.Struct):
    object: _Partial = msgspec.field(default_factory=_Partial)


class _Table(msgspec.Struct):
    rows: list[_TableRow] | None = None


class _Preconditions(msgspec.Struct):
    uid: str | None = None
    resourceVersion: str | None = None


class _DeleteOptions(msgspec.Struct):
    preconditions: _Preconditions | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Names and versions in an answer. For a list, `revision` is the list's and `items` are its objects."""

    namespace: str = ""
    name: str = ""
    uid: str = ""
    revision: Revision | None = None
    reason: str = ""
    items: tuple[Item, ...] = ()
    more: bool = False


_document = msgspec.json.Decoder(_Document)
_object = msgspec.json.Decoder(_Object)
_table = msgspec.json.Decoder(_Table)
_options = msgspec.json.Decoder(_DeleteOptions)


def outcome_of(code: int, *, retry_after: bool) -> RequestOutcome:
    """What the client may conclude from a status.

    Retry-After is sent only for requests that were not executed (legality rows 28, 29, 31). Any other 5xx may have been sent after
    the execution, or while it still goes on (row 30).
    """
    if 200 <= code < 300:
        return "ok"
    return "unknown" if code >= 500 and not retry_after else "fail"


def read_answer(body: bytes) -> Answer:
    """What the answer says. Never raises: in one that is not JSON (a log, an error page) there is nothing for us."""
    try:
        document = _read_document(body)
        partials = document.items if document.kind != "Table" else [row.object for row in _table.decode(body).rows or []]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Answer()
    meta, details = document.metadata, document.details or _Details()
    return Answer(
        namespace=meta.namespace,
        name=meta.name or details.name,
        uid=meta.uid or details.uid,
        revision=revision(meta.resourceVersion),
        reason=document.reason if document.kind == "Status" else "",
        items=tuple(_item(partial.metadata) for partial in partials or ()),
        more=bool(meta.continue_),
    )


def _read_document(body: bytes) -> _Document:
    try:
        return _document.decode(body)
    except msgspec.ValidationError:
        found = _object.decode(body)
        return _Document(found.kind, found.metadata)


def _item(meta: _Metadata) -> Item:
    return Item(meta.namespace, meta.name, meta.uid, revision(meta.resourceVersion))


def read_preconditions(body: bytes) -> tuple[str, str]:
    """uid and resourceVersion that a delete insists on, in JSON or protobuf; empty where it does not."""
    if protobuf.is_protobuf(body):
        return protobuf.preconditions_in(body)
    try:
        preconditions = _options.decode(body).preconditions or _Preconditions()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "", ""
    return preconditions.uid or "", preconditions.resourceVersion or ""
