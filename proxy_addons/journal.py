"""What happened at the proxy, in order, until somebody has read it."""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from staleproof.core.entry import Entry

_BATCH = 2_000


class Journal:
    """Entries with a running number. Those that were sent are forgotten at the next `forget_sent`."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._first = 0
        self._sent = 0
        self._news = asyncio.Event()
        self._encoder = msgspec.json.Encoder()

    def record(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._news.set()

    @property
    def end(self) -> int:
        """The number that the next entry will have."""
        return self._first + len(self._entries)

    def forget_sent(self) -> None:
        del self._entries[: self._sent - self._first]
        self._first = self._sent

    async def lines(self, after: int) -> AsyncIterator[bytes]:
        """NDJSON from entry number `after` on, for ever. Each chunk ends with a newline."""
        at = max(after, self._first)
        while True:
            while at < self.end:
                batch = self._entries[at - self._first : at - self._first + _BATCH]
                yield b"".join(self._encoder.encode(entry) + b"\n" for entry in batch)
                at += len(batch)
                self._sent = max(self._sent, at)
            self._news.clear()
            await self._news.wait()
