"""Pages of what is on disk."""

import shlex
from pathlib import Path

import pytest
from msgspec import structs

from staleproof.assess.store.pages import run_page, trial_page, write_page
from staleproof.assess.store.reports import read_report
from staleproof.assess.store.run_folder import HISTORY, exported
from staleproof.report.html.document import Writes
from staleproof.report.model import RequirementVerdict, encode

from ...judged import HISTORIES, run_of


def test_the_page_of_a_run_has_the_timeline_of_what_was_found(tmp_path: Path) -> None:
    page = run_page(tmp_path, run_of(tmp_path, "naive-hidden-creates"))
    (finding,) = page.findings

    assert finding.drawn is not None
    assert finding.drawn.timeline == "001"
    assert page.timelines["001"].tales[0].cause == finding.cause
    assert finding.steps


def test_a_finding_has_the_exported_trial_and_a_run_without_the_faults_beside_it(tmp_path: Path) -> None:
    page = run_page(tmp_path, run_of(tmp_path, "naive-hidden-creates", "naive-hidden-deletes"))
    deletes, creates = page.findings

    for finding in (deletes, creates):
        assert finding.drawn is not None
        assert finding.drawn.attachment is not None
        assert finding.drawn.attachment.data == exported(tmp_path / "trials" / finding.trials[0] / HISTORY)
        assert page.timelines[finding.drawn.reference].bands == ()
    assert [trial.writes for trial in page.trials] == [Writes(did=18, least=5, most=5), Writes(did=12, least=9, most=9)]


def test_two_findings_of_one_trial_have_a_timeline_each(tmp_path: Path) -> None:
    run = run_of(tmp_path, "naive-hidden-creates")
    (trial,) = run.trials
    more = RequirementVerdict(requirement="settles", result="failed", severity="transient", cause="something else")
    page = run_page(tmp_path, structs.replace(run, trials=(structs.replace(trial, verdicts=(*trial.verdicts, more)),)))

    assert [finding.drawn.timeline for finding in page.findings if finding.drawn] == ["001", "001 2"]
    assert page.timelines["001"].tales[0].headline == page.findings[0].headline


def test_a_history_too_large_for_a_page_is_not_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("staleproof.assess.store.pages._LARGEST_ATTACHMENT", 100)
    (finding,) = run_page(tmp_path, run_of(tmp_path, "naive-hidden-creates")).findings

    assert finding.drawn is not None
    assert finding.drawn.attachment is not None
    assert finding.drawn.attachment.data is None
    assert finding.drawn.attachment.name.endswith(".jsonl.gz")


def test_of_each_reason_why_something_is_inconclusive_a_trial_is_drawn(tmp_path: Path) -> None:
    page = run_page(tmp_path, run_of(tmp_path, "mutants/counts_for_ever", "expectations-hidden-creates"))

    assert page.questions
    for question in page.questions:
        assert question.drawn is not None
        assert question.drawn.timeline in page.timelines


def test_an_interrupted_run_does_not_wait_for_what_takes_long(tmp_path: Path) -> None:
    run = structs.replace(run_of(tmp_path, "naive-hidden-creates"), partial=True)
    page = run_page(tmp_path, run)

    assert [trial.writes for trial in page.trials] == [None]
    assert page.findings[0].drawn is not None
    assert page.findings[0].drawn.attachment is None


def test_what_was_not_kept_is_left_out(tmp_path: Path) -> None:
    run = run_of(tmp_path, "naive-hidden-creates")
    for path in (tmp_path / "trials" / "001").iterdir():
        path.unlink()
    (finding,) = run_page(tmp_path, run).findings

    assert (finding.drawn, finding.steps) == (None, ())
    assert finding.story.startswith("no-duplicate-create")


def test_it_is_written_beside_the_report(tmp_path: Path) -> None:
    run = run_of(tmp_path, "expectations-hidden-creates")
    (tmp_path / "report.json").write_bytes(encode(run))

    assert read_report(tmp_path) == run
    assert write_page(tmp_path, run).read_bytes().startswith(b"<!doctype html>")


def test_of_a_history_that_stands_alone_there_is_a_page(tmp_path: Path) -> None:
    page = trial_page(str(HISTORIES / "naive-hidden-deletes.jsonl"), tmp_path)
    (finding,) = page.findings

    assert page.title.startswith("naive-hidden-deletes: ")
    assert finding.replay == "staleproof replay naive-hidden-deletes.jsonl"
    assert finding.drawn is not None
    assert finding.drawn.attachment is not None
    assert finding.drawn.attachment.name == "naive-hidden-deletes.jsonl.gz"


def test_a_command_on_a_page_can_be_pasted(tmp_path: Path) -> None:
    path = tmp_path / "my trial.jsonl"
    path.write_bytes((HISTORIES / "naive-hidden-creates.jsonl").read_bytes())
    replay = trial_page(str(path), tmp_path).findings[0].replay
    assert shlex.split(replay) == ["staleproof", "replay", "my trial.jsonl"]
