"""The baseline of a run: refused when it is wrong, written only when that was asked for."""

from pathlib import Path

import pytest

from staleproof.assess.store.known_findings import read_baseline, update_baseline, verdict_on
from staleproof.errors import SetupError, UsageError
from staleproof.report.baseline import Baseline, Known, decode, encode
from staleproof.report.model import Report
from staleproof.settings import Settings

from ...judged import result
from ...report.runs import BAD, report, trial, verdict

CAUSE = "it creates pods on an old view of pods"
WRITTEN = ["baseline: written anew"]


@pytest.fixture
def run() -> Report:
    return report(trial("001", verdict("no-duplicate-create", BAD, cause=CAUSE)))


def test_it_is_only_written_when_asked_for(tmp_path: Path, run: Report) -> None:
    path = tmp_path / "known.yaml"
    path.write_bytes(encode(Baseline()))
    assert update_baseline(Settings(baseline=path), Baseline(), run) == []
    assert decode(path.read_bytes()) == Baseline()
    assert update_baseline(Settings(baseline=path, update_baseline=True), Baseline(), run) == WRITTEN
    assert [each.cause for each in decode(path.read_bytes()).findings] == [CAUSE]


def test_the_first_is_made_when_asked_for(tmp_path: Path, run: Report) -> None:
    path = tmp_path / "known.yaml"
    with pytest.raises(UsageError, match=r"known\.yaml does not exist; --staleproof-update-baseline makes it"):
        read_baseline(Settings(baseline=path))
    settings = Settings(baseline=path, update_baseline=True)
    assert read_baseline(settings) == Baseline()
    assert update_baseline(settings, Baseline(), run) == WRITTEN
    assert read_baseline(settings).has(CAUSE, "")


def test_an_update_needs_a_file() -> None:
    with pytest.raises(UsageError, match="--update-baseline needs a file to write: name it with --baseline"):
        read_baseline(Settings(update_baseline=True), option="--baseline")
    assert read_baseline(Settings()) == Baseline()


def test_a_file_that_cannot_be_read_or_written_is_reported(tmp_path: Path, run: Report) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*: Is a directory; name a file with --staleproof-baseline"):
        read_baseline(Settings(baseline=tmp_path))
    with pytest.raises(SetupError, match="cannot write"):
        update_baseline(Settings(baseline=tmp_path, update_baseline=True), Baseline(), run)


@pytest.mark.parametrize(
    ("name", "word"),
    [("naive-hidden-creates", "known"), ("naive-hidden-deletes", "failed"), ("expectations-hidden-creates", "passed")],
)
def test_a_trial_comes_to_one_word(name: str, word: str) -> None:
    known = Baseline(findings=(Known(cause=CAUSE, requirements=("no-duplicate-create",)),))
    assert verdict_on(result(name), known) == word
