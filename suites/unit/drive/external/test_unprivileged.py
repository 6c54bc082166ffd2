"""Whichever user runs this, what is run without privileges is not root, and its folder is its own."""

import subprocess
from pathlib import Path

import pytest

from staleproof.drive.external.unprivileged import unprivileged


@pytest.mark.io
def test_it_is_not_root_and_may_write_into_its_folder(tmp_path: Path) -> None:
    script = f"id -u; touch {tmp_path}/mine && stat -c %u {tmp_path}/mine"
    found = subprocess.run(unprivileged(("sh", "-c", script), tmp_path), capture_output=True, text=True, check=True)
    user, owner = found.stdout.split()
    assert user == owner != "0"
