"""`staleproof report`: a run folder, reported in each format."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from staleproof.cli import cli
from staleproof.report.formats import FORMATS
from staleproof.report.model import encode

from ..judged import result
from ..report import runs
from ..report.runs import verdict

REPORT = runs.report(
    runs.trial("001", verdict("no-duplicate-create", runs.BAD, story="no-duplicate-create two pods", cause="a list"))
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "report.json").write_bytes(encode(REPORT))
    return tmp_path


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_a_command(name: str, run: Path) -> None:
    done = CliRunner().invoke(cli, ["report", name, str(run)], standalone_mode=False)
    assert done.exception is None
    path = run / FORMATS[name].file
    assert done.output.startswith(f"{path}: ")
    shown = CliRunner().invoke(cli, ["report", name, str(run), "--output", "-"], standalone_mode=False)
    assert shown.stdout_bytes == path.read_bytes()


def test_a_trial_has_a_trace_of_its_own(tmp_path: Path) -> None:
    result("naive-hidden-creates", tmp_path / "trials" / "001")
    done = CliRunner().invoke(cli, ["report", "trace", str(tmp_path / "trials" / "001")], standalone_mode=False)
    assert done.exception is None
    events = json.loads((tmp_path / "trials" / "001" / "trace.json").read_bytes())["traceEvents"]
    assert events[0]["args"]["name"].startswith("001 ")
    assert {"pods: what was true", "pods: what was shown"} <= {event["args"].get("name") for event in events if event["ph"] == "M"}


def test_the_file_may_be_named(run: Path) -> None:
    CliRunner().invoke(cli, ["report", "junit", str(run), "--output", str(run / "other" / "a.xml")], standalone_mode=False)
    assert b"<testsuites" in (run / "other" / "a.xml").read_bytes()


def test_a_baseline_and_a_place_in_the_source_count(run: Path) -> None:
    (run / "known.yaml").write_text(
        "apiVersion: staleproof.dev/v1alpha1\nkind: Baseline\nfindings:\n- {cause: a list, requirements: [no-duplicate-create]}\n"
    )
    given = ["--baseline", str(run / "known.yaml"), "--controller-source", "a/b.go:3", "--output", "-"]
    done = CliRunner().invoke(cli, ["report", "sarif", str(run), *given], standalone_mode=False)
    assert '"suppressions"' in done.output
    assert '"uri": "a/b.go"' in done.output


@pytest.mark.parametrize("source", ["/etc/passwd", "../a.go", "a.go:x", "a.go:0"])
def test_a_place_outside_of_the_repository_is_refused(source: str, run: Path) -> None:
    done = CliRunner().invoke(cli, ["report", "sarif", str(run), "--controller-source", source], standalone_mode=False)
    assert "expected a path in the controller's repository" in str(done.exception)
