"""The pieces of HTTP/1.1 that the relay speaks: heads and chunks. Bytes in, values out; no sockets.

llhttp reads them (the parser of Node.js, by way of httptools); it decides what breaks the rules. Chunks are joined here: the API
server sends one chunk for each event, and what a burst costs is work per chunk, not per byte.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, HttpResponseParser

HEAD_END = b"\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
_LINE_END = b"\r\n"
_LONGEST_HEAD, _LONGEST_BODY = 64 << 10, 1 << 20
_OUT_OF_THE_ORDINARY = frozenset({b"upgrade", b"expect", b"transfer-encoding", b"content-encoding", b"trailer", b"te"})
_ONCE = frozenset({b"host", b"authorization", b"connection"})


@dataclass(frozen=True, slots=True)
class Head:
    """The first line of a message and its header fields in order, names in lower case. A field may occur more than once."""

    line: bytes
    fields: tuple[tuple[bytes, bytes], ...]

    def get(self, name: bytes) -> bytes:
        """The first field of this name; empty when there is none."""
        return next((value for key, value in self.fields if key == name), b"")

    def without(self, names: Iterable[bytes]) -> "Head":
        left_out = frozenset(names)
        return Head(self.line, tuple(field for field in self.fields if field[0] not in left_out))

    def encode(self) -> bytes:
        return _LINE_END.join([self.line, *(b"%b: %b" % field for field in self.fields)]) + HEAD_END


class Incoming:
    """A message that comes in pieces.

    Attributes:
        head: once it has come.
        is_complete: the last byte has come.
        is_last: the connection ends behind it.
    """

    def __init__(self, kind: type[HttpRequestParser] | type[HttpResponseParser]) -> None:
        self.head: Head | None = None
        self.is_complete = self.is_last = False
        self._start = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self.on_body = self._body.append
        self._parser = kind(self)

    def read_head(self, data: bytes) -> Head:
        """The head that these bytes are, its empty line included. ConnectionError when they are none."""
        self.feed(data)
        if self.head is None:
            raise ConnectionError("expected HTTP, found an empty line")
        return self.head

    def feed(self, data: bytes) -> bytes:
        """What these bytes add to the body. ConnectionError when they break the rules, or another message begins."""
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as err:
            raise ConnectionError(f"expected HTTP, found {data[:60]!r}: {err}") from err
        added = b"".join(self._body)
        self._body.clear()
        return added

    def on_message_begin(self) -> None:
        if self.is_complete:
            raise ValueError

    def on_url(self, part: bytes) -> None:
        self._start += part

    on_status = on_url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields.append((name.lower(), value.strip()))

    def on_headers_complete(self) -> None:
        parser, version = self._parser, b"HTTP/" + self._parser.get_http_version().encode()
        if isinstance(parser, HttpRequestParser):
            line = b"%b %b %b" % (parser.get_method(), self._start, version)
        else:
            line = b"%b %d %b" % (version, parser.get_status_code(), self._start)
        self.head, self.is_last = Head(line, tuple(self._fields)), not parser.should_keep_alive()

    def on_message_complete(self) -> None:
        self.is_complete = True


class Unusual(Exception):
    """A request with more in it than a method, a target and a body of known length, or with a flaw."""


@dataclass(frozen=True, slots=True)
class PlainRequest:
    """A whole request; `size` is how many bytes it took."""

    method: str
    target: str
    head: Head
    body: bytes
    size: int


def plain_request(data: bytes) -> PlainRequest | None:
    """The request that the bytes begin with; None when it is not whole yet. Raises Unusual when it is not a plain one."""
    end = data.find(HEAD_END) + len(HEAD_END)
    if end < len(HEAD_END):
        if len(data) > _LONGEST_HEAD:
            raise Unusual
        return None
    try:
        head = Incoming(HttpRequestParser).read_head(data[:end])
    except ConnectionError:
        raise Unusual from None
    method, target, version = head.line.decode("latin-1").split(" ", 2)
    names = [name for name, _ in head.fields]
    length, connection = int(head.get(b"content-length") or b"0"), head.get(b"connection") or b"keep-alive"
    if not _OUT_OF_THE_ORDINARY.isdisjoint(names) or any(names.count(name) > 1 for name in _ONCE):
        raise Unusual
    if version != "HTTP/1.1" or not target.startswith("/") or connection.lower() != b"keep-alive" or length > _LONGEST_BODY:
        raise Unusual
    size = end + length
    return PlainRequest(method, target, head, data[end:size], size) if len(data) >= size else None


def status_of(head: Head) -> int:
    """The code in an answer's status line; 0 when it is not one."""
    _, _, rest = head.line.partition(b" ")
    return int(rest[:3]) if rest[:3].isdigit() else 0


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
