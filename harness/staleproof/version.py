"""Which staleproof this is: its version, that of its checkout where it is no release, and those of all that it needs.

Only a release can be had again by its version. What runs from a checkout is called by its commit besides.
"""

import functools
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

import staleproof
from staleproof.core.times import GIT_SECONDS

_RELEASE = re.compile(r"v?\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?")
_NAME = re.compile(r"[\w.-]+")


def is_release(version: str) -> bool:
    """Whether others can have it by this version: it is no development version (`.dev1`), and no local one (`+…`)."""
    return _RELEASE.fullmatch(version) is not None


@functools.cache
def running_version() -> str:
    """That of the staleproof that runs. In a checkout that is not the tag of its version, the commit follows, and `.dirty` if files
    were changed: `0.1.0+g1a2b3c4d5`."""
    return in_checkout(staleproof.__version__, Path(staleproof.__file__).parents[2])


def in_checkout(version: str, root: Path) -> str:
    """The version of what lies in this folder; as it is, if that is no checkout."""
    if not (root / ".git").exists():
        return version
    commit, changed = _git(root, "rev-parse", "--short=9", "HEAD"), _git(root, "status", "--porcelain", "--untracked-files=no")
    if commit is None or changed is None:
        return f"{version}+checkout"
    tagged = _git(root, "tag", "--points-at", "HEAD", f"v{version}")
    return version if tagged and not changed else f"{version}+g{commit}{'.dirty' if changed else ''}"


@functools.cache
def needed() -> dict[str, str]:
    """The version of Python, and of each package that staleproof needs, and what those need, by its name; the lock of this run."""
    found, waiting = dict[str, str](), ["staleproof"]
    while waiting:
        name = waiting.pop()
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # of another system, or not installed
            continue
        key = re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower()
        if key not in found:
            found[key] = distribution.version
            wanted = (each for each in distribution.requires or () if "extra ==" not in each)
            waiting += [match[0] for each in wanted if (match := _NAME.match(each))]
    found.pop("staleproof", None)
    return {"python": platform.python_version(), **dict(sorted(found.items()))}


def _git(root: Path, *arguments: str) -> str | None:
    """What git says; None when it cannot say."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False, timeout=GIT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
