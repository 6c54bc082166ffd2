"""The pieces of HTTP/1.1 that the relay speaks: heads and chunks. Bytes in, values out; no sockets.

Chunks are joined where the bytes come in and where they go out: the API server sends one chunk for each event, and what a burst
costs is work per chunk, not per byte. A general parser (h11) takes several times as long for one chunk as the rest of the
proxy takes for the event in it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

HEAD_END = b"\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
_LINE_END = b"\r\n"
_LONGEST_SIZE_LINE = 256
_LONGEST_HEAD, _LONGEST_BODY = 64 << 10, 1 << 20
_FIELDS = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*\r\n)+\r\n")
_REQUEST_LINE = re.compile(rb"([A-Z]+) (/[!-~]*) HTTP/1\.1\r\n")
_OUT_OF_THE_ORDINARY = frozenset({b"upgrade", b"expect", b"transfer-encoding", b"content-encoding", b"trailer", b"te"})
_ONCE = frozenset({b"host", b"authorization", b"connection", b"content-length"})


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


def parse_head(data: bytes) -> Head:
    """A head, its empty line included."""
    line, *fields = data.removesuffix(HEAD_END).split(_LINE_END)
    parted = (field.partition(b":") for field in fields)
    return Head(line, tuple((key.strip().lower(), value.strip()) for key, _, value in parted))


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
    line = _REQUEST_LINE.match(data, 0, end)
    if line is None or _FIELDS.fullmatch(data, line.end(), end) is None:
        raise Unusual
    head = parse_head(data[:end])
    names = [name for name, _ in head.fields]
    length, connection = head.get(b"content-length") or b"0", head.get(b"connection") or b"keep-alive"
    if not _OUT_OF_THE_ORDINARY.isdisjoint(names) or any(names.count(name) > 1 for name in _ONCE):
        raise Unusual
    if connection.lower() != b"keep-alive" or not length.isdigit() or int(length) > _LONGEST_BODY:
        raise Unusual
    size = end + int(length)
    if len(data) < size:
        return None
    return PlainRequest(line[1].decode(), line[2].decode(), head, data[end:size], size)


def status_of(head: Head) -> int:
    """The code in an answer's status line; 0 when it is not one."""
    _, _, rest = head.line.partition(b" ")
    return int(rest[:3]) if rest[:3].isdigit() else 0


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class Dechunker:
    """Cuts the chunk sizes out of a body. `over`: the last chunk has come; what follows it (trailers) is ignored."""

    def __init__(self) -> None:
        self.over = False
        self._rest = b""

    @property
    def is_whole(self) -> bool:
        """Whether the last byte of the message has come: the empty line behind the last chunk and what follows it."""
        return self.over and self._rest.endswith(HEAD_END)

    def feed(self, data: bytes) -> bytes:
        """The whole chunks so far, joined; what is incomplete is kept.

        Raises:
            ValueError: this is not a chunked body.
        """
        buffer, at, out = self._rest + data, 0, []
        while not self.over and (line_end := buffer.find(_LINE_END, at)) >= 0:
            size = int(buffer[at:line_end].partition(b";")[0], 16)
            if size < 0:
                raise ValueError(f"expected the size of a chunk, found {size}")
            begin = line_end + 2
            end = begin + size
            if size == 0:
                self.over = True
            elif len(buffer) < end + 2:
                break
            elif buffer[end : end + 2] != _LINE_END:
                raise ValueError(f"expected the end of a chunk, found {buffer[end : end + 2]!r}")
            else:
                out.append(buffer[begin:end])
                at = end + 2
        self._rest = buffer[at:]
        if not self.over and not out and len(self._rest) > _LONGEST_SIZE_LINE and _LINE_END not in self._rest[:_LONGEST_SIZE_LINE]:
            raise ValueError(f"expected the size of a chunk, found {self._rest[:20]!r}")
        return b"".join(out)
