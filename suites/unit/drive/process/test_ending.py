"""The end of a task that has something to stop."""

import asyncio

import pytest

from staleproof.drive.process import ending
from staleproof.drive.process.ending import ended


class Parts:
    """Programs that do not stop by themselves. `stopped` are those whose stop was waited for, `killed` those that were given up."""

    def __init__(self, *names: str) -> None:
        self.names, self.stopped, self.killed = names, list[str](), list[str]()
        self.stops = asyncio.Event()

    async def run(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await self._stop(*self.names)

    async def _stop(self, name: str, *later: str) -> None:
        try:
            await self.stops.wait()
            self.stopped.append(name)
        except asyncio.CancelledError:
            self.killed.append(name)
            raise
        finally:
            if later:
                await self._stop(*later)


async def begun(parts: Parts) -> asyncio.Task[None]:
    task = asyncio.ensure_future(parts.run())
    await asyncio.sleep(0)
    return task


async def test_without_a_limit_everything_stops_in_order() -> None:
    parts = Parts("controller", "proxy", "etcd")
    task = await begun(parts)
    asyncio.get_running_loop().call_soon(parts.stops.set)
    await ended(task)
    assert task.cancelled()
    assert (parts.stopped, parts.killed) == (["controller", "proxy", "etcd"], [])


async def test_what_takes_too_long_is_given_up_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "CANCEL_SECONDS", 0.001)
    parts = Parts("controller", "proxy", "etcd")
    task = await begun(parts)
    await ended(task, patience_seconds=0.001)
    assert task.cancelled()
    assert (parts.stopped, parts.killed) == ([], ["controller", "proxy", "etcd"])


async def test_what_has_ended_already_is_not_waited_for() -> None:
    task = asyncio.ensure_future(asyncio.sleep(0))
    await task
    await ended(task, patience_seconds=0.0)
    assert (task.done(), task.cancelled()) == (True, False)
