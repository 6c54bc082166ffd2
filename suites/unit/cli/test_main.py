"""The top of the command line: every error has an exit code, and none of them is a finding's."""

import click
import pytest

from staleproof.cli import cli, main
from staleproof.errors import HarnessBug, SetupError, UsageError


@pytest.mark.parametrize(
    ("error", "code", "told"),
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
    error: Exception, code: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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
    assert told in shown.err
    assert shown.out == ""
    assert ("Traceback" in shown.err) is isinstance(error, KeyError), "only what nobody expected shows where it came from"
