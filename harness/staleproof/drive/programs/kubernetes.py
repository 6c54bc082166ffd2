"""Kubernetes' programs, as they are kept: which there are, in which file, and where.

Programs that share most of their code are one file, which is the one that it is called as. This module decides what makes such a
file whole (a name for each program, a digest that fits) and how it comes in. It does not decide how one is made.
"""

import functools
import hashlib
import os
import platform
from dataclasses import dataclass
from pathlib import Path

KUBERNETES_VERSION = "v1.36.3"  # what fixtures/controlplane/go.mod builds


@dataclass(frozen=True, slots=True)
class MultiCall:
    """A file that is several programs. Its name is that of its main package in fixtures/controlplane, too; `title` is what progress
    says of it."""

    name: str
    programs: tuple[str, ...]
    title: str

    @property
    def digest(self) -> str:
        """The name of the file that says what its content is."""
        return f"{self.name}.digest"


SERVERS = MultiCall("servers", ("etcd", "kube-apiserver"), "control plane")
"""What every run needs."""
COMPANIONS = MultiCall("companions", ("kube-controller-manager", "kube-scheduler", "kwok"), "companions")
"""What may run beside a controller."""


def entry_folder(root: Path, version: str) -> Path:
    """Where all programs of a version are kept."""
    return root / "control-plane" / f"{version}-{platform.system().lower()}-{platform.machine().lower()}"


def what_is_wrong(entry: Path, wanted: MultiCall) -> str | None:
    """None when these programs may be used; else one line that says that they are missing, or how they are damaged."""
    if not entry.is_dir():
        return f"{entry} does not exist"
    try:
        expected = (entry / wanted.digest).read_text().strip()
        found = _digest(entry / wanted.name)
    except OSError as err:
        return f"{entry} is incomplete ({err.strerror}: {err.filename})"
    if found != expected:
        return f"{entry / wanted.name} has the digest {found[:12]}…, but {expected[:12]}… is noted beside it"
    missing = [name for name in wanted.programs if not os.access(entry / name, os.X_OK)]
    return f"{entry} lacks {', '.join(missing)}" if missing else None


def bring_in(made: Path, entry: Path, wanted: MultiCall) -> None:
    """Bring the file from the folder `made` into the entry, with its names. The digest comes last: without it nothing counts. A
    program that runs goes on as it is."""
    for name in wanted.programs:
        (made / name).symlink_to(wanted.name)
    (made / wanted.digest).write_text(_digest(made / wanted.name) + "\n")
    entry.mkdir(parents=True, exist_ok=True)
    (entry / wanted.digest).unlink(missing_ok=True)
    for name in (wanted.name, *wanted.programs, wanted.digest):
        (made / name).rename(entry / name)


def _digest(path: Path) -> str:
    state = path.stat()
    return _digest_of_state(path, state.st_ino, state.st_size, state.st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _digest_of_state(path: Path, _inode: int, _size: int, _changed: int) -> str:
    """Read the file once in a process as long as it stays the same: it has over a hundred megabytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
