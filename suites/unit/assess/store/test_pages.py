"""Pages of what is on disk."""

from pathlib import Path

import pytest

from staleproof.assess.store.artefacts import trial_report
from staleproof.assess.store.pages import read_report, run_page, trial_page, write_page
from staleproof.assess.store.run_folder import PLAN
from staleproof.core.plan.plan import encode as encode_plan
from staleproof.errors import UsageError
from staleproof.report.model import Report, encode
from staleproof.report.model import Report as Run

from ...judged import HISTORIES, result


def run_of(folder: Path, *names: str) -> Run:
    """A run of these golden histories, in this folder."""
    trials = []
    for number, name in enumerate(names, 1):
        done = result(name, folder / "trials" / f"{number:03}")
        (done.folder / PLAN).write_bytes(encode_plan(done.plan))
        trials.append(trial_report(done, folder))
    return Report(run_id="r", date="d", reproduce="x", trials=tuple(trials))


def test_the_page_of_a_run_has_the_timeline_of_what_was_found(tmp_path: Path) -> None:
    page = run_page(tmp_path, run_of(tmp_path, "naive-hidden-creates"))
    (finding,) = page.findings

    assert list(page.timelines) == [finding.timeline] == ["001"]
    assert page.timelines["001"].tales[0].cause == finding.cause
    assert finding.steps


def test_what_was_not_kept_is_left_out(tmp_path: Path) -> None:
    run = run_of(tmp_path, "naive-hidden-creates")
    for path in (tmp_path / "trials" / "001").iterdir():
        path.unlink()
    (finding,) = run_page(tmp_path, run).findings

    assert (finding.timeline, finding.steps) == ("", ())
    assert finding.story.startswith("no-duplicate-create")


def test_it_is_written_beside_the_report(tmp_path: Path) -> None:
    run = run_of(tmp_path, "expectations-hidden-creates")
    (tmp_path / "report.json").write_bytes(encode(run))

    assert read_report(tmp_path) == run
    assert write_page(tmp_path, run).read_bytes().startswith(b"<!doctype html>")


def test_of_a_history_that_stands_alone_there_is_a_page(tmp_path: Path) -> None:
    page = trial_page(str(HISTORIES / "naive-hidden-deletes.jsonl"), tmp_path)
    assert page.title.startswith("naive-hidden-deletes: ")


def test_what_is_no_report_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_report(tmp_path)
    (tmp_path / "report.json").write_text("[")
    with pytest.raises(UsageError, match="not the report of a run"):
        read_report(tmp_path)
