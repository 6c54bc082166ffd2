"""The baseline of a run: refused before anything starts when it is wrong, written only when that was asked for."""

from pathlib import Path

import pytest

from staleproof.errors import UsageError
from staleproof.plugin.baseline import baseline_of, update
from staleproof.plugin.fail import assert_passed
from staleproof.report.baseline import Baseline, Known, decode, encode
from staleproof.report.model import Report

from ..judged import result
from ..report.runs import BAD, report, trial, verdict

pytest_plugins = ["pytester"]

CAUSE = "it creates pods on an old view of pods"
KNOWN = Baseline(findings=(Known(cause=CAUSE, requirements=("no-duplicate-create",)),))


@pytest.fixture
def run() -> Report:
    return report(trial("001", verdict("no-duplicate-create", BAD, cause=CAUSE)))


def test_it_is_only_written_when_asked_for(pytester: pytest.Pytester, tmp_path: Path, run: Report) -> None:
    path = tmp_path / "known.yaml"
    path.write_bytes(encode(Baseline()))
    assert not update(pytester.parseconfig(f"--staleproof-baseline={path}"), run)
    assert decode(path.read_bytes()) == Baseline()
    assert update(pytester.parseconfig(f"--staleproof-baseline={path}", "--staleproof-update-baseline"), run)
    assert [each.cause for each in decode(path.read_bytes()).findings] == [CAUSE]


def test_the_first_is_made_when_asked_for(pytester: pytest.Pytester, tmp_path: Path, run: Report) -> None:
    path = tmp_path / "known.yaml"
    with pytest.raises(UsageError, match=r"known\.yaml does not exist; --staleproof-update-baseline makes it"):
        baseline_of(pytester.parseconfig(f"--staleproof-baseline={path}"))
    config = pytester.parseconfig(f"--staleproof-baseline={path}", "--staleproof-update-baseline")
    assert baseline_of(config) == Baseline()
    assert update(config, run)
    assert baseline_of(config).has(CAUSE, "")


def test_an_update_needs_a_file(pytester: pytest.Pytester) -> None:
    with pytest.raises(UsageError, match="name it with --staleproof-baseline"):
        baseline_of(pytester.parseconfig("--staleproof-update-baseline"))
    assert baseline_of(pytester.parseconfig()) == Baseline()


def test_a_wrong_one_starts_nothing(pytester: pytest.Pytester) -> None:
    (pytester.path / "known.yaml").write_text("kind: [")
    done = pytester.runpytest_inprocess("--controller-cmd=x", "--staleproof-baseline=known.yaml")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "known.yaml: line 1: not YAML" in done.stderr.str()
    assert not (pytester.path / ".staleproof").exists()


def test_what_is_known_fails_no_test() -> None:
    guilty = result("naive-hidden-creates")
    assert_passed([guilty], KNOWN)
    with pytest.raises(pytest.fail.Exception, match="it deletes pods on an old view of pods"):
        assert_passed([guilty, result("naive-hidden-deletes")], KNOWN)
