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

from staleproof.assess.artefacts import find_plan, keep_crash, suite_digest, trial_report, write
from staleproof.assess.result import Result
from staleproof.assess.run_folder import HISTORY, RunFolder
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.fingerprint import fingerprint
from staleproof.core.plan import Subject, encode
from staleproof.errors import SetupError, UsageError
from staleproof.report.conformance import SCHEMA
from staleproof.report.model import Report, findings

from ..judged import result


@pytest.fixture
def guilty(tmp_path: Path) -> Result:
    return result("naive-hidden-creates", tmp_path / "runs" / "now" / "trials" / "001", seconds=1.23456)


@pytest.fixture
def innocent(tmp_path: Path) -> Result:
    return result("expectations-hidden-creates", tmp_path / "runs" / "now" / "trials" / "002")


# --- the fingerprint -----------------------------------------------------------------------------------------------------------


def test_the_fingerprint_survives_the_file(guilty: Result, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(encode(guilty.plan))
    assert fingerprint(find_plan(str(tmp_path), tmp_path)) == fingerprint(guilty.plan)


# --- crash files ---------------------------------------------------------------------------------------------------------------


def test_a_finding_is_kept_until_its_plan_passes(guilty: Result, innocent: Result, tmp_path: Path) -> None:
    assert keep_crash(tmp_path, innocent) == ""
    assert not (tmp_path / "crashes").exists()
    name = keep_crash(tmp_path, guilty)
    assert [path.name for path in (tmp_path / "crashes").iterdir()] == [f"{name}.json"]
    assert name == fingerprint(guilty.plan)
    kept = json.loads((tmp_path / "crashes" / f"{name}.json").read_text())
    assert kept["findings"] == [story.text() for story in guilty.stories]
    assert kept["environment"]["kubernetes"] == "v1.36.3"
    assert find_plan(name, tmp_path) == guilty.plan

    assert keep_crash(tmp_path, innocent) == ""
    fixed = replace(innocent, plan=guilty.plan)
    assert keep_crash(tmp_path, fixed) == ""
    assert list((tmp_path / "crashes").iterdir()) == []


def test_a_finding_is_kept_while_nobody_knows(guilty: Result, innocent: Result, tmp_path: Path) -> None:
    name = keep_crash(tmp_path, guilty)
    (slug,) = json.loads((tmp_path / "crashes" / f"{name}.json").read_text())["requirements"]
    others = tuple(verdict for verdict in innocent.verdicts if verdict.requirement != slug)
    for unknown in (
        Verdict(slug, Outcome.INCONCLUSIVE, why="it was interrupted"),
        Verdict(slug, Outcome.NOT_EXERCISED, why="nothing was hidden"),
    ):
        keep_crash(tmp_path, replace(innocent, plan=guilty.plan, verdicts=(unknown, *others)), replayed=True)
        assert find_plan(name, tmp_path) == guilty.plan


def test_another_controller_fixes_nothing_unless_it_is_a_replay(guilty: Result, innocent: Result, tmp_path: Path) -> None:
    name = keep_crash(tmp_path, guilty)
    another = msgspec.structs.replace(guilty.plan, controller=Subject(command=("./bin/another",)))
    passed = replace(innocent, plan=another)
    keep_crash(tmp_path, passed)
    assert find_plan(name, tmp_path) == guilty.plan
    keep_crash(tmp_path, passed, replayed=True)
    assert list((tmp_path / "crashes").iterdir()) == []


def test_what_is_no_crash_file_is_not_removed(guilty: Result, innocent: Result, tmp_path: Path) -> None:
    path = tmp_path / "crashes" / f"{fingerprint(guilty.plan)}.json"
    path.parent.mkdir()
    for content in ("", "[]", '{"plan": {}}', '{"requirements": [], "plan": 1}'):
        path.write_text(content)
        keep_crash(tmp_path, replace(innocent, plan=guilty.plan), replayed=True)
        assert path.read_text() == content


def test_what_cannot_be_written_is_told(guilty: Result, tmp_path: Path) -> None:
    (tmp_path / "crashes").write_text("")
    with pytest.raises(SetupError, match=r"cannot write .*: File exists; is the disk full or the folder write-protected"):
        keep_crash(tmp_path, guilty)


def test_a_name_that_cannot_be_a_file_is_no_plan(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read the plan 'xxx.*': File name too long"):
        find_plan("x" * 5000, tmp_path)


# --- finding a plan again ------------------------------------------------------------------------------------------------------


def test_a_plan_is_found_by_file_folder_and_id(guilty: Result, tmp_path: Path) -> None:
    name = keep_crash(tmp_path, guilty)
    (guilty.folder / "plan.json").write_bytes(encode(guilty.plan))
    (tmp_path / "mine.json").write_bytes(encode(guilty.plan))
    (tmp_path / "latest").symlink_to(tmp_path / "runs" / "now")
    in_folder = [str(guilty.folder), str(guilty.folder / "plan.json"), str(guilty.folder / HISTORY)]
    for text in (name, "001", *in_folder, str(tmp_path / "mine.json")):
        assert find_plan(text, tmp_path) == guilty.plan
    assert find_plan(str(tmp_path / "crashes" / f"{name}.json"), tmp_path / "elsewhere") == guilty.plan


def test_a_plan_in_a_run_gets_its_manifests_back(guilty: Result, tmp_path: Path) -> None:
    kept = RunFolder(tmp_path / "runs" / "now").keep_manifests(guilty.plan)
    assert kept != guilty.plan
    (guilty.folder / "plan.json").write_bytes(encode(kept))
    assert find_plan(str(guilty.folder), tmp_path) == guilty.plan
    (tmp_path / "copied.json").write_bytes(encode(kept))
    with pytest.raises(UsageError, match=r"copied\.json needs what its run folder keeps in shared/, and no folder above"):
        find_plan(str(tmp_path / "copied.json"), tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "text", "told"),
    [
        ("empty/.keep", "", "nosuch", "no plan 'nosuch': expected a plan.json, a trial's folder, its name in"),
        ("mine.jsonl", '{"entry":"header"}', "mine.jsonl", "mine.jsonl: line 1"),
        ("folder/history.jsonl", "", "folder", "no plan"),
        ("plan.json", "{", "plan.json", "plan.json: not JSON"),
        ("plan.json", '{"kind": "Report"}', "plan.json", "kind 'Report'"),
        ("crashes/0123456789.json", "{", "0123456789", "0123456789.json is not a crash file of staleproof"),
        ("crashes/0123456789.json", '{"findings": []}', "0123456789", "is not a crash file of staleproof: 'plan'"),
        ("crashes/0123456789.json", "[]", "0123456789", "is not a crash file of staleproof"),
        ("crashes/0123456789.json", '{"plan": {"kind": "Plan"}}', "0123456789", "apiVersion"),
    ],
)
def test_what_is_no_plan_is_refused_by_name(
    file: str, content: str, text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(content)
    with pytest.raises(UsageError) as caught:
        find_plan(text, Path())
    assert told in str(caught.value)


# --- reports -------------------------------------------------------------------------------------------------------------------


def test_a_trial_is_told_by_what_was_recorded(guilty: Result, tmp_path: Path) -> None:
    told = trial_report(guilty, tmp_path / "runs" / "now", "0123456789")
    assert (told.name, told.folder, told.seconds, told.reproduced) == ("001", "trials/001", 1.235, (3, 3))
    assert (told.faults_planned, told.faults_fired, told.crash) == (1, 1, "0123456789")
    assert told.evidence == hashlib.sha256(gzip.decompress((guilty.folder / HISTORY).read_bytes())).hexdigest()
    assert {verdict.requirement: verdict.result for verdict in told.verdicts if verdict.exercised} | {
        "no-duplicate-create": "failed"
    } == {verdict.requirement: verdict.result for verdict in told.verdicts if verdict.exercised}
    assert [verdict.story for verdict in told.verdicts if verdict.story] == [story.text() for story in guilty.stories]


def test_a_history_that_was_removed_is_told(innocent: Result, tmp_path: Path) -> None:
    before = trial_report(innocent, tmp_path)
    (innocent.folder / HISTORY).unlink()
    assert (before.kept, trial_report(innocent, tmp_path)) == (True, msgspec.structs.replace(before, kept=False))


def test_not_exercised_and_inconclusive_are_told_apart(innocent: Result, tmp_path: Path) -> None:
    verdicts = (
        Verdict("settles", Outcome.NOT_EXERCISED, why="nothing was written"),
        Verdict("no-excess-delete", Outcome.INCONCLUSIVE, why="the references differ"),
    )
    told = trial_report(replace(innocent, verdicts=verdicts), tmp_path)
    assert [(v.result, v.exercised, v.why) for v in told.verdicts] == [
        ("inconclusive", False, "nothing was written"),
        ("inconclusive", True, "the references differ"),
    ]


def test_both_reports_are_written(guilty: Result, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "now"
    report = Report(run_id="now", date="2026-01-01T00:00:00+00:00", reproduce="pytest", trials=(trial_report(guilty, folder),))
    write(folder, report)
    told = msgspec.structs.replace(report, findings=tuple(findings(report.trials)))
    assert msgspec.json.decode((folder / "report.json").read_bytes(), type=Report) == told
    assert [(each.severity, each.requirements) for each in told.findings] == [("duplicated", ("no-duplicate-create",))]
    conformance = yaml.safe_load((folder / "conformance.yaml").read_text())
    jsonschema.validate(conformance, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert conformance["metadata"]["tool"]["suiteDigest"] == suite_digest()


def test_the_suite_digest_is_a_stable_sha256() -> None:
    algorithm, _, digest = suite_digest().partition(":")
    assert (algorithm, len(bytes.fromhex(digest))) == ("sha256", 32)
    assert suite_digest() == suite_digest()
