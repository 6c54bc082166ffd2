"""The frontend/backend protocol of PostgreSQL (version 3): what a client asks for, what the server answers. Bytes in, values out.

A client's messages are cut into *batches*: each ends where the server will say that it is ready for the next (a simple query, or
Sync). A call is a simple query, or an Execute with the statement that was prepared for it. A server's messages come one by one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

_SSL, _GSS, _CANCEL = 80877103, 80877104, 80877102
_LENGTH = 4
_QUERY, _PARSE, _BIND, _EXECUTE, _SYNC, _FLUSH, _CLOSE = b"Q", b"P", b"B", b"E", b"S", b"H", b"C"
_IN_BATCH = frozenset({_PARSE, _BIND, _EXECUTE, _CLOSE, b"D"})
READY, ERROR, NOTIFICATION = b"Z", b"E", b"A"


class ProtocolError(ValueError):
    """These bytes are of another protocol."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A call: its text, and the parameters that are text. `verb` is what it is counted as."""

    text: str
    values: tuple[str, ...] = ()

    @property
    def verb(self) -> str:
        words = self.text.split(maxsplit=1)
        return words[0].rstrip(";").upper() if words else ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of a client that belong together. `is_answered`: the server says afterwards that it is ready."""

    data: bytes
    calls: tuple[Statement, ...] = ()
    is_answered: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One of the server's. `data` is all of it; `type` is empty for the one byte that answers a request for encryption."""

    type: bytes
    data: bytes

    @property
    def body(self) -> bytes:
        return self.data[1 + _LENGTH :]


class Frontend:
    """A fold over what a client sends. `user` is the user that it connects as, once it has named one."""

    def __init__(self) -> None:
        self.user = ""
        self.asked_for_encryption = 0
        self._started = False
        self._rest = b""
        self._batch: list[bytes] = []
        self._calls: list[Statement] = []
        self._prepared: dict[bytes, str] = {}
        self._portals: dict[bytes, Statement] = {}

    def feed(self, data: bytes) -> Iterator[Batch]:
        """The batches that are complete with this. ProtocolError when it is no client of PostgreSQL."""
        self._rest += data
        while (message := self._next()) is not None:
            if not self._started:
                self._start(message)
                yield Batch(message)
            elif (batch := self._take(message[:1], message)) is not None:
                yield batch

    def _next(self) -> bytes | None:
        head = 1 if self._started else 0
        if len(self._rest) < head + _LENGTH:
            return None
        size = head + _size(self._rest[head:])
        if len(self._rest) < size:
            return None
        message, self._rest = self._rest[:size], self._rest[size:]
        return message

    def _start(self, message: bytes) -> None:
        code = int.from_bytes(message[_LENGTH : 2 * _LENGTH])
        if code in (_SSL, _GSS):
            self.asked_for_encryption += 1
        elif code != _CANCEL:
            self._started = True
            words = message[2 * _LENGTH :].split(b"\0")
            self.user = dict(zip(words[::2], words[1::2], strict=False)).get(b"user", b"").decode(errors="replace")

    def _take(self, kind: bytes, message: bytes) -> Batch | None:
        body = message[1 + _LENGTH :]
        if kind == _QUERY:
            return Batch(message, (Statement(_text(body)),), is_answered=True)
        if kind not in _IN_BATCH | {_SYNC, _FLUSH}:
            return Batch(message)  # a password, data of a COPY, a farewell
        self._note(kind, body)
        self._batch.append(message)
        if kind not in (_SYNC, _FLUSH):
            return None
        batch = Batch(b"".join(self._batch), tuple(self._calls), is_answered=kind == _SYNC)
        self._batch, self._calls = [], []
        return batch

    def _note(self, kind: bytes, body: bytes) -> None:
        if kind == _PARSE:
            name, text, _ = body.split(b"\0", 2)
            self._prepared[name] = text.decode(errors="replace")
        elif kind == _BIND:
            portal, name, rest = body.split(b"\0", 2)
            self._portals[portal] = Statement(self._prepared.get(name, ""), tuple(_values(rest)))
        elif kind == _EXECUTE:
            self._calls.append(self._portals.get(body.partition(b"\0")[0], Statement("")))


class Backend:
    """A fold over what a server sends to a client whose messages `frontend` has been fed."""

    def __init__(self, frontend: Frontend) -> None:
        self._frontend = frontend
        self._refused = 0
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages that are complete with this. ProtocolError when it is no server of PostgreSQL."""
        self._rest += data
        while (size := self._size()) is not None:
            message, self._rest = self._rest[:size], self._rest[size:]
            yield Message(message[:1] if size > 1 else b"", message)

    def _size(self) -> int | None:
        if self._rest and self._refused < self._frontend.asked_for_encryption:
            self._refused += 1
            return 1
        if len(self._rest) < 1 + _LENGTH:
            return None
        size = 1 + _size(self._rest[1:])
        return size if len(self._rest) >= size else None


def error_code(message: Message) -> str:
    """The SQLSTATE of an error, as `42704`."""
    fields = message.body.split(b"\0")
    return next((field[1:].decode(errors="replace") for field in fields if field[:1] == b"C"), "")


def notification(message: Message) -> tuple[str, str]:
    """Channel and payload."""
    channel, payload, *_ = message.body[_LENGTH:].split(b"\0")
    return channel.decode(errors="replace"), payload.decode(errors="replace")


REJECTED = "53300"
"""The SQLSTATE with which calls are rejected: too many connections."""


def rejection(status: bytes) -> bytes:
    """What a server says that cannot do it now. `status` is that of the last Ready: a transaction has failed with it."""
    fields = (b"SERROR", b"VERROR", b"C" + REJECTED.encode(), b"Msorry, too many clients already", b"")
    return _message(ERROR, b"\0".join(fields) + b"\0") + _message(READY, b"I" if status == b"I" else b"E")


def _size(data: bytes) -> int:
    """How long a message says that it is, its length included."""
    size = int.from_bytes(data[:_LENGTH], signed=True)
    if size < _LENGTH:
        raise ProtocolError(f"a message of {size} bytes")
    return size


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + (len(body) + _LENGTH).to_bytes(_LENGTH) + body


def _text(body: bytes) -> str:
    return body.rstrip(b"\0").decode(errors="replace")


def _values(rest: bytes) -> Iterator[str]:
    """The parameters of a Bind, behind the names: those that are printable text, whatever format they are said to have."""
    formats = int.from_bytes(rest[:2])
    at = 2 + 2 * formats
    count, at = int.from_bytes(rest[at : at + 2]), at + 2
    for _ in range(count):
        size, at = int.from_bytes(rest[at : at + 4], signed=True), at + 4
        value, at = rest[at : at + max(size, 0)], at + max(size, 0)
        try:
            text = value.decode()
        except UnicodeDecodeError:
            continue
        if text and text.isprintable():
            yield text
