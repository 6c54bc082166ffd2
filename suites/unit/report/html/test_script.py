"""The page's script: what it decides is tested where Node is, and the bundle is what its source makes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from staleproof.shipped import shipped

HTML = shipped("report.html")
SCRIPT = HTML / "script"
BUILT = ["report.js", "licences.txt"]
pytestmark = [pytest.mark.io, pytest.mark.skipif(shutil.which("npm") is None, reason="there is no Node here")]


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def test_what_it_decides() -> None:
    done = run("node", "--test", "test/", folder=SCRIPT)
    assert done.returncode == 0, done.stdout


def test_the_bundle_is_what_its_source_makes_byte_for_byte(tmp_path: Path) -> None:
    source = tmp_path / "script"
    shutil.copytree(SCRIPT, source, ignore=shutil.ignore_patterns("node_modules"))
    installed = run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", folder=source)
    if installed.returncode:
        pytest.skip(f"npm could not install what package-lock.json names: {installed.stderr[-300:]}")
    done = run("node", "build.mjs", str(tmp_path), folder=source)

    assert done.returncode == 0, done.stderr
    for name in BUILT:
        assert (tmp_path / name).read_bytes() == (HTML / name).read_bytes(), "run ci/page"
