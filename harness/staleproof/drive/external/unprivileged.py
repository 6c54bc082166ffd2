"""Running a program as a user that is not root, which some servers insist on, even where the harness is root."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from staleproof.core.times import PROBE_ANSWER_SECONDS
from staleproof.errors import SetupError

_INSIDE = 1000
"""The number of root in a user namespace: any but 0 will do."""
_NOBODY = 65534


def unprivileged(argv: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The command that runs `argv` without privileges; `folder`, with all in it, is then that user's.

    A user that is not root runs it as it is. Root runs it in a user namespace, where the same user has another number and no
    privileges, or, where the system forbids that (most containers do), as `nobody`.

    Raises:
        SetupError: we are root and cannot be another user.
    """
    if os.geteuid() != 0:
        return argv
    if _has_user_namespaces():
        return (*_namespace(), *argv)
    if shutil.which("setpriv") is None:
        raise SetupError(f"{argv[0]} does not run as root: run staleproof as another user, or install setpriv (util-linux)")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, _NOBODY, _NOBODY, follow_symlinks=False)
    return ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--", *argv)


def _namespace() -> tuple[str, ...]:
    return ("unshare", "--user", f"--map-user={_INSIDE}", f"--map-group={_INSIDE}", "--")


@cache
def _has_user_namespaces() -> bool:
    try:
        found = subprocess.run((*_namespace(), "true"), capture_output=True, timeout=PROBE_ANSWER_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0
