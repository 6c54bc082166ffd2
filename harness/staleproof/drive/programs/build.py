"""Kubernetes' programs, compiled from fixtures/controlplane into the cache.

It decides the command lines, their order, and what is counted as progress. `kubernetes` says what is kept, `toolchain` where Go
comes from.
"""

import asyncio
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from staleproof.core.times import LOOK_SECONDS
from staleproof.drive.process.process import Command, run_process
from staleproof.errors import SetupError, UsageError
from staleproof.shipped import shipped

from . import cache
from .kubernetes import KUBERNETES_VERSION, MultiCall, bring_in, entry_folder, what_is_wrong
from .progress import Progress, Silent, working
from .toolchain import COMPILE_FLAGS, ENVIRONMENT, STRIPPED, find_go

SOURCES = ("go.mod", "go.sum", "*/*.go")
VERSION_PACKAGE = "k8s.io/component-base/version"
STALE = "stale "
IN_GO_CACHE = "not installed but available in build cache"  # go list's words for what `go build -v` does not name
STANDARD = ("net/http/pprof", "html/template", "encoding/xml", "database/sql", "go/parser")
"""Packages of the standard library that, with those they import, are nearly all of it that is needed."""
LEFT_OUT = {"k8s.io/apiserver": ("pkg/admission/plugin/policy/generic/policy_test_context.go",)}
"""Files of modules that only their tests use, though their names do not say so. This one wants all fake clients of client-go, a
fifteenth of what there is to compile."""
FULL_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Workshop:
    """What the steps of one build share."""

    wanted: MultiCall
    go: Path
    scratch: Path
    log: Path
    version: str
    progress: Progress

    @property
    def package(self) -> str:
        """The main package, from the folder in which Go runs."""
        return f"./{self.wanted.name}"

    def compiling(self, verb: str, *arguments: str, log: Path | None = None) -> Command:
        """A command that compiles, or looks at what is compiled."""
        return self.command(verb, *COMPILE_FLAGS, "-ldflags", link_flags(self.version), *arguments, log=log)

    def command(self, verb: str, *arguments: str, log: Path | None = None) -> Command:
        return Command(
            name=f"go {verb}",
            argv=(str(self.go), verb, *arguments),
            log=log or self.log,
            env=ENVIRONMENT,
            cwd=self.scratch / "source",
        )


async def ensure_built(
    *wanted: MultiCall, version: str = KUBERNETES_VERSION, progress: Progress | None = None, module: Path | None = None
) -> Path:
    """The folder of the cache that holds the programs, built one file after the other where they are missing or damaged.

    `module`: the folder of the Go module that they are compiled from; None: the one that is shipped. Without `progress` nothing is
    shown.

    Raises:
        UsageError: something is missing, and of a version that we do not build.
        SetupError: there is no Go to be had, the build fails, or the cache folder cannot be written.
    """
    root, progress = cache.cache_root(os.environ), progress or Silent()
    entry = entry_folder(root, version)
    for each in wanted:
        if await asyncio.to_thread(what_is_wrong, entry, each) is None:
            continue
        if version != KUBERNETES_VERSION:
            raise UsageError(
                f"the build provider makes Kubernetes {KUBERNETES_VERSION}, not {version}; "
                "leave the version out, or use assets or an existing cluster."
            )
        async with cache.locked(root, entry, progress, title=each.title):
            # Asked again: the process that held the lock may have built it.
            if await asyncio.to_thread(what_is_wrong, entry, each) is not None:
                await _build(each, root, version, progress, module or shipped("fixtures.controlplane"))
    return entry


def link_flags(version: str) -> str:
    """The linker's flags, with the version that `/version` is to report."""
    major, minor, _ = version.removeprefix("v").split(".", 2)
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return " ".join([STRIPPED, *(f"-X {VERSION_PACKAGE}.{name}={value}" for name, value in stamps.items())])


def says_disk_full(lines: list[str]) -> bool:
    return any(os.strerror(errno.ENOSPC).lower() in line.lower() for line in lines)


def explain(account: str, root: Path, *, disk_full: bool) -> str:
    """Why a build failed, and what to do about it; `account` is what Go wrote."""
    if disk_full:
        return (
            "the disk is full while building Kubernetes' programs (a first build needs about 5 GB). Make room, or move what "
            f"it writes: GOCACHE and GOMODCACHE (Go's caches), GOTMPDIR (its work), {cache.CACHE_VARIABLE} (now {root}).\n"
            f"{account}"
        )
    return (
        "building Kubernetes' programs failed. Go's own words follow; a first build needs the network or a GOPROXY that has "
        f"the modules.\n{account}"
    )


async def _build(wanted: MultiCall, root: Path, version: str, progress: Progress, module: Path) -> None:
    entry = entry_folder(root, version)
    with cache.workspace(root, entry) as scratch:
        go = await find_go(root, scratch, progress)
        with cache.cache_errors(root):
            copy_sources(module, scratch / "source")
            (scratch / "made").mkdir()
        log = entry.with_name(f"{entry.name}.{wanted.name}.build.log")
        workshop = _Workshop(wanted, go, scratch, log, version, progress)
        # These need no modules. What keeps Go from compiling them keeps it from the rest, too, and is reported there.
        early = workshop.compiling("build", *STANDARD, log=scratch / "standard.log")
        with working(progress, f"{wanted.title}: fetching Go modules"):
            async with run_process(early) as compiling:
                for name, files in LEFT_OUT.items():
                    await _leave_out(files, name, workshop, root)
                stale = await _stale_packages(workshop, root)
                await compiling.wait()
        await _compile(workshop, stale, root)
        with cache.cache_errors(root):
            await asyncio.to_thread(bring_in, scratch / "made", entry, wanted)


def copy_sources(module: Path, target: Path) -> None:
    """Copy the module: Go must not write beside it."""
    for pattern in SOURCES:
        for path in module.glob(pattern):
            copy = target / path.relative_to(module)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())


async def _leave_out(files: Collection[str], module: str, workshop: _Workshop, root: Path) -> None:
    """Take a copy of this module without these files, if it is wanted at all."""
    source = workshop.scratch / "source"
    if module not in (source / "go.mod").read_text():
        return
    said: list[str] = []
    await _run(workshop.command("mod", "download", "-json", module), root, said.extend)
    copy = source / "without-tests" / module
    with cache.cache_errors(root):
        await asyncio.to_thread(copy_without, files, _folder(said), copy)
    await _run(workshop.command("mod", "edit", f"-replace={module}=./{copy.relative_to(source)}"), root, said.extend)


def _folder(said: Sequence[str]) -> Path:
    """Where a module is, of what `go mod download -json` writes."""
    text = "".join(said)
    return Path(json.loads(text[text.index("{") : text.rindex("}") + 1])["Dir"])


def copy_without(left_out: Collection[str], module: Path, target: Path) -> None:
    """Copy what is compiled, without these files. Modes are not copied: Go's module cache is read-only."""
    for path in module.rglob("*"):
        name = path.relative_to(module).as_posix()
        if path.is_file() and name not in left_out and not name.endswith("_test.go"):
            copy = target / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


async def _stale_packages(workshop: _Workshop, root: Path) -> list[str]:
    """The packages that `go build -v` will name, because Go's own cache does not have them; each stands behind those it needs. This
    fetches the modules, too."""
    condition = f'and .Stale (ne .StaleReason "{IN_GO_CACHE}")'
    template = f"{{{{if {condition}}}}}{STALE}{{{{.ImportPath}}}}{{{{end}}}}"
    found: list[str] = []

    def seen(lines: list[str]) -> None:
        found.extend(line.removeprefix(STALE) for line in lines if line.startswith(STALE))

    await _run(workshop.compiling("list", "-deps", "-f", template, workshop.package), root, seen)
    return found


async def _compile(workshop: _Workshop, stale: Sequence[str], root: Path) -> None:
    progress, title, done = workshop.progress, workshop.wanted.title, 0

    def begin() -> None:
        # Go names a package when it begins, and says nothing while it links, which takes longer than any package.
        if done < len(stale):
            progress.begin(f"{title}: compiling packages", len(stale))
        else:
            progress.begin(f"{title}: linking", None)

    def seen(lines: list[str]) -> None:
        nonlocal done
        # What another build has put into Go's cache meanwhile is not named; the program itself comes last, and only here.
        is_last = bool(stale) and stale[-1] in lines
        before, done = done, len(stale) if is_last else min(len(stale), done + len(lines))
        progress.advance(done)
        if before < len(stale) <= done:
            progress.end()
            begin()

    begin()
    try:
        await _run(
            workshop.compiling("build", "-v", "-o", str(workshop.scratch / "made" / workshop.wanted.name), workshop.package),
            root,
            seen,
        )
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
                    await asyncio.wait_for(process.wait(), LOOK_SECONDS)
    if process.exit_code != 0:
        # Where a disk is full, Go may be unable to write even its complaint.
        no_room = any(shutil.disk_usage(folder).free < FULL_BYTES for folder in (root, Path(tempfile.gettempdir())))
        full = no_room or says_disk_full(process.last_lines(200))
        raise SetupError(explain(process.account(), root, disk_full=full))
