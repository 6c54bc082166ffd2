"""Another revision of this repository, in a worktree with a virtual environment of its own; kept in the cache folder, by commit."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from staleproof.drive.programs.cache import cache_root
from staleproof.errors import SetupError, UsageError

from .rig import say

ROOT = Path(__file__).parents[2]
_SHORT = 10


@dataclass(frozen=True, slots=True)
class Checkout:
    name: str
    python: Path


THIS = Checkout("this", Path(sys.executable))


def checkout(revision: str) -> Checkout:
    """The revision, ready to be run. UsageError when there is none of that name, SetupError when it cannot be set up."""
    found = _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if found.returncode != 0:
        raise UsageError(f"--against: git knows no revision {revision!r} in {ROOT}")
    commit = found.stdout.strip()
    folder = cache_root(os.environ) / "bench" / commit
    if not folder.is_dir():
        added = _git("worktree", "add", "--force", "--detach", str(folder), commit)
        if added.returncode != 0:
            raise SetupError(f"--against: no worktree for {revision} in {folder}: {added.stderr.strip()}")
    say(f"bench: setting up {revision} in {folder}")
    if subprocess.run([folder / "ci" / "setup"], env=os.environ | {"PYTHON": sys.executable}, check=False).returncode != 0:
        raise SetupError(f"--against: {folder / 'ci' / 'setup'} failed; see above")
    return Checkout(f"{revision} ({commit[:_SHORT]})" if revision not in commit else revision[:_SHORT], folder / ".venv/bin/python")


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
