"""Folders for what must not stay: keys, tokens, kubeconfigs, etcd's data. Never below the run folder, which is given to others.

Such a folder is open to its user alone and goes when the block is left. When the harness is killed with SIGKILL it stays until
the next run of the same user on the same machine (same host name and PID namespace) makes one and removes those of dead runs;
in $XDG_RUNTIME_DIR it goes with the user's last session at the latest. It decides where they lie and whose they are, not what is
in them.
"""

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from staleproof.drive.process.owner import born, here, is_leftover, label
from staleproof.errors import SetupError

_NAME = re.compile(r"staleproof-(?P<place>[0-9a-f]{12})-(?P<pid>\d+)-(?P<birth>\d*)-.*")


@contextmanager
def private_folder(prefix: str, *, root: Path | None = None) -> Iterator[Path]:
    """A folder of mode 0700; `prefix` is for people. Without a `root` it lies where `small_root` says.

    Raises:
        SetupError: it cannot be made.
    """
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


def small_root(environ: Mapping[str, str]) -> Path:
    """For a few small files: $XDG_RUNTIME_DIR if it is ours (after sudo it may be another user's), else the temporary folder."""
    path = Path(environ.get("XDG_RUNTIME_DIR", ""))
    with contextlib.suppress(OSError):
        if path.is_absolute() and path.stat().st_uid == os.geteuid() and os.access(path, os.W_OK | os.X_OK):
            return path
    return large_root()


def large_root() -> Path:
    """For data: $XDG_RUNTIME_DIR is memory, and little of it."""
    return Path(tempfile.gettempdir())


def sweep(root: Path) -> None:
    """Remove what dead runs of this user left there. What cannot be looked at or removed stays."""
    place = here()
    with contextlib.suppress(OSError), os.scandir(root) as found:
        for entry in found:
            if is_dead(entry.name, place, born):
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                        shutil.rmtree(entry.path, ignore_errors=True)


def is_dead(name: str, here: str, born: Callable[[int], str]) -> bool:
    """Whether a name is that of a private folder whose run is dead, as far as `here` can be judged."""
    found = _NAME.fullmatch(name)
    if found is None or found["place"] != _digest(here):
        return False
    return is_leftover(label(here, int(found["pid"]), found["birth"]), here, born)


def _digest(place: str) -> str:
    """A place in a file's name."""
    return hashlib.sha256(place.encode()).hexdigest()[:12]
