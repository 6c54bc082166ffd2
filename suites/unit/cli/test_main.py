"""The top of the command line: every error has an exit code, and none of them is a finding's."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from staleproof.cli import COMMANDS, cli, main
from staleproof.errors import HarnessBug, SetupError, UsageError


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("no such plan"), 4, "staleproof: no such plan\n"),
        (SetupError("port taken"), 11, "staleproof: port taken\n"),
        (HarnessBug("impossible"), 3, "staleproof: impossible\nThis is a bug of staleproof; please report it"),
        (KeyError("x"), 3, "staleproof: unexpected KeyError: 'x'\nThis is a bug of staleproof; please report it"),
        (ExceptionGroup("two", [ValueError(), SetupError("port taken")]), 11, "staleproof: port taken\n"),
        (click.UsageError("no such option"), 4, "no such option"),
        (click.Abort(), 2, "interrupted"),
    ],
)
def test_an_error_becomes_its_exit_code(
    error: Exception, code: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.command()
    def breaking() -> None:
        raise error

    monkeypatch.setitem(cli.commands, "breaking", breaking)
    monkeypatch.setattr("sys.argv", ["staleproof", "breaking"])
    with pytest.raises(SystemExit) as exited:
        main()
    assert exited.value.code == code
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""
    assert ("Traceback" in shown.err) is isinstance(error, KeyError), "only an unexpected error shows where it came from"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_how_the_help_of_each_begins(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    assert " ".join((command.help or "").split()).startswith(COMMANDS[name][1])


@pytest.mark.io
def test_the_list_of_commands_imports_none_of_them() -> None:
    """Of `core` nothing but its times."""
    code = "import sys\nfrom staleproof.cli import main\ntry: main()\nfinally: print([m for m in sys.modules if IS_HEAVY])"
    heavy = ["aiohttp", "hypothesis", "kubernetes", "msgspec", "rich", "staleproof.settings", "yaml"]
    of_core = "m.startswith('staleproof.core.') and m != 'staleproof.core.times'"
    code = code.replace("IS_HEAVY", f"m in {heavy!r} or ({of_core})")
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in COMMANDS)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.io
def test_a_reader_that_goes_away_is_no_finding() -> None:
    """`staleproof check TRIAL | head`."""
    history = Path(__file__).parents[3] / "fixtures" / "histories" / "expectations-hidden-creates.jsonl"
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "staleproof", "check", str(history)], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
