"""`staleproof report`: what it writes of a trial, and what it says where there is nothing."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from staleproof.cli.report import report_group
from staleproof.errors import UsageError

from ..judged import HISTORIES


@pytest.mark.parametrize("is_named", [True, False])
def test_of_an_exported_trial_one_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_named: bool) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(HISTORIES / "naive-hidden-creates.jsonl", "found.jsonl")
    options = ["--output", "found.html"] if is_named else []
    done = CliRunner().invoke(report_group, ["html", "found.jsonl", *options], standalone_mode=False)

    assert done.exception is None
    assert done.output.startswith("found.html: ")
    assert Path("found.html").read_bytes().startswith(b"<!doctype html>")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["html"], "there is no run here yet (.staleproof/latest): name the folder of one"),
        (["trace"], "there is no run here yet"),
        (["junit"], "there is no run here yet"),
        (["junit", "nosuch"], "there is no folder nosuch: name the folder of a run"),
        (["merge", "nosuch", "other"], "there is no folder nosuch"),
        (["html", "nosuch"], "cannot read nosuch: No such file or directory; give a history, the folder of a trial"),
    ],
)
def test_what_is_not_there_is_reported_with_what_to_give(
    command: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(report_group, command, standalone_mode=False)
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith(message)


def test_the_list_of_commands_cuts_no_sentence() -> None:
    shown = CliRunner().invoke(report_group, ["--help"]).output.partition("Commands:")[2]
    assert "..." not in shown
    assert all(f"  {name} " in shown for name in report_group.commands)
