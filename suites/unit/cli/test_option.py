"""The command's options: shorter names, and what is not given comes from the environment, then from staleproof.yaml."""

import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from staleproof.cli import as_called_here, cli
from staleproof.cli.option import called, command_of, leaves, settings_of
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
    assert settings.dir == Path(".staleproof"), "commands without options look there"


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
