"""The end of a task that runs programs: all of them are stopped in order, or killed when there is no time for that."""

import asyncio
from typing import Any

from staleproof.core.times import CANCEL_SECONDS


async def ended(task: asyncio.Task[Any], *, patience_seconds: float | None = None) -> None:
    """Cancel a task, and return once it has stopped everything that it runs.

    When that takes longer than `patience_seconds` (None: as long as it takes), the task is cancelled again and again: each time it
    stops waiting for one more of its programs, which is then killed.
    """
    task.cancel()
    await asyncio.wait({task}, timeout=patience_seconds)
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=CANCEL_SECONDS)
