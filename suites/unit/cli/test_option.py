"""The command's options: shorter names, and what is not given comes from the environment, then from staleproof.yaml."""

import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from staleproof.cli import as_called_here, cli
from staleproof.cli.option import artefacts, called, command_of, leaves, settings_of
from staleproof.errors import UsageError
from staleproof.settings import OPTIONS
from staleproof.settings_file import NAME

FILE = """
apiVersion: staleproof.dev/v1alpha1
kind: Configuration
controller-cmd: ./from-file
controller-start-seconds: 60
dir: elsewhere
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_text(FILE)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "environ", "command"),
    [
        ({"controller_cmd": None, "samples": ()}, {}, "./from-file"),
        ({"controller_cmd": None}, {"STALEPROOF_CONTROLLER_CMD": "./from-environment"}, "./from-environment"),
        ({"controller_cmd": "./given"}, {"STALEPROOF_CONTROLLER_CMD": "./from-environment"}, "./given"),
    ],
)
def test_which_setting_wins(options: dict[str, object], environ: dict[str, str], command: str) -> None:
    settings = settings_of(options, environ)
    assert settings.controller_cmd == (command,)
    assert settings.controller_start_seconds == 60, "also where the command has no such option"
    assert settings.dir == Path("elsewhere")


def test_the_artefact_folder_is_the_one_that_runs_have(here: Path) -> None:
    """A command that says `again: staleproof replay ID` is found there."""
    assert artefacts({}, {}) == Path("elsewhere")
    assert artefacts({"dir": "given"}, {"STALEPROOF_DIR": "of-environment"}) == Path("given")
    (here / NAME).unlink()
    assert artefacts({}, {"STALEPROOF_DIR": "of-environment"}) == Path("of-environment")
    assert artefacts({}, {}) == Path(".staleproof")
    (here / "elsewhere").mkdir()
    for words in (
        ["check", "nosuch"],
        ["export", "nosuch"],
        ["report", "issue", "nosuch"],
        ["report", "junit"],
        ["report", "trace", "x"],
    ):
        done = CliRunner().invoke(cli, [*words, "--staleproof-dir=elsewhere"], standalone_mode=False)
        assert isinstance(done.exception, UsageError)
        assert "No such option" not in str(done.exception)
    assert "elsewhere/latest" in str(
        CliRunner().invoke(cli, ["report", "junit", "--dir=elsewhere"], standalone_mode=False).exception
    )


@pytest.mark.parametrize("option", ["--kube-provider=cache", "--staleproof-kube-provider=cache", "--provider=cache"])
def test_provider_is_short_for_kube_provider(option: str) -> None:
    done = CliRunner().invoke(cli, ["doctor", option, "--samples=nosuch", "--controller-cmd=x"], standalone_mode=False)
    assert "nosuch does not exist" in str(done.exception)


@pytest.mark.parametrize("option", ["profile=smoke", "minutes=5", "staleproof-profile=smoke", "patience=60", "keep=all", "dry-run"])
def test_a_line_of_options_serves_the_doctor(option: str) -> None:
    done = CliRunner().invoke(cli, ["doctor", f"--{option}", "--samples=nosuch", "--controller-cmd=x"], standalone_mode=False)
    assert "nosuch does not exist" in str(done.exception)
    assert "is left out: the doctor has no use for it" in done.stderr


@pytest.mark.parametrize("command", ["run", "doctor", "map", "replay"])
@pytest.mark.parametrize("option", ["--controller-start-seconds=120", "--staleproof-kube-image=x"])
def test_how_the_controller_starts_can_be_said_everywhere(command: str, option: str) -> None:
    words = [command, option, "--controller-cmd=x", *(["nosuch"] if command == "replay" else ["--samples=nosuch"])]
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    assert "nosuch" in str(done.exception)
    assert "left out" not in done.stderr


def test_names_are_shorter_than_pytests() -> None:
    names = ("kube_provider", "controller_cmd", "samples")
    assert [called(name) for name in names] == ["--provider", "--controller-cmd", "--samples"]


def test_a_line_of_pytests_options_serves_here_too() -> None:
    for option in OPTIONS:
        assert as_called_here(option.flag.removeprefix("--")) == called(option.name).removeprefix("--")
    line = ["--controller-cmd=./manager", "--staleproof-crds=config/crd", "--staleproof-kube-provider=cache"]
    doctor = cli.get_command(click.Context(cli), "doctor")
    assert doctor is not None
    given = doctor.make_context("doctor", line, parent=click.Context(cli, **cli.context_settings)).params
    assert (given["controller_cmd"], given["crds"], given["kube_provider"]) == ("./manager", ("config/crd",), "cache")


def test_the_command_again_has_what_was_said_anywhere(here: Path) -> None:
    options = {
        "controller_cmd": None,
        "controller_env": ("KEY=a long secret",),
        "allow_remote_cluster": "yes",
        "samples": ("a b.yaml",),
    }
    words = shlex.split(command_of("run", ["plan.json"], options, {"STALEPROOF_PROFILE": "smoke"}))
    assert words[:3] == ["staleproof", "run", "plan.json"]
    assert set(words[3:]) == {
        "--controller-cmd=./from-file",
        "--controller-env=KEY=$KEY",
        "--allow-remote-cluster",
        "--samples=a b.yaml",
    }


def test_the_command_again_names_the_file_that_was_named(here: Path) -> None:
    """It may say what the command has no option for."""
    (here / "other.yaml").write_text(f"{FILE}mutations: m.yaml\n")
    words = shlex.split(command_of("run", (), {"controller_cmd": None, "config": "other.yaml"}, {}))
    assert words == ["staleproof", "run", "--controller-cmd=./from-file", "--config=other.yaml"]


def test_a_command_says_what_it_has_no_use_for() -> None:
    @click.command()
    @leaves("crds", "minutes", "dry_run", why="it has its own")
    def again() -> None:
        click.echo("done")

    for words in (["--crds", "a", "--crds=b"], ["--dry-run"]):
        made = CliRunner().invoke(again, words)
        said = f"staleproof: {words[0]} is left out: it has its own\n"
        assert (made.exit_code, made.stdout, made.stderr) == (0, "done\n", said)
    assert "--minutes" not in CliRunner().invoke(again, ["--help"]).stdout


def test_a_variable_that_is_misspelt_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    settings_of({}, {"STALEPROOF_PROFIL": "smoke"})
    assert (
        capsys.readouterr().err == "staleproof: STALEPROOF_PROFIL is no option and is left out; did you mean STALEPROOF_PROFILE?\n"
    )
