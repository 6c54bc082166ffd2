"""The `build` provider: fixtures/controlplane compiled into the cache.

It decides the command line and what is counted as progress. `cache` says what an entry of the cache is, `toolchain` where Go comes
from.
"""

import asyncio
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from staleproof.drive.cluster.options import KUBERNETES_VERSION, ControlPlaneOptions
from staleproof.drive.process.process import Command, run_process
from staleproof.errors import SetupError, UsageError
from staleproof.shipped import shipped

from . import cache
from .local import Binaries
from .progress import Progress, working
from .toolchain import ENVIRONMENT, find_go

SOURCES = ("go.mod", "go.sum", "main.go")
VERSION_PACKAGE = "k8s.io/component-base/version"
STALE = "stale "
IN_GO_CACHE = "not installed but available in build cache"  # go list's words for what `go build -v` does not name
FULL_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Workshop:
    """What the steps of one build share."""

    go: Path
    scratch: Path
    log: Path
    version: str
    progress: Progress

    def command(self, verb: str, *arguments: str) -> Command:
        flags = ("-trimpath", "-buildvcs=false", "-ldflags", link_flags(self.version))
        return Command(
            name=f"go {verb}",
            argv=(str(self.go), verb, *flags, *arguments),
            log=self.log,
            env=ENVIRONMENT,
            cwd=self.scratch / "source",
        )


async def applies(options: ControlPlaneOptions) -> str | None:
    """Always; the reason says what is wrong with an entry of the cache that was passed over."""
    entry = cache.entry_folder(cache.cache_root(os.environ), options.version)
    return f"{await asyncio.to_thread(cache.what_is_wrong, entry) or 'another process just built it'}; nothing else was named"


async def find(options: ControlPlaneOptions, progress: Progress, *, why: str) -> Binaries:
    return cache.binaries_in(await ensure_built(options.version, progress), provider="build", why=why)


async def ensure_built(version: str, progress: Progress, *, module: Path | None = None) -> Path:
    """The folder of the cache that holds the programs, built when it is missing or damaged.

    `module`: the folder of the Go module that they are compiled from; None: the one that is shipped.

    Raises:
        UsageError: it is missing, and of a version that we do not build.
        SetupError: there is no Go to be had, the build fails, or the cache folder cannot be written.
    """
    root = cache.cache_root(os.environ)
    entry = cache.entry_folder(root, version)
    if await asyncio.to_thread(cache.what_is_wrong, entry) is None:
        return entry
    if version != KUBERNETES_VERSION:
        raise UsageError(
            f"the build provider makes Kubernetes {KUBERNETES_VERSION}, not {version}; "
            "leave the version out, or use assets or an existing cluster."
        )
    async with cache.locked(root, entry, progress, title="control plane"):
        # Asked again: whoever held the lock may have built it.
        if await asyncio.to_thread(cache.what_is_wrong, entry) is not None:
            await _build(root, entry, version, progress, module or shipped("fixtures.controlplane"))
    return entry


def link_flags(version: str) -> str:
    """The linker's flags, with the version that `/version` is to report."""
    major, minor, _ = version.removeprefix("v").split(".", 2)
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return " ".join(["-s", "-w", *(f"-X {VERSION_PACKAGE}.{name}={value}" for name, value in stamps.items())])


def says_disk_full(lines: list[str]) -> bool:
    return any(os.strerror(errno.ENOSPC).lower() in line.lower() for line in lines)


def explain(account: str, root: Path, *, disk_full: bool) -> str:
    """Why a build failed, and what to do about it; `account` is what Go wrote."""
    if disk_full:
        return (
            "the disk is full while building the control plane (a first build needs about 5 GB). Make room, or move what "
            f"it writes: GOCACHE and GOMODCACHE (Go's caches), GOTMPDIR (its work), {cache.CACHE_VARIABLE} (now {root}).\n"
            f"{account}"
        )
    return (
        "building the control plane failed. Go's own words follow; a first build needs the network or a GOPROXY that has "
        f"the modules.\n{account}"
    )


async def _build(root: Path, entry: Path, version: str, progress: Progress, module: Path) -> None:
    with cache.workspace(root, entry) as scratch:
        go = await find_go(root, scratch, progress)
        with cache.cache_errors(root):
            copy_sources(module, scratch / "source")
            (scratch / "made").mkdir()
        workshop = _Workshop(go, scratch, entry.with_name(f"{entry.name}.build.log"), version, progress)
        stale = await _stale_packages(workshop, root)
        await _compile(workshop, stale, root)
        with cache.cache_errors(root):
            await asyncio.to_thread(cache.bring_in, scratch / "made", entry)


def copy_sources(module: Path, target: Path) -> None:
    """Copy the module: Go must not write beside it."""
    target.mkdir()
    for name in SOURCES:
        (target / name).write_bytes((module / name).read_bytes())


async def _stale_packages(workshop: _Workshop, root: Path) -> list[str]:
    """The packages that `go build -v` will name, because Go's own cache does not have them; each stands behind those it needs. This
    fetches the modules, too."""
    condition = f'and .Stale (ne .StaleReason "{IN_GO_CACHE}")'
    template = f"{{{{if {condition}}}}}{STALE}{{{{.ImportPath}}}}{{{{end}}}}"
    found: list[str] = []

    def seen(lines: list[str]) -> None:
        found.extend(line.removeprefix(STALE) for line in lines if line.startswith(STALE))
        workshop.progress.advance(len(lines))

    with working(workshop.progress, "control plane: resolving Go modules"):
        await _run(workshop.command("list", "-deps", "-f", template, "."), root, seen)
    return found


async def _compile(workshop: _Workshop, stale: Sequence[str], root: Path) -> None:
    progress, done = workshop.progress, 0

    def begin() -> None:
        # Go names a package when it begins, and says nothing while it links, which takes longer than any package.
        if done < len(stale):
            progress.begin("control plane: compiling packages", len(stale))
        else:
            progress.begin("control plane: linking", None)

    def seen(lines: list[str]) -> None:
        nonlocal done
        # What another build has put into Go's cache meanwhile is not named; the program itself comes last, and only here.
        is_last = bool(stale) and stale[-1] in lines
        before, done = done, len(stale) if is_last else min(len(stale), done + len(lines))
        progress.advance(done)
        if before < len(stale) <= done:
            progress.end()
            begin()

    binary = workshop.scratch / "made" / cache.BINARY
    begin()
    try:
        await _run(workshop.command("build", "-v", "-o", str(binary), "."), root, seen)
    finally:
        progress.end()


async def _run(command: Command, root: Path, seen: Callable[[list[str]], None]) -> None:
    """Run to the end and hand on the lines it writes as they come; SetupError when it fails."""
    with cache.cache_errors(root):
        command.log.write_bytes(b"")
    async with run_process(command) as process:
        with command.log.open(encoding="utf-8", errors="replace") as log:
            half, running = "", True
            while running:
                running = process.running  # asked before reading: the last round sees the last lines
                *lines, half = (half + log.read()).split("\n")
                if lines:
                    seen(lines)
                with suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), cache.POLL_SECONDS)
    if process.exit_code != 0:
        full = says_disk_full(process.last_lines(200)) or _no_room(root)
        raise SetupError(explain(process.account(), root, disk_full=full))


def _no_room(root: Path) -> bool:
    """Whether a disk is full: then Go may be unable to write even its complaint."""
    return any(shutil.disk_usage(folder).free < FULL_BYTES for folder in (root, Path(tempfile.gettempdir())))
