"""`staleproof report verify`, `merge` and `matrix`: what they say of reports, and their exit codes."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from msgspec.structs import replace

from staleproof.assess.store.artefacts import write
from staleproof.assess.store.merging import merge
from staleproof.assess.store.reports import read_report
from staleproof.cli import cli
from staleproof.errors import UsageError
from staleproof.report.baseline import Baseline, encode, updated
from staleproof.report.conformance import to_yaml

from ..assess.store.test_merging import NAMES, run


def called(*words: object) -> Result:
    return CliRunner().invoke(cli, ["report", *map(str, words)], standalone_mode=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return run(NAMES[0], tmp_path)


def test_what_a_run_wrote_is_right(folder: Path) -> None:
    done = called("verify", folder / "conformance.yaml")
    assert (done.return_value, done.exception) == (0, None)
    assert "sums: they follow from 1 trial\nhistories: 1 of 1 are those that the report has the digests of\n" in done.output
    assert done.output.endswith("conformance.yaml: right, as far as could be checked\n")


def test_what_was_changed_is_wrong(folder: Path) -> None:
    path = folder / "conformance.yaml"
    raw = yaml.safe_load(path.read_text())
    raw["profiles"][0]["core"]["tests"][0]["result"] = "passed"
    path.write_text(yaml.safe_dump(raw))
    done = called("verify", path)
    assert done.return_value == 1
    assert "no-duplicate-create.result: it says 'passed', and 'failed' follows from its trials" in done.output


def test_a_report_that_was_taken_elsewhere_asks_for_its_run_folder(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "report.yaml"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes((folder / "conformance.yaml").read_bytes())
    done = called("verify", elsewhere)
    assert done.return_value == 0
    assert "histories: not checked, because there is no run folder beside" in done.output
    assert "histories: 1 of 1" in called("verify", elsewhere, "--run", folder).output
    (folder / "trials" / "001" / "history.jsonl.gz").unlink()
    assert (
        "histories: 0 of 1 are those that the report has the digests of; 1 are not there: 001"
        in called("verify", elsewhere, "--run", folder).output
    )


def test_the_report_of_another_suite_says_so(folder: Path) -> None:
    path = folder / "conformance.yaml"
    raw = yaml.safe_load(path.read_text())
    raw["metadata"]["tool"]["suiteDigest"] = f"sha256:{'0' * 64}"
    path.write_text(yaml.safe_dump(raw))
    done = called("verify", path)
    assert done.return_value == 0
    assert "suite: another than this one" in done.output


def test_a_command_of_a_report_is_shown_and_asked_about_before_it_is_run(folder: Path) -> None:
    done = CliRunner().invoke(cli, ["report", "verify", str(folder / "conformance.yaml"), "--rerun"], input="n\n")
    assert f"again: pytest -k {NAMES[0]}\nRun this here? [y/N]: n\nagain: not run\n" in done.output
    assert done.output.endswith("right, as far as could be checked\n")
    assert done.exit_code == 0


def test_what_is_no_report_is_refused(folder: Path) -> None:
    assert isinstance(called("verify", folder / "report.json").exception, UsageError)
    assert isinstance(called("verify", folder / "nowhere.yaml").exception, UsageError)


def test_nothing_in_a_file_is_acted_on_by_a_terminal(folder: Path) -> None:
    path = folder / "conformance.yaml"
    raw = yaml.safe_load(path.read_text())
    raw["profiles"][0]["core"]["tests"][0]["name"] = "\x1b[2Jred\u202e"
    raw["metadata"]["tool"] |= {"suiteDigest": "", "version": "\x1b[31m"}
    path.write_text(yaml.safe_dump(raw))
    done = called("verify", path)
    assert done.return_value == 1
    assert "\\x1b[2Jred\\u202e" in done.output
    assert not {"\x1b[2J", "\x1b[31m0", "\u202e"} & {each for each in ("\x1b[2J", "\x1b[31m0", "\u202e") if each in done.output}


def test_runs_are_merged_into_the_artefact_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [run(name, tmp_path / name) for name in NAMES]
    monkeypatch.chdir(tmp_path)
    done = called("merge", *folders, "--report", "junit")
    assert done.return_value == 1, "one of them has a finding"
    made = tmp_path / ".staleproof" / "latest"
    assert {path.name for path in made.iterdir()} >= {"report.json", "conformance.yaml", "junit.xml", "trials", "shared"}
    assert Path(done.output.splitlines()[0]).read_bytes().startswith(b"<!doctype html>"), "the first is the page"
    assert "2 runs: failed: no-duplicate-create" in done.output
    assert called("verify", made / "conformance.yaml").return_value == 0


def test_a_part_that_was_interrupted_is_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = run(NAMES[1], tmp_path / "a"), tmp_path / "b" / "runs" / "run-b"
    write(two, replace(read_report(one), run_id="run-b", partial=True, trials=(), date="2026-01-02T00:00:00+00:00"))
    monkeypatch.chdir(tmp_path)
    for words in ((), ("--inconclusive", "ok")):
        done = called("merge", one, two, *words)
        assert done.return_value == 10
        assert "interrupted; nothing failed in what was finished" in done.output.replace("\n", " ")


@pytest.mark.parametrize("is_in_file", [True, False])
def test_what_is_known_fails_no_merged_run(is_in_file: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001  # a parameter
    folders = [run(name, tmp_path / name) for name in NAMES]
    (tmp_path / "known.yaml").write_bytes(encode(updated(Baseline(), read_report(folders[0]))))
    if is_in_file:
        head = "apiVersion: staleproof.dev/v1alpha1\nkind: Configuration\n"
        (tmp_path / "staleproof.yaml").write_text(f"{head}baseline: known.yaml\n")
    monkeypatch.chdir(tmp_path)
    done = called("merge", *folders, "--report=junit", *(() if is_in_file else ("--baseline=known.yaml",)))
    assert done.return_value == 0
    assert "1 known finding" in done.output
    assert "<failure" not in (tmp_path / ".staleproof" / "latest" / "junit.xml").read_text()


def test_a_trial_that_was_taken_out_of_the_report_is_missed(tmp_path: Path) -> None:
    folder, report = merge([str(run(name, tmp_path / name)) for name in NAMES], tmp_path / "merged")
    good = tuple(each for each in report.trials if all(verdict.result != "failed" for verdict in each.verdicts))
    assert len(good) == 1
    (folder / "conformance.yaml").write_text(to_yaml(replace(report, trials=good)))
    done = called("verify", folder / "conformance.yaml")
    assert done.return_value == 1
    assert f"{folder}: trial s1-001 is not in the report" in done.output


def test_a_report_without_a_profile_is_wrong_and_no_column(folder: Path) -> None:
    path = folder / "conformance.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"profiles": []}))
    done = called("verify", path)
    assert done.return_value == 1
    assert "profiles: it says [], and ['WATCH-CACHE'] follows from its trials" in done.output
    assert "expected one profile, found 0" in str(called("matrix", path).exception)


def test_where_nothing_can_be_read_or_written_is_refused(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "there is no conformance.yaml in" in str(called("matrix", tmp_path / "empty").exception)
    report = folder / "conformance.yaml"
    for words in (("matrix", report), ("junit", folder), ("html", folder)):
        assert "is a directory" in str(called(*words, "--output", tmp_path / "empty").exception)


def test_reports_are_shown_side_by_side(tmp_path: Path) -> None:
    for name in NAMES:
        run(name, tmp_path / name)
    page = tmp_path / "README.md"
    done = called("matrix", tmp_path, "--output", page)
    assert done.output == f"{page}: 2 reports\n"
    assert f"](expectations-hidden-creates/runs/run-{NAMES[1]}/conformance.yaml)" in page.read_text()
    assert called("matrix", tmp_path).output.count("\n| `no-duplicate-create` |") == 1
