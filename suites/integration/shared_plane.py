"""One control plane for each test process: whatever its tests start attaches to it, one after the other, and leaves it as it was.

Tests that are about control planes themselves, that end what they start by force, or that run several controllers side by side ask
for `own_plane`.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from staleproof.drive.cluster.control_plane.attach import VARIABLE as VARIABLE
from staleproof.drive.process.process import LEASH

LIMIT_SECONDS = 600.0
"""It may have to be built first."""


@pytest.fixture(scope="session", autouse=True)
def shared_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One, though a process may load this fixture for several folders of tests."""
    if VARIABLE in os.environ:
        yield
        return
    folder = tmp_path_factory.mktemp("shared-plane")
    file, log = folder / "attach.json", folder / "log.txt"
    plane = [sys.executable, "-m", "staleproof", "control-plane", "start", f"--folder={folder}", f"--attach={file}"]
    leash = [sys.executable, "-I", "-S", str(LEASH)]  # however this process ends, the control plane ends with it
    with (
        log.open("wb") as output,
        subprocess.Popen([*leash, *plane], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=output) as process,
    ):
        try:
            end = time.monotonic() + LIMIT_SECONDS
            while not file.exists() and process.poll() is None and time.monotonic() < end:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=0.05)
            assert file.exists(), log.read_text()
            os.environ[VARIABLE] = str(file)
            yield
        finally:
            os.environ.pop(VARIABLE, None)
            process.terminate()


@pytest.fixture(scope="module")
def own_plane() -> Iterator[None]:
    """Each run of this file starts a control plane of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(VARIABLE, raising=False)
        yield
