"""`staleproof report html`."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from staleproof.cli.report import report_group

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
