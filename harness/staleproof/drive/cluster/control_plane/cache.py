"""The `cache` provider: the programs staleproof built before, under the user's cache folder.

It decides where they lie, what a whole entry is (one binary, a name for each program, a digest that fits), how an entry comes in
(complete, by one rename) and that processes which need one at the same time build it once. It does not decide how a binary is made.
"""

import asyncio
import functools
import hashlib
import os
import platform
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import platformdirs
from filelock import AsyncFileLock, Timeout

from staleproof.drive.cluster.options import ControlPlaneOptions
from staleproof.errors import SetupError

from .local import Binaries
from .progress import Progress, working

CACHE_VARIABLE = "STALEPROOF_CACHE_DIR"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager")
BINARY = "controlplane"
DIGEST = "digest"
POLL_SECONDS = 0.2


async def applies(options: ControlPlaneOptions) -> str | None:
    entry = entry_folder(cache_root(os.environ), options.version)
    return None if await asyncio.to_thread(what_is_wrong, entry) else f"{entry} holds it"


async def find(options: ControlPlaneOptions, progress: Progress, *, why: str) -> Binaries:
    return await asyncio.to_thread(find_cached, cache_root(os.environ), options.version, why=why)


def cache_root(environment: Mapping[str, str]) -> Path:
    """STALEPROOF_CACHE_DIR; if it is unset or empty, the user's cache folder for staleproof."""
    chosen = environment.get(CACHE_VARIABLE, "")
    return Path(chosen).resolve() if chosen else platformdirs.user_cache_path("staleproof")


def entry_folder(root: Path, version: str) -> Path:
    return root / "control-plane" / f"{version}-{platform.system().lower()}-{platform.machine().lower()}"


def what_is_wrong(entry: Path) -> str | None:
    """None when the entry may be used; else one line that says that it is missing, or how it is damaged."""
    if not entry.is_dir():
        return f"{entry} does not exist"
    try:
        expected = (entry / DIGEST).read_text().strip()
        found = _digest(entry / BINARY)
    except OSError as err:
        return f"{entry} is incomplete ({err.strerror}: {err.filename})"
    if found != expected:
        return f"{entry / BINARY} has the digest {found[:12]}…, but {expected[:12]}… is noted beside it"
    missing = [name for name in PROGRAMS if not os.access(entry / name, os.X_OK)]
    return f"{entry} lacks {', '.join(missing)}" if missing else None


def find_cached(root: Path, version: str, *, why: str) -> Binaries:
    entry = entry_folder(root, version)
    problem = what_is_wrong(entry)
    if problem is not None:
        raise SetupError(
            f"the cache provider cannot be used: {problem}. Run `staleproof control-plane build` to make it "
            f"(or set {CACHE_VARIABLE} to the folder that has it)."
        )
    return binaries_in(entry, provider="cache", why=why)


def binaries_in(entry: Path, *, provider: str, why: str) -> Binaries:
    return Binaries(etcd=entry / "etcd", kube_apiserver=entry / "kube-apiserver", provider=provider, why=why)


@asynccontextmanager
async def locked(root: Path, entry: Path, progress: Progress, *, title: str) -> AsyncIterator[None]:
    """Hold the lock of an entry. Whoever had to wait for it may find the entry built."""
    with cache_errors(root):
        entry.parent.mkdir(parents=True, exist_ok=True)
        lock = AsyncFileLock(entry.with_name(f"{entry.name}.lock"), run_in_executor=False)
        try:
            await lock.acquire(timeout=0)
        except Timeout:
            with working(progress, f"{title}: waiting for another process that builds"):
                await lock.acquire(poll_interval=POLL_SECONDS)
    try:
        yield
    finally:
        await lock.release()


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


def bring_in(made: Path, entry: Path) -> None:
    """Complete the folder `made`, which holds a BINARY, with names and digest, and make it the entry in one step."""
    for name in PROGRAMS:
        (made / name).symlink_to(BINARY)
    (made / DIGEST).write_text(_digest(made / BINARY) + "\n")
    entry.parent.mkdir(parents=True, exist_ok=True)
    if entry.exists():
        # A rename cannot replace a folder that has something in it. Only a damaged entry is ever replaced.
        entry.rename(made.with_name("damaged"))
    made.rename(entry)


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


def _digest(path: Path) -> str:
    state = path.stat()
    return _digest_of_state(path, state.st_ino, state.st_size, state.st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _digest_of_state(path: Path, _inode: int, _size: int, _changed: int) -> str:
    """Read the file once in a process as long as it stays the same: it has over a hundred megabytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
