"""Turns at an external system that others use, too: of all processes of this user that know it, one at a time has it to itself.

A trial reads all that is there, and removes afterwards what it did not find at first; what another trial did meanwhile would be
taken for the controller's.
"""

import hashlib
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from filelock import AsyncFileLock

from staleproof.core.times import LOOK_SECONDS
from staleproof.drive.programs.cache import cache_errors, cache_root

_FOLDER = "external"
_DIGITS = 16


@asynccontextmanager
async def alone_at(upstreams: Iterable[str], root: Path | None = None) -> AsyncIterator[None]:
    """Wait until no other process has any of these (HOST:PORT), and keep them until the block is left. All that want several take
    them in one order, so none waits for another in a circle. `root`: the cache folder.

    Raises:
        SetupError: the cache folder cannot be written.
    """
    root = root or cache_root(os.environ)
    async with AsyncExitStack() as stack:
        for upstream in sorted(set(upstreams)):
            file = root / _FOLDER / f"{hashlib.sha256(upstream.encode()).hexdigest()[:_DIGITS]}.lock"
            with cache_errors(root):
                file.parent.mkdir(parents=True, exist_ok=True)
            lock = AsyncFileLock(file)
            await lock.acquire(poll_interval=LOOK_SECONDS)
            stack.push_async_callback(lock.release)
        yield
