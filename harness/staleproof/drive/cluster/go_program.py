"""A small Go module, compiled once and kept in the cache folder: the fixture clients and controllers that are written in Go.

It decides by what a program is known (what its module's files say and how it is compiled) and that two processes that need it at
once build it once. Where Go comes from is decided in `control_plane.toolchain`; the flags are those of the control plane's build,
so that packages both use are compiled once.
"""

import hashlib
import json
import os
import platform
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import AsyncFileLock

from staleproof.drive.cluster.control_plane import Progress, cache
from staleproof.drive.cluster.control_plane.build import ENVIRONMENT, POLL_SECONDS
from staleproof.drive.cluster.control_plane.toolchain import find_go
from staleproof.drive.process.process import Command, Process
from staleproof.errors import SetupError, UsageError

FLAGS = ("-trimpath", "-buildvcs=false", "-ldflags", "-s -w")
_SOURCES = ("go.mod", "go.sum", "**/*.go")


@dataclass(frozen=True, slots=True)
class GoProgram:
    """What to build: the main package at the top of the module in `folder`, under a name of its own."""

    name: str
    folder: Path


async def ensure_go_program(wanted: GoProgram, progress: Progress) -> Path:
    """The program, one static file, compiled if its module is not what it was.

    Raises:
        UsageError: there is no Go module in the folder.
        SetupError: there is no Go to be had, the module does not compile, or the cache folder cannot be written.
    """
    root = cache.cache_root(os.environ)
    entry = root / "go-programs" / f"{wanted.name}-{platform.system().lower()}-{platform.machine().lower()}"
    kept = entry / content_hash(wanted.folder) / wanted.name
    if not kept.is_file():
        async with _locked(root, entry):
            if not kept.is_file():  # asked again: whoever held the lock may have built it
                await _build(wanted, root, kept, progress)
    return kept


def content_hash(folder: Path) -> str:
    """Changes with every file that goes into the program, its name included, and with how it is compiled."""
    if not (folder / "go.mod").is_file():
        raise UsageError(f"expected a Go module in {folder}, found no go.mod there; name the folder that has it.")
    paths = sorted({path for pattern in _SOURCES for path in folder.glob(pattern) if path.is_file()})
    files = [(path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]
    return hashlib.sha256(json.dumps([files, FLAGS, ENVIRONMENT]).encode()).hexdigest()[:16]


@asynccontextmanager
async def _locked(root: Path, entry: Path) -> AsyncIterator[None]:
    with cache.cache_errors(root):
        entry.mkdir(parents=True, exist_ok=True)
        lock = AsyncFileLock(entry.with_name(f"{entry.name}.lock"), run_in_executor=False)
        await lock.acquire(poll_interval=POLL_SECONDS)
    try:
        yield
    finally:
        await lock.release()


async def _build(wanted: GoProgram, root: Path, kept: Path, progress: Progress) -> None:
    """Compile into a scratch folder and bring the program in with one rename. Other builds stay: another checkout may use them."""
    entry = kept.parents[1]
    with cache.workspace(root, entry) as scratch:
        go = await find_go(root, scratch, progress, purpose=f"building {wanted.name}")
        made = scratch / "made"
        with cache.cache_errors(root):
            made.mkdir()
        progress.begin(f"{wanted.name}: compiling with Go", None)
        try:
            await _compile(wanted, go, made / wanted.name, entry.with_name(f"{entry.name}.build.log"))
        finally:
            progress.end()
        with cache.cache_errors(root):
            made.rename(kept.parent)


async def _compile(wanted: GoProgram, go: Path, target: Path, log: Path) -> None:
    log.unlink(missing_ok=True)
    argv = (str(go), "build", *FLAGS, "-o", str(target), ".")
    process = await Process.start(Command(name=f"go build ({wanted.name})", argv=argv, log=log, env=ENVIRONMENT, cwd=wanted.folder))
    try:
        code = await process.wait()
    finally:
        await process.stop()
    if code != 0:
        raise SetupError(
            f"the Go module in {wanted.folder} could not be compiled. Go's own words follow; a first build needs the network or a "
            f"GOPROXY that has the modules.\n{process.account()}"
        )
