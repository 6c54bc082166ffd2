"""All entries of a run go over one bus as they happen: to the activity fold, to the trial being recorded, and to the listeners.

To wait, here, is to wait for a condition on what the entries said.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from staleproof.core.history.activity import Activity
from staleproof.core.history.entry import Asked, Broke, Entry, Opened
from staleproof.core.history.scope import Scope
from staleproof.core.history.watches import Watches
from staleproof.core.history.whereabouts import Whereabouts
from staleproof.core.times import POLL_SECONDS
from staleproof.drive.trial.recorder import Recorder

Condition = Callable[[float], bool | float]
"""Given the time, it says yes (True), no (False: only an entry can change that), or when to ask again (a time)."""


class EventBus:
    """Entries carry absolute monotonic times here; the recorder turns them into seconds since its trial began.

    Attributes:
        recorder: of the trial under way, if there is one.
        scope: what is that trial's, or the last one's, wherever it is.
        whereabouts: where the controller itself looks for what.
        listeners: what else gets every entry.
        tokens: of the subject's further programs, by name: the proxy tells them apart by these.
        dead: why the proxy is gone; nothing can come any more. Empty while it lives.
        flaws: what spoils every trial until the controller is started again.
    """

    def __init__(self, tokens: Mapping[str, str] | None = None) -> None:
        self.tokens = tokens or {}
        self.activity = Activity(watches=Watches(frozenset(self.tokens)))
        self.scope = Scope()
        self.whereabouts = Whereabouts()
        self.recorder: Recorder | None = None
        self.listeners: list[Callable[[Entry], None]] = []
        self.dead = ""
        self.flaws: list[Broke] = []
        self._news = asyncio.Event()

    def take(self, entry: Entry) -> None:
        """An entry from the proxy, from truth or from the runner."""
        self.scope.see(entry)
        if not (isinstance(entry, Asked | Opened) and entry.client in self.tokens):
            self.whereabouts.see(entry)
        self.activity.see(self.scope.place(entry))
        if isinstance(entry, Broke) and entry.where == "proxy":
            self.dead = self.dead or entry.why
        elif isinstance(entry, Broke) and (self.recorder is None or entry.where == "watch"):
            self.flaws.append(entry)
        if self.recorder is not None:
            self.recorder.take(entry)
        for listener in self.listeners:
            listener(entry)
        self._news.set()

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
            with suppress(TimeoutError):
                async with asyncio.timeout(max(again - now, 0.001)):
                    await self._news.wait()

    async def until_idle(self, idle_seconds: float, *, limit_seconds: float) -> bool:
        """Wait until the controller has had nothing to do and done nothing for so long."""

        def idle(now: float) -> bool | float:
            since = self.activity.idle_since(now)
            if since is None:
                return now + POLL_SECONDS  # what is owed is forgiven by time alone
            return True if now - since >= idle_seconds else since + idle_seconds

        return await self.until(idle, limit_seconds=limit_seconds)
