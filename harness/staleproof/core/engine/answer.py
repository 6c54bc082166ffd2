"""What the proxy reads in bodies: metadata, never content. Answers come in JSON, requests in JSON or protobuf."""

from dataclasses import dataclass

import msgspec

from staleproof.core.engine import protobuf
from staleproof.core.history.entry import Item, RequestOutcome
from staleproof.core.history.resource_version import Revision, revision


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    # ListMeta
    continue_: str = msgspec.field(default="", name="continue")


class _Details(msgspec.Struct):
    name: str = ""
    uid: str = ""


class _Item(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Object(_Item):
    """An object whose own `items`, `reason` or `details` mean something else: we read only its metadata."""

    kind: str = ""


class _Document(_Object):
    """An object, a list, a Table or a Status, by whichever fields are there."""

    items: list[_Item] | None = None
    reason: str = ""
    details: _Details | None = None


class _TableRow(msgspec.Struct):
    object: _Item = msgspec.field(default_factory=_Item)


class _Table(msgspec.Struct):
    rows: list[_TableRow] | None = None


class _Preconditions(msgspec.Struct):
    uid: str | None = None
    resourceVersion: str | None = None


class _DeleteOptions(msgspec.Struct):
    preconditions: _Preconditions | None = None
    dryRun: list[str] | None = None


class _Eviction(msgspec.Struct):
    deleteOptions: _DeleteOptions | None = None


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
_named = msgspec.json.Decoder(_Item)
_object = msgspec.json.Decoder(_Object)
_table = msgspec.json.Decoder(_Table)
_options = msgspec.json.Decoder(_DeleteOptions)
_eviction = msgspec.json.Decoder(_Eviction)
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


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
        rows = document.items if document.kind != "Table" else [row.object for row in _table.decode(body).rows or []]
    except _NOT_JSON:
        return Answer()
    meta, details, listed = document.metadata, document.details or _Details(), [row.metadata for row in rows or ()]
    return Answer(
        namespace=meta.namespace,
        name=meta.name or details.name,
        uid=meta.uid or details.uid,
        revision=revision(meta.resourceVersion),
        reason=document.reason if document.kind == "Status" else "",
        items=tuple(Item(each.namespace, each.name, each.uid, revision(each.resourceVersion)) for each in listed),
        more=bool(meta.continue_),
    )


def _read_document(body: bytes) -> _Document:
    try:
        return _document.decode(body)
    except msgspec.ValidationError:
        found = _object.decode(body)
        return _Document(found.metadata, found.kind)


def read_name(body: bytes) -> str:
    """metadata.name of an object in JSON or protobuf; empty when it has none or cannot be read."""
    if protobuf.is_protobuf(body):
        return protobuf.name_in(body)
    try:
        return _named.decode(body).metadata.name
    except _NOT_JSON:
        return ""


def read_revision(body: bytes) -> str:
    """metadata.resourceVersion of an object in JSON or protobuf, which an update, or a patch that has it, insists on; empty when it
    has none or cannot be read."""
    if protobuf.is_protobuf(body):
        return protobuf.revision_in(body)
    try:
        return _named.decode(body).metadata.resourceVersion
    except _NOT_JSON:
        return ""


def read_preconditions(body: bytes, *, evicts: bool = False) -> tuple[str, str]:
    """uid and resourceVersion that a delete or an eviction insists on, in JSON or protobuf; empty where it does not."""
    if protobuf.is_protobuf(body):
        return protobuf.preconditions_in(body, evicts=evicts)
    preconditions = _read_options(body, evicts=evicts).preconditions or _Preconditions()
    return preconditions.uid or "", preconditions.resourceVersion or ""


def read_dry_run(body: bytes, *, evicts: bool = False) -> bool:
    """Whether the DeleteOptions of a delete or an eviction, in JSON or protobuf, ask for nothing to be stored."""
    if protobuf.is_protobuf(body):
        return protobuf.is_dry_run_in(body, evicts=evicts)
    return bool(_read_options(body, evicts=evicts).dryRun)


def _read_options(body: bytes, *, evicts: bool) -> _DeleteOptions:
    try:
        return (_eviction.decode(body).deleteOptions if evicts else _options.decode(body)) or _DeleteOptions()
    except _NOT_JSON:
        return _DeleteOptions()
