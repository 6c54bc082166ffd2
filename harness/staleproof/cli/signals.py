"""How a command that waits in an event loop ends at Ctrl-C or TERM. All others are interrupted (`staleproof.interrupts`)."""

import asyncio
import signal
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

from anyio.from_thread import start_blocking_portal

from staleproof.core.times import ENDING_SECONDS
from staleproof.drive.process.ending import ended

T = TypeVar("T")


def cancel_on_signals() -> None:
    """Ctrl-C and TERM cancel the task that calls this; a second one also ends the wait for what it then closes."""
    task = asyncio.current_task()
    if task is not None:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def run_interruptibly(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop in a thread of its own. When this thread is interrupted, it first stops all that it runs, in
    a hurry."""

    async def begin() -> asyncio.Task[T]:
        return asyncio.ensure_future(work)

    async def finish(task: asyncio.Task[T]) -> T:
        return await task

    with start_blocking_portal(name="staleproof") as portal:
        task = portal.call(begin)
        try:
            return portal.call(finish, task)
        except KeyboardInterrupt:
            portal.call(partial(ended, task, patience_seconds=ENDING_SECONDS))
            raise
