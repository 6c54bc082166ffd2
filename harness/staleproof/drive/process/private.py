"""Folders and files for what must not stay or be read by others: keys, tokens, kubeconfigs, etcd's data.

A private folder never lies below the run folder, which is handed to others. It is open to its user alone and goes when the block
is left. When the harness is killed with SIGKILL, the folder stays until the next run of the same user on the same machine makes
one of its own and removes those of dead runs; in $XDG_RUNTIME_DIR it goes with the user's last session at the latest.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from staleproof.drive.process.reaper import born, here
from staleproof.errors import SetupError

_NAME = re.compile(r"staleproof-(?P<place>[0-9a-f]{12})-(?P<pid>\d+)-(?P<birth>\d*)-.*")


@contextmanager
def private_folder(prefix: str, *, root: Path | None = None) -> Iterator[Path]:
    """A folder of mode 0700; `prefix` is for people. Without a `root` it lies where `small_root` says. SetupError when it cannot be
    made."""
    where = root or small_root(os.environ)
    sweep(where)
    pid = os.getpid()
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"staleproof-{_digest(here())}-{pid}-{born(pid)}-{prefix}-", dir=where)).resolve()
    except OSError as err:
        raise SetupError(
            f"cannot make a private folder in {where}: {err.strerror}; set TMPDIR to a folder you may write to."
        ) from err
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_private(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 from the first byte on, even if it existed with another mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def small_root(environ: Mapping[str, str]) -> Path:
    """For a few small files: $XDG_RUNTIME_DIR if it is ours (after sudo it may be another user's), else the temporary folder."""
    path = Path(environ.get("XDG_RUNTIME_DIR", ""))
    with suppress(OSError):
        if path.is_absolute() and path.stat().st_uid == os.geteuid() and os.access(path, os.W_OK | os.X_OK):
            return path
    return large_root()


def large_root() -> Path:
    """For data: $XDG_RUNTIME_DIR is memory, and little of it."""
    return Path(tempfile.gettempdir())


def sweep(root: Path) -> None:
    """Remove what dead runs of this user left there. What cannot be looked at or removed stays."""
    place = here()
    with suppress(OSError), os.scandir(root) as found:
        for entry in found:
            if is_dead(entry.name, place, born):
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                        shutil.rmtree(entry.path, ignore_errors=True)


def is_dead(name: str, here: str, born: Callable[[int], str]) -> bool:
    """Whether this is the name of a private folder whose run is dead, as far as `here` can tell."""
    found = _NAME.fullmatch(name)
    return found is not None and found["place"] == _digest(here) and born(int(found["pid"])) != found["birth"]


def _digest(place: str) -> str:
    """A place as part of a file name."""
    return hashlib.sha256(place.encode()).hexdigest()[:12]
