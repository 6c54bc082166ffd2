from pathlib import Path

import pytest
from click.testing import CliRunner

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
