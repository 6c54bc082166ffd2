import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from staleproof.cli import control_plane as module
from staleproof.cli.control_plane import control_plane_group
from staleproof.drive.programs.kubernetes import COMPANIONS, KUBERNETES_VERSION, SERVERS, bring_in, entry_folder
from staleproof.errors import SetupError


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path))
    made = tmp_path / "made"
    made.mkdir()
    folder = entry_folder(tmp_path, KUBERNETES_VERSION)
    for each in (SERVERS, COMPANIONS):
        (made / each.name).write_text("binary")
        (made / each.name).chmod(0o755)
        bring_in(made, folder, each)
    return folder


def test_path_prints_the_folder_and_nothing_else(entry: Path) -> None:
    result = CliRunner().invoke(control_plane_group, ["path"])
    assert result.stdout == f"{entry}\n"
    assert result.exit_code == 0


def test_build_has_nothing_to_do_and_says_where_it_is(entry: Path) -> None:
    result = CliRunner().invoke(control_plane_group, ["build"])
    assert result.stdout == ""
    assert str(entry) in result.stderr


def test_errors_are_raised_for_the_top_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path / "file" / "cache"))
    result = CliRunner().invoke(control_plane_group, ["path"])
    assert isinstance(result.exception, SetupError)
    assert result.stdout == ""


@pytest.mark.parametrize("provider", ["minikube", "existing"])
def test_what_is_no_provider_or_a_cluster_that_exists_is_not_started(provider: str) -> None:
    assert CliRunner().invoke(control_plane_group, ["start", f"--provider={provider}"]).exit_code == 2


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """No control plane can be started."""

    @contextlib.asynccontextmanager
    async def start(*_: object) -> AsyncIterator[None]:
        raise SetupError("no go, no image")
        yield

    monkeypatch.setattr(module, "control_plane", start)
    monkeypatch.setattr(module, "cancel_on_signals", lambda: None)


@pytest.mark.usefixtures("fails")
def test_a_file_that_another_wrote_stays(tmp_path: Path) -> None:
    attach = tmp_path / "plane.json"
    attach.write_text("of another that runs")
    words = ["start", f"--attach={attach}", f"--folder={tmp_path / 'new'}"]
    assert isinstance(CliRunner().invoke(control_plane_group, words).exception, SetupError)
    assert attach.read_text() == "of another that runs"


@pytest.mark.usefixtures("fails")
def test_a_kubeconfig_of_the_users_is_not_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "kubeconfig"
    mine.write_text("mine")
    done = CliRunner().invoke(control_plane_group, ["start", f"--folder={tmp_path}"])
    assert "kubeconfig is there already, and would be overwritten" in str(done.exception)
    assert mine.read_text() == "mine"
