"""One watch stream on its way through the proxy: carries out what `core.engine.watch_stream` says, and keeps its timer.

Decides nothing. The clock is the event loop's, which is the machine's monotonic one: the runner's process has the same.
"""

import asyncio
import contextlib
from collections.abc import Callable

from staleproof.core.engine.gate import MOST_HELD_BYTES
from staleproof.core.engine.watch_stream import HangUp, WatchStream
from staleproof.core.history.entry import Entry

from .wire import LAST_CHUNK, chunk

_MOST_UNREAD_BYTES = MOST_HELD_BYTES


class Stream:
    """An open watch, written as chunks of the relay's answer to mitmproxy. `record` takes its entries.

    `reset` makes the end of the answer, when it comes to the client, a TCP reset. `on_closed` is called when the watch is over.
    """

    def __init__(
        self,
        watch: WatchStream,
        writer: asyncio.StreamWriter,
        *,
        reset: Callable[[], None],
        record: Callable[[Entry], None],
        on_closed: Callable[[], object],
    ) -> None:
        self.watch = watch
        self.over = asyncio.Event()
        self._writer, self._reset, self._record, self._on_closed = writer, reset, record, on_closed
        self._timer: asyncio.TimerHandle | None = None
        writer.transport.set_write_buffer_limits(high=_MOST_UNREAD_BYTES)
        self.flush()

    def feed(self, data: bytes) -> None:
        """Bytes from upstream."""
        self.watch.feed(data, asyncio.get_running_loop().time())
        self.flush()

    def change(self, how: Callable[[WatchStream, float], None]) -> None:
        """Tell the watch, with the time, that something happened; then do what follows."""
        how(self.watch, asyncio.get_running_loop().time())
        self.flush()

    def flush(self) -> None:
        """Do what is due now, and set the timer for what comes next."""
        loop = asyncio.get_running_loop()
        for output in self.watch.take(loop.time()):
            if isinstance(output, bytes):
                self._writer.write(chunk(output))
            elif isinstance(output, HangUp):
                self._hang_up(output)
            else:
                self._record(output)
        if self.watch.gate.closed:
            self._on_closed()
        if self._timer is not None:
            self._timer.cancel()
        due = self.watch.deadline()
        self._timer = None if due is None else loop.call_at(due, self.flush)

    async def has_room(self) -> None:
        """Return at once, unless the client has left too much unread."""
        with contextlib.suppress(OSError):  # the client has left altogether, which the relay notices
            await self._writer.drain()

    def _hang_up(self, how: HangUp) -> None:
        if how is HangUp.CLEAN:
            self._writer.write(LAST_CHUNK)
        else:
            if how is HangUp.RESET:
                self._reset()
            self._writer.close()  # what has been sent arrives first: the history says that it was shown
        self.over.set()
