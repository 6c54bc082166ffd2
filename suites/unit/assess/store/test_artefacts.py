"""The files of a run: written from results, found again by what a person has at hand."""

import gzip
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import msgspec
import pytest
import yaml

from staleproof.assess.store.artefacts import suite_digest, trial_report, write
from staleproof.assess.store.run_folder import HISTORY
from staleproof.assess.trial.result import Result
from staleproof.checks.judge import judge
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.history.entry import Committed
from staleproof.core.history.history import decode
from staleproof.report.conformance import SCHEMA
from staleproof.report.inert import inert
from staleproof.report.model import Report, encode, findings

from ...judged import HISTORIES, result


@pytest.fixture
def guilty(tmp_path: Path) -> Result:
    return result("naive-hidden-creates", tmp_path / "runs" / "now" / "trials" / "001", seconds=1.23456)


@pytest.fixture
def innocent(tmp_path: Path) -> Result:
    return result("expectations-hidden-creates", tmp_path / "runs" / "now" / "trials" / "002")


# --- reports -------------------------------------------------------------------------------------------------------------------


def test_a_trial_is_reported_by_what_was_recorded(guilty: Result, tmp_path: Path) -> None:
    report = trial_report(guilty, tmp_path / "runs" / "now", "0123456789")
    assert (report.name, report.folder, report.seconds, report.reproduced) == ("001", "trials/001", 1.235, (3, 3))
    assert (report.faults_planned, report.faults_fired, report.crash) == (1, 1, "0123456789")
    assert report.evidence == hashlib.sha256(gzip.decompress((guilty.folder / HISTORY).read_bytes())).hexdigest()
    assert {verdict.requirement: verdict.result for verdict in report.verdicts if verdict.exercised} | {
        "no-duplicate-create": "failed"
    } == {verdict.requirement: verdict.result for verdict in report.verdicts if verdict.exercised}
    assert [verdict.story for verdict in report.verdicts if verdict.story] == [story.text() for story in guilty.stories]


def test_a_history_that_was_removed_is_reported(innocent: Result, tmp_path: Path) -> None:
    before = trial_report(innocent, tmp_path)
    (innocent.folder / HISTORY).unlink()
    assert (before.kept, trial_report(innocent, tmp_path)) == (True, msgspec.structs.replace(before, kept=False))


def test_not_exercised_and_inconclusive_are_told_apart(innocent: Result, tmp_path: Path) -> None:
    verdicts = (
        Verdict("settles", Outcome.NOT_EXERCISED, why="nothing was written"),
        Verdict("no-excess-delete", Outcome.INCONCLUSIVE, why="the references differ"),
    )
    report = trial_report(replace(innocent, verdicts=verdicts), tmp_path)
    assert [(v.result, v.exercised, v.why) for v in report.verdicts] == [
        ("not exercised", False, "nothing was written"),
        ("inconclusive", True, "the references differ"),
    ]


def test_both_reports_are_written(guilty: Result, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "now"
    report = Report(
        run_id="now",
        date="2026-01-01T00:00:00+00:00",
        reproduce="pytest",
        suite_digest=suite_digest(),
        trials=(trial_report(guilty, folder),),
    )
    write(folder, report)
    expected = msgspec.structs.replace(report, findings=tuple(findings(report.trials)))
    assert msgspec.json.decode((folder / "report.json").read_bytes(), type=Report) == expected
    assert [(each.severity, each.requirements) for each in expected.findings] == [("duplicated", ("no-duplicate-create",))]
    conformance = yaml.safe_load((folder / "conformance.yaml").read_text())
    jsonschema.validate(conformance, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert conformance["metadata"]["tool"]["suiteDigest"] == suite_digest()
    assert not (folder / "observations.jsonl").exists()


def test_the_suite_digest_is_a_stable_sha256() -> None:
    algorithm, _, digest = suite_digest().partition(":")
    assert (algorithm, len(bytes.fromhex(digest))) == ("sha256", 32)
    assert suite_digest() == suite_digest()


def test_what_became_of_drawn_plans_is_written(guilty: Result, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "now"
    drawn = msgspec.structs.replace(trial_report(guilty, folder), scenario="drawn")
    write(folder, Report(run_id="now", date="2026-01-01T00:00:00+00:00", reproduce="pytest", trials=(drawn,)))
    line = msgspec.json.decode((folder / "observations.jsonl").read_bytes())
    assert (line["status"], line["status_reason"]) == ("failed", "it creates pods on an old view of pods")


@pytest.mark.parametrize("text", ["\x1b[31mred", "sample\u202egnp", "a\u200bb", "c\x00d", "x" * 1_000_000])
def test_what_others_call_things_is_inert_in_a_report(text: str, tmp_path: Path) -> None:
    """In the story of a pod of this name, and as an annotation of it."""
    spelt = json.dumps(text)[1:-1].encode()
    data = (HISTORIES / "naive-hidden-creates.jsonl").read_bytes().replace(b"sample-klst5", spelt)
    found = decode(data)
    for entry in found.entries:
        if isinstance(entry, Committed):
            entry.object["metadata"]["annotations"] = {text: text}
    of = replace(result("naive-hidden-creates", tmp_path / "trials" / "001"), history=found, verdicts=judge(found))
    report = trial_report(of, tmp_path)
    written = encode(Report(run_id="now", date="", reproduce="", trials=(report,)))
    assert any(inert(text, 100)[:8] in verdict.story for verdict in report.verdicts), "it is there to be read"
    assert b"\\u001b" not in written
    assert not {"\u202e", "\u200b", "\x00"} & set(written.decode())
    assert len(written) < 300_000
