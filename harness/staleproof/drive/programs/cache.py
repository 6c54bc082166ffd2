"""The user's cache folder, in which compiled programs are kept.

It decides where that is, that processes which need the same thing at the same time make it once, and where it is made. It does not
decide what is kept.
"""

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from staleproof.core.times import LOOK_SECONDS
from staleproof.errors import SetupError

from .progress import Progress, working

CACHE_VARIABLE = "STALEPROOF_CACHE_DIR"


def cache_root(environment: Mapping[str, str]) -> Path:
    """STALEPROOF_CACHE_DIR; if it is unset or empty, the user's cache folder for staleproof."""
    chosen = environment.get(CACHE_VARIABLE, "")
    if chosen:
        return Path(chosen).resolve()
    users = environment.get("XDG_CACHE_HOME", "")
    return (Path(users) if users else Path.home() / ".cache") / "staleproof"


@asynccontextmanager
async def locked(root: Path, entry: Path, progress: Progress, *, title: str) -> AsyncIterator[None]:
    """Hold the lock of an entry. After a wait the entry may be built."""
    with cache_errors(root):
        entry.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(entry.with_name(f"{entry.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if not _taken(lock):
            with working(progress, f"{title}: another process is building it already; waiting for that"):
                while not _taken(lock):
                    await asyncio.sleep(LOOK_SECONDS)
        yield
    finally:
        os.close(lock)  # which gives the lock back


def _taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def workspace(root: Path, entry: Path) -> Iterator[Path]:
    """A scratch folder near the entry, so that a rename can bring its content in; gone afterwards. Only for the holder of the
    entry's lock: whatever an earlier holder left behind when it was killed is removed first."""
    scratch = root / f".work-{entry.name}"
    with cache_errors(root):
        if scratch.exists():
            shutil.rmtree(scratch)
        scratch.mkdir(parents=True)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def cache_errors(root: Path) -> Iterator[None]:
    """Turn errors of the file system about the cache folder into SetupErrors."""
    try:
        yield
    except OSError as err:
        raise SetupError(
            f"the cache folder {root} cannot be written: {err.strerror or err} ({err.filename or root}). Make it writable "
            f"and see that its disk has room, or choose another folder: {CACHE_VARIABLE}=/some/folder."
        ) from err
