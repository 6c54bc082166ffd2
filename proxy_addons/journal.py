"""What happened at the proxy, in order, until it has been read.

Entries are numbered from 0 for the life of the proxy. What every reader has been given is forgotten, except for the last few
thousand: a reader whose connection broke may come back for them. While there is no reader, the newest hundred thousand are kept.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator

import msgspec

from staleproof.core.times import GLANCE_SECONDS, JOURNAL_PACE_SECONDS

_BATCH = 2_000
_KEPT = 5_000
_KEPT_UNREAD = 100_000


class Journal:
    """Entries with a running number. `first` is the number of the oldest that is still there."""

    def __init__(self) -> None:
        self.first = 0
        self._entries: list[msgspec.Struct] = []
        self._news = asyncio.Event()
        self._encoder = msgspec.json.Encoder()
        self._readers: dict[int, int] = {}
        self._names = itertools.count()

    def record(self, entry: msgspec.Struct) -> None:
        self._entries.append(entry)
        self._news.set()
        if not self._readers:
            self._forget(len(self._entries), keep=_KEPT_UNREAD)

    @property
    def end(self) -> int:
        """The number that the next entry will have."""
        return self.first + len(self._entries)

    async def lines(self, after: int) -> AsyncGenerator[bytes, None]:
        """NDJSON from entry number `after` on (or from the oldest still there), for ever. Each chunk ends with a newline."""
        name, time = next(self._names), asyncio.get_running_loop().time
        at, sent_at = max(after, self.first), 0.0
        self._readers[name] = at
        try:
            while True:
                await asyncio.sleep(max(0.0, sent_at + JOURNAL_PACE_SECONDS - time()))
                while at < self.end:
                    sent_at = time()
                    batch = self._entries[at - self.first : at - self.first + _BATCH]
                    yield self._encoder.encode_lines(batch)
                    at = self._readers[name] = at + len(batch)
                    self._forget(min(self._readers.values()) - self.first, keep=_KEPT)
                self._news.clear()
                await self._news.wait()
        finally:
            del self._readers[name]

    async def read(self) -> None:
        """Return once every reader has been given everything; at once when there is none."""
        while any(at < self.end for at in self._readers.values()):
            await asyncio.sleep(GLANCE_SECONDS)

    def _forget(self, count: int, *, keep: int) -> None:
        """Forget the oldest `count` except for the last `keep`, in large portions: deleting the head of a list moves its tail."""
        if count > 2 * keep:
            del self._entries[: count - keep]
            self.first += count - keep
