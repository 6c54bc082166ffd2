"""Connections to a PostgreSQL server, by way of mitmproxy's tcp mode: the hooks of which carry out what faults say.

Messages pass whole: what a client has sent is held until its batch is complete, and what a server says until the message is.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

from staleproof.core.engine.postgresql import (
    ERROR,
    NOTIFICATION,
    READY,
    REJECTED,
    Backend,
    Batch,
    Frontend,
    Message,
    ProtocolError,
    error_code,
    notification,
    rejection,
)

from .systems import Call, System

_IDLE = b"I"
_UNANSWERED = ("lose-answer", "stall")


class Session:
    """One connection. `send` gives the client something that the server did not say now, `cut` ends the connection at once."""

    def __init__(self, system: System, send: Callable[[bytes], None], cut: Callable[[], Awaitable[None]]) -> None:
        self._system, self._send, self._cut = system, send, cut
        self._frontend = Frontend()
        self._backend = Backend(self._frontend)
        self._pending: deque[list[Call]] = deque()
        self._code, self._status = "", _IDLE
        self._sent: deque[bytes] = deque()
        self._is_cut = False

    async def from_client(self, data: bytes) -> bytes:
        """What is passed on to the server. The connection of what is no client of PostgreSQL ends."""
        passed: list[bytes] = []
        try:
            for batch in self._frontend.feed(data):
                if self._is_cut:
                    break
                if await self._admits(batch):
                    passed.append(batch.data)
        except ProtocolError:
            self._is_cut = True
            await self._cut()
        return b"".join(passed)

    async def from_server(self, data: bytes) -> bytes:
        """What is passed on to the client."""
        if self._sent and data == self._sent[0]:
            return self._sent.popleft()  # our own
        passed = []
        for message in self._backend.feed(data):
            if self._is_cut:
                break
            passed.append(await self._to_client(message))
        return b"".join(passed)

    def ended(self) -> None:
        """The connection has ended: calls that were not answered never will be."""
        for calls in self._pending:
            for call in calls:
                self._system.answered(call, "unknown")
        self._pending.clear()

    async def _admits(self, batch: Batch) -> bool:
        user = self._frontend.user
        calls = [self._system.called(user, each.verb, each.text, each.values) for each in batch.calls]
        effects = [call.effect for call in calls]
        if "cut" in effects:
            await self._end(calls, executed=False)
            return False
        if "reject" in effects and batch.is_answered:
            for call in calls:
                self._system.answered(call, "fail", REJECTED, executed=False)
            self._inject(rejection(self._status))
            return False
        if batch.is_answered:
            self._pending.append(calls)
        return True

    async def _to_client(self, message: Message) -> bytes:
        if message.type == NOTIFICATION:
            return self._notified(message)
        calls = self._pending[0] if self._pending else []
        loses = any(call.effect in _UNANSWERED for call in calls)
        if message.type == ERROR:
            self._code = error_code(message)
        if message.type == READY:
            await self._ready(message.body, lost=loses)
        elif not loses:
            await _until(max((call.due for call in calls), default=0.0))
        return b"" if loses else message.data

    async def _ready(self, status: bytes, *, lost: bool) -> None:
        self._status = status
        calls = self._pending.popleft() if self._pending else []
        code, self._code = self._code, ""
        if lost and all(call.effect != "lose-answer" for call in calls):  # the connection stays
            for call in calls:
                self._system.answered(call, "unknown", executed=not code)
            return
        if lost:
            await self._end(calls, executed=not code)
            return
        await _until(max((call.due for call in calls), default=0.0))
        for call in calls:
            self._system.answered(call, "fail" if code else "ok", code, executed=not code)

    async def _end(self, calls: list[Call], *, executed: bool) -> None:
        for call in calls:
            self._system.answered(call, "unknown", executed=executed)
        self._is_cut = True
        await self._cut()

    def _notified(self, message: Message) -> bytes:
        fault = self._system.notified(*notification(message))
        match fault.effect if fault else None:
            case "lose":
                return b""
            case "repeat":
                return message.data * 2
            case "delay" if fault is not None:
                asyncio.get_running_loop().call_later(fault.seconds or 0.0, self._inject, message.data)
                return b""
        return message.data

    def _inject(self, data: bytes) -> None:
        if not self._is_cut:
            self._sent.append(data)
            self._send(data)


async def _until(due: float) -> None:
    await asyncio.sleep(max(0.0, due - time.monotonic()))
