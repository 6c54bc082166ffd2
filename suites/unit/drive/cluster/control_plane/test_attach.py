"""Which process may attach to a control plane that another process keeps."""

from pathlib import Path

import pytest
from filelock import FileLock

from staleproof.drive.cluster.control_plane import ControlPlaneOptions
from staleproof.drive.cluster.control_plane.attach import VARIABLE, applies, use
from staleproof.errors import SetupError, UsageError

OPTIONS = ControlPlaneOptions()
UNDER_RBAC = ControlPlaneOptions(service_account="operators/manager")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "attach.json"
    path.write_text("{}")
    monkeypatch.setenv(VARIABLE, str(path))
    return path


async def used(options: ControlPlaneOptions, folder: Path) -> None:
    async with use(options, folder, why=""):
        pass


async def test_it_applies_where_one_is_named_and_free(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await applies(OPTIONS) == "STALEPROOF_ATTACH is set"
    assert await applies(UNDER_RBAC) is None
    with FileLock(f"{file}.lock"):
        assert await applies(OPTIONS) is None
    file.unlink()
    assert await applies(OPTIONS) is None
    monkeypatch.delenv(VARIABLE)
    assert await applies(OPTIONS) is None


async def test_where_it_cannot_be_used_it_says_what_to_do(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="knows no ServiceAccounts; leave them out, or use another provider"):
        await used(UNDER_RBAC, tmp_path)
    with pytest.raises(SetupError, match=r"tells of no control plane that runs .* unset STALEPROOF_ATTACH"):
        await used(OPTIONS, tmp_path)
    with (
        FileLock(f"{file}.lock"),
        pytest.raises(SetupError, match="another run uses the control plane"),
    ):
        await used(OPTIONS, tmp_path)
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(UsageError, match="needs the file that STALEPROOF_ATTACH names; set it"):
        await used(OPTIONS, tmp_path)
