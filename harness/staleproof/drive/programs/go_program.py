"""A small Go module, compiled once and kept in the cache folder: the fixture clients and controllers written in Go.

It decides what identifies a program: the content of its module's files and how it is compiled. `toolchain` decides where Go comes
from and the flags, which are the same in every build, so that packages several use are compiled once. One program is built at a
time for the same reason: builds that run side by side compile what they share once each.
"""

import hashlib
import json
import os
import platform
from dataclasses import dataclass
from pathlib import Path

from staleproof.drive.process.process import Command, run_process
from staleproof.errors import SetupError, UsageError

from . import cache
from .progress import Progress, working
from .toolchain import COMPILE_FLAGS, ENVIRONMENT, STRIPPED, find_go

FLAGS = (*COMPILE_FLAGS, "-ldflags", STRIPPED)
_SOURCES = ("go.mod", "go.sum", "**/*.go")


@dataclass(frozen=True, slots=True)
class GoProgram:
    """What to build: the main package at the top of the module in `folder`, under this name."""

    name: str
    folder: Path


async def ensure_go_program(wanted: GoProgram, progress: Progress) -> Path:
    """The program, one static file, compiled when its module has changed.

    Raises:
        UsageError: there is no Go module in the folder.
        SetupError: there is no Go to be had, the module does not compile, or the cache folder cannot be written.
    """
    root = cache.cache_root(os.environ)
    entry = root / "go-programs" / f"{wanted.name}-{platform.system().lower()}-{platform.machine().lower()}"
    kept = entry / content_hash(wanted.folder) / wanted.name
    if not kept.is_file():
        async with cache.locked(root, entry.with_name("one-at-a-time"), progress, title=wanted.name):
            if not kept.is_file():  # asked again: the process that held the lock may have built it
                await _build(wanted, root, kept, progress)
    return kept


def content_hash(folder: Path) -> str:
    """A hash of everything that goes into the program: its files, their names, and how it is compiled; UsageError when the folder
    holds no module."""
    if not (folder / "go.mod").is_file():
        raise UsageError(f"expected a Go module in {folder}, found no go.mod there; name the folder that has it.")
    paths = sorted({path for pattern in _SOURCES for path in folder.glob(pattern) if path.is_file()})
    files = [(path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]
    return hashlib.sha256(json.dumps([files, FLAGS, ENVIRONMENT]).encode()).hexdigest()[:16]


async def _build(wanted: GoProgram, root: Path, kept: Path, progress: Progress) -> None:
    """Compile into a scratch folder and bring the program in with one rename. Older builds stay: another checkout may use them."""
    entry = kept.parents[1]
    with cache.workspace(root, entry) as scratch:
        go = await find_go(root, scratch, progress, purpose=f"building {wanted.name}")
        made = scratch / "made"
        with cache.cache_errors(root):
            made.mkdir()
            entry.mkdir(exist_ok=True)
        with working(progress, f"{wanted.name}: compiling with Go"):
            await _compile(wanted, go, made / wanted.name, entry.with_name(f"{entry.name}.build.log"))
        with cache.cache_errors(root):
            made.rename(kept.parent)


async def _compile(wanted: GoProgram, go: Path, target: Path, log: Path) -> None:
    log.unlink(missing_ok=True)
    argv = (str(go), "build", *FLAGS, "-o", str(target), ".")
    command = Command(name=f"go build ({wanted.name})", argv=argv, log=log, env=ENVIRONMENT, cwd=wanted.folder)
    async with run_process(command) as process:
        code = await process.wait()
    if code != 0:
        raise SetupError(
            f"the Go module in {wanted.folder} could not be compiled. Go's own words follow; a first build needs the network or a "
            f"GOPROXY that has the modules.\n{process.account()}"
        )
