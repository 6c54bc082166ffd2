"""The page's script: what it decides is tested where Node is, and the bundle is what its source makes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import SCRIPT

BUILT = ["report.js", "licences.txt"]
pytestmark = [pytest.mark.io, pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")]


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def test_what_it_decides() -> None:
    done = run("node", "--test", "test/", folder=SCRIPT)
    assert done.returncode == 0, done.stdout


def test_the_bundle_is_what_its_source_makes_byte_for_byte(installed: Path, tmp_path: Path) -> None:
    done = run("node", "build.mjs", str(tmp_path), folder=installed)

    assert done.returncode == 0, done.stderr
    for name in BUILT:
        assert (tmp_path / name).read_bytes() == (SCRIPT.parent / name).read_bytes(), "run ci/page"
