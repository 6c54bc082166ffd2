"""Run folders, merged: their trials can be judged and reported like those of any run."""

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from staleproof.assess.store.artefacts import suite_digest, trial_report, write
from staleproof.assess.store.evidence import Evidence, evidence
from staleproof.assess.store.merging import merge
from staleproof.assess.store.reports import read_report, reported_run
from staleproof.assess.store.run_folder import HISTORY, find_history, read_history
from staleproof.core.plan.stored import digest, plain
from staleproof.errors import UsageError
from staleproof.report.conformance import ConformanceReport, conformance
from staleproof.report.crosscheck import decode, problems
from staleproof.report.formats import FORMATS
from staleproof.report.model import Report

from ...judged import result

NAMES = ("naive-hidden-creates", "expectations-hidden-creates")


def run(name: str, artefacts: Path, *, seed: str = "7") -> Path:
    """A run of one trial."""
    folder = artefacts / "runs" / f"run-{name}"
    found = result(name, folder / "trials" / "001")
    crash = "0123456789-1a2b3c4d" if found.failures else ""
    report = Report(
        run_id=folder.name,
        date=f"2026-01-01T00:00:0{NAMES.index(name)}+00:00",
        seed=seed,
        reproduce=f"pytest -k {name}",
        suite_digest=suite_digest(),
        trials=(trial_report(found, folder, crash),),
    )
    write(folder, report)
    (folder / "shared" / "manifests").mkdir(parents=True)
    (folder / "shared" / "manifests" / f"{name}.json.gz").write_text(name)
    (artefacts / "crashes").mkdir(exist_ok=True)
    if crash:
        (artefacts / "crashes" / f"{crash}.json").write_text("{}")
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    return [str(run(name, tmp_path / name)) for name in NAMES]


def test_the_merged_folder_is_that_of_a_run(folders: list[str], tmp_path: Path) -> None:
    folder, report = merge(folders, tmp_path / "merged")
    assert read_report(folder).trials == report.trials
    assert [trial.name for trial in report.trials] == ["s1-001", "s2-001"]
    assert (tmp_path / "merged" / "latest").resolve() == folder
    for trial in report.trials:
        path = find_history(trial.name, tmp_path / "merged")
        assert digest(plain(path.read_bytes())) == trial.evidence
        assert read_history(path).entries
    assert sorted(path.name for path in (folder / "shared" / "manifests").iterdir()) == sorted(f"{name}.json.gz" for name in NAMES)
    assert (tmp_path / "merged" / "crashes" / "0123456789-1a2b3c4d.json").is_file()
    assert b"s1-001" in FORMATS["trace"].make(reported_run(folder, report))


def test_its_conformance_report_adds_up_and_has_its_evidence(folders: list[str], tmp_path: Path) -> None:
    folder, report = merge(folders, tmp_path / "merged")
    document = decode((folder / "conformance.yaml").read_bytes())
    assert document == conformance(report)
    assert list(problems(document)) == []
    assert evidence(folder, document, judges=True) == Evidence(len(report.trials), (), ())


def test_a_run_without_its_histories_is_merged_all_the_same(folders: list[str], tmp_path: Path) -> None:
    shutil.rmtree(Path(folders[1]) / "trials")
    folder, report = merge(folders, tmp_path / "merged")
    assert [trial.kept for trial in report.trials] == [True, False]
    found = evidence(folder, decode((folder / "conformance.yaml").read_bytes()), judges=True)
    assert (found.sound, found.missing, found.wrong) == (1, ("s2-001",), ())


def test_a_history_that_was_changed_is_seen(folders: list[str]) -> None:
    folder = Path(folders[0])
    path = folder / "trials" / "001" / HISTORY
    path.unlink()
    path.write_bytes(b"{}\n")
    found = evidence(folder, decode((folder / "conformance.yaml").read_bytes()), judges=True)
    assert found.sound == 0
    assert found.wrong[0].startswith(f"{path}: it is sha256:")


def test_a_history_that_is_damaged_is_seen(folders: list[str]) -> None:
    path = Path(folders[0]) / "trials" / "001" / HISTORY
    path.write_bytes(path.read_bytes()[:100])
    (wrong,) = evidence(Path(folders[0]), decode((Path(folders[0]) / "conformance.yaml").read_bytes()), judges=True).wrong
    assert "not a history" in wrong


@pytest.mark.parametrize("outside", ["/etc", "../../elsewhere"])
def test_nothing_outside_of_a_run_folder_is_taken(outside: str, folders: list[str], tmp_path: Path) -> None:
    path = Path(folders[0]) / "report.json"
    path.write_text(path.read_text().replace('"trials/001"', f'"{outside}"'))
    with pytest.raises(UsageError, match="which is not in the run folder"):
        merge(folders, tmp_path / "merged")


def test_runs_that_cannot_be_one_are_refused(folders: list[str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name two runs or more"):
        merge(folders[:1], tmp_path / "merged")
    with pytest.raises(UsageError, match="there is no folder"):
        merge([folders[0], str(tmp_path / "nowhere")], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_a_result_that_its_history_does_not_show_is_seen(folders: list[str]) -> None:
    """Sums and digests are right, and the history says otherwise."""
    folder = Path(folders[0])
    report = read_report(folder)
    (trial,) = report.trials

    def changed(slug: str, word: str) -> ConformanceReport:
        verdicts = tuple(replace(each, result=word) if each.requirement == slug else each for each in trial.verdicts)
        return conformance(replace(report, trials=(replace(trial, verdicts=verdicts),)))

    for slug, word, expected in (
        ("no-duplicate-create", "passed", "no-duplicate-create is passed in the report, and failed by the history"),
        ("converges-after-catch-up", "failed", "converges-after-catch-up is failed in the report, and "),
        ("cleans-up", "passed", "cleans-up is passed in the report, and not exercised by the history"),
    ):
        document = changed(slug, word)
        assert list(problems(document)) == []
        (wrong,) = evidence(folder, document, judges=True).wrong
        assert expected in wrong
        assert evidence(folder, document, judges=False).wrong == ()
    assert evidence(folder, changed("no-duplicate-create", "inconclusive"), judges=True).wrong == (), "it may not have come back"
