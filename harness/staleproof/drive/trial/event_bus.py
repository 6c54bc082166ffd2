"""All entries of a run as they happen, for the activity fold and the trial being recorded. Waiting is for conditions here."""

import asyncio
import time
from collections.abc import Callable

from staleproof.core.activity import Activity
from staleproof.core.entry import Broke, Entry
from staleproof.drive.trial.recorder import Record

Condition = Callable[[float], bool | float]
"""Given the time, say yes (True), no (False: only news can change that), or when to ask again (a time)."""


class Feed:
    """Entries carry absolute monotonic times here; the record turns them into seconds since its trial began."""

    def __init__(self) -> None:
        self.activity = Activity()
        self.record: Record | None = None
        self.listeners: list[Callable[[Entry], None]] = []  # who else wants to know
        self.dead = ""
        self.flaws: list[Broke] = []
        self._news = asyncio.Event()

    def take(self, entry: Entry) -> None:
        """An entry from the proxy, from truth or from the runner."""
        self.activity.see(entry)
        if isinstance(entry, Broke):
            self._broke(entry)
        if self.record is not None:
            self.record.take(entry)
        for listener in self.listeners:
            listener(entry)
        self._news.set()

    def _broke(self, entry: Broke) -> None:
        """`dead`: nothing can come any more. `flaws`: what spoils every trial until the controller is started again."""
        if entry.where == "proxy":
            self.dead = self.dead or entry.why
        elif self.record is None or entry.where == "watch":
            self.flaws.append(entry)

    async def until(self, condition: Condition, *, limit_seconds: float) -> bool:
        """Wait until the condition says yes; False when the limit ran out first, or the proxy is gone."""
        end = time.monotonic() + limit_seconds
        while True:
            now = time.monotonic()
            answer = condition(now)
            if answer is True:
                return True
            if now >= end or self.dead:
                return False
            again = min(end, answer) if answer is not False else end
            self._news.clear()
            try:
                async with asyncio.timeout(max(again - now, 0.001)):
                    await self._news.wait()
            except TimeoutError:
                continue

    async def until_idle(self, idle_seconds: float, *, limit_seconds: float) -> bool:
        """Wait until the controller has had nothing to do and done nothing for so long."""

        def idle(now: float) -> bool | float:
            since = self.activity.idle_since(now)
            return _for(since, idle_seconds, now)

        return await self.until(idle, limit_seconds=limit_seconds)


def _for(since: float | None, seconds: float, now: float) -> bool | float:
    """Whether something has lasted long enough, or when it will have."""
    if since is None:
        return now + 0.05  # what is owed is forgiven by time alone
    return True if now - since >= seconds else since + seconds
