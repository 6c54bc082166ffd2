"""What tests of the page's script need."""

import shutil
import subprocess
from pathlib import Path

import pytest

from staleproof.shipped import shipped

SCRIPT = shipped("report.html") / "script"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the script's folder with what its package-lock.json names; skips where npm is not, or cannot reach a registry."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm here")
    folder = tmp_path_factory.mktemp("page") / "script"
    shutil.copytree(SCRIPT, folder, ignore=shutil.ignore_patterns("node_modules"))
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        pytest.skip(f"npm could not install what package-lock.json names: {done.stderr[-300:]}")
    return folder
