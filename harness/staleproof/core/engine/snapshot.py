"""How to ask the API server for an earlier state, and how to turn what it says into an answer to what the client asked.

The past is never put together here: a LIST of exactly one resourceVersion (API concepts, resourceVersionMatch=Exact) is the
collection as it was at that revision, list metadata, selectors, PartialObjectMetadata and Table included.
"""

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from staleproof.core.history.request import ApiRequest, one_object

_LEFT_OUT = frozenset(
    {"resourceVersion", "resourceVersionMatch", "limit", "continue", "watch", "allowWatchBookmarks", "timeoutSeconds", "timeout",
     "sendInitialEvents"}
)  # fmt: skip

_WATCH_PREFIX = re.compile(r"^(/api/[^/]+/|/apis/[^/]+/[^/]+/)watch/")
"""/api/v1/watch/pods is the deprecated spelling of a watch of /api/v1/pods."""


class _Meta(msgspec.Struct):
    resourceVersion: str = ""


class _List(msgspec.Struct):
    """A list, or a Table. One of metadata has `"items":null` when it is empty (apiserver pkg/endpoints/handlers/response.go,
    asPartialObjectMetadataList)."""

    kind: str = ""
    apiVersion: str = ""
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    items: list[dict[str, msgspec.Raw]] | None = None
    columnDefinitions: msgspec.Raw = msgspec.Raw(b"null")
    rows: list[msgspec.Raw] | None = None


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class _Row(msgspec.Struct):
    object: _Object | None = None


_decode = msgspec.json.Decoder(_List).decode


def target_at(request: ApiRequest, target: str, revision: int) -> str:
    """The request target of the LIST that shows at `revision` what this LIST, WATCH or GET asks for.

    A `limit` is left out, as the watch cache does for resourceVersion 0. A GET or a WATCH of one object becomes a
    LIST of one name.
    """
    url = urlsplit(target)
    path = url.path
    query = [(key, value) for key, value in parse_qsl(url.query, keep_blank_values=True) if key not in _LEFT_OUT]
    if request.is_watch:
        path = _WATCH_PREFIX.sub(r"\1", path)
    if request.name:
        path = path.rstrip("/").rpartition("/")[0]
        query = [(key, value) for key, value in query if key != "fieldSelector"] + [("fieldSelector", one_object(request.name))]
    query += [("resourceVersion", str(revision)), ("resourceVersionMatch", "Exact")]
    return f"{path}?{urlencode(query)}"


def watch_from(target: str, revision: int) -> str:
    """The target of the same WATCH, starting behind this revision."""
    url = urlsplit(target)
    query = [(key, value) for key, value in parse_qsl(url.query, keep_blank_values=True) if key != "resourceVersion"]
    return f"{url.path}?{urlencode([*query, ('resourceVersion', str(revision))])}"


def is_list(body: bytes) -> bool:
    """Whether it can be told what these bytes list: an aggregated API may answer in its own way."""
    try:
        _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def single(body: bytes) -> bytes | None:
    """The only object of a list, as a GET answers it; None when there is none."""
    return next(_objects(body), None)


def initial_events(body: bytes) -> bytes:
    """The objects of a list as ADDED events, one a line."""
    return b"".join(b'{"type":"ADDED","object":%b}\n' % obj for obj in _objects(body))


def _objects(body: bytes) -> Iterator[bytes]:
    found = _decode(body)
    for row in found.rows or ():
        yield _one_row(found, row)
    for item in found.items or ():
        yield _typed(found, item)


def _typed(found: _List, item: dict[str, msgspec.Raw]) -> bytes:
    """Items of built-in lists have no kind of their own, single objects do."""
    return msgspec.json.encode({"kind": found.kind.removesuffix("List"), "apiVersion": found.apiVersion, **item})


def _one_row(found: _List, row: msgspec.Raw) -> bytes:
    """A Table is a list in rows; of one object, too, and then its metadata is the object's."""
    obj = msgspec.json.decode(row, type=_Row).object
    metadata = found.metadata if obj is None else obj.metadata  # includeObject=None: the object's are not known
    table = {"kind": found.kind, "apiVersion": found.apiVersion, "metadata": metadata}
    return msgspec.json.encode({**table, "columnDefinitions": found.columnDefinitions, "rows": [row]})
