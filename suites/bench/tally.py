"""Counts what the proxy says it did, without judging it."""

import asyncio
from collections import Counter

from staleproof.core.history.entry import Broke, Closed, Entry, Opened
from staleproof.errors import HarnessBug, SetupError


class Tally:
    """Counts entries by type as they come, and knows the open streams. The proxy calls `take`."""

    def __init__(self) -> None:
        self.counts: Counter[type[Entry]] = Counter()
        self.broken: list[str] = []
        self.open: set[int] = set()
        self._news = asyncio.Event()

    def take(self, entry: Entry) -> None:
        self.counts[type(entry)] += 1
        match entry:
            case Broke(where=where, why=why):
                self.broken.append(f"{where}: {why}")
            case Opened(stream=stream):
                self.open.add(stream)
            case Closed(stream=stream):
                self.open.discard(stream)
        self._news.set()

    def check(self) -> None:
        """Raise if the proxy says that it is broken: its figures are worth nothing then."""
        if self.broken:
            raise HarnessBug(f"the proxy says that it is broken: {self.broken[0]}")

    async def reached(self, kind: type[Entry], count: int, *, limit_seconds: float) -> None:
        """Wait until there have been so many entries of this kind."""
        try:
            async with asyncio.timeout(limit_seconds):
                while self.counts[kind] < count:
                    self.check()
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError as err:
            raise SetupError(
                f"expected {count} entries {kind.__name__} within {limit_seconds:g} s, found {self.counts[kind]}; is the load of "
                "another program too high?"
            ) from err
