"""What a pytest run came to: the exit code, what workers hand over, whose fault an error is, the files that are written."""

import json
from pathlib import Path

import pytest

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.errors import HarnessBug, SetupError, UsageError
from staleproof.plugin import EXIT_ENVIRONMENT, EXIT_INCONCLUSIVE
from staleproof.plugin.options import OPTIONS
from staleproof.plugin.outcome import OUTCOMES, Outcomes, begin
from staleproof.report.model import RequirementVerdict, TrialReport, Word

pytest_plugins = ["pytester"]

OK, FAILED, INTERRUPTED, INTERNAL, USAGE, NO_TESTS = range(6)
IDLE: tuple[Word, bool] = ("inconclusive", False)
UNKNOWN: tuple[Word, bool] = ("inconclusive", True)
GOOD: tuple[Word, bool] = ("passed", True)
BAD: tuple[Word, bool] = ("failed", True)


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs these tests may have variables of their own."""
    for option in OPTIONS:
        monkeypatch.delenv(option.variable, raising=False)


def trial(said: tuple[Word, bool], name: str = "001") -> TrialReport:
    word, exercised = said
    return TrialReport(
        name=name,
        scenario="own-writes",
        title="",
        folder=f"trials/{name}",
        evidence="0" * 64,
        seconds=1.0,
        faults_planned=1,
        faults_fired=1,
        reproduced=(0, 0),
        verdicts=(RequirementVerdict(requirement=REQUIREMENTS[0].slug, result=word, exercised=exercised),),
    )


def outcomes(folder: Path, *said: tuple[Word, bool], is_worker: bool = False) -> Outcomes:
    made = Outcomes(folder, folder, is_worker=is_worker)
    made.trials = [trial(each, f"{number:03d}") for number, each in enumerate(said, 1)]
    return made


# --- the exit code -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "said", "option", "expected"),
    [
        (OK, [], "", OK),
        (OK, [GOOD], "", OK),
        (OK, [GOOD, IDLE], "", OK),
        (OK, [GOOD, UNKNOWN], "", EXIT_INCONCLUSIVE),
        (OK, [GOOD, UNKNOWN], "ok", OK),
        (OK, [GOOD, UNKNOWN], "fail", FAILED),
        (FAILED, [BAD], "", FAILED),
        (FAILED, [BAD, UNKNOWN], "ok", FAILED),
        (FAILED, [UNKNOWN], "", FAILED),
        (INTERRUPTED, [UNKNOWN], "", INTERRUPTED),
        (INTERNAL, [], "", INTERNAL),
        (USAGE, [], "", USAGE),
        (NO_TESTS, [], "", NO_TESTS),
    ],
)
def test_the_exit_code(
    status: int, said: list[tuple[Word, bool]], option: str, expected: int, pytester: pytest.Pytester, tmp_path: Path
) -> None:
    config = pytester.parseconfig(*([f"--staleproof-inconclusive={option}"] if option else []))
    assert outcomes(tmp_path, *said).finish(config, status) == expected


@pytest.mark.parametrize(
    ("errors", "said", "expected"),
    [
        ([SetupError("no control plane")], [], EXIT_ENVIRONMENT),
        ([SetupError("no control plane")], [GOOD, UNKNOWN], EXIT_ENVIRONMENT),
        ([UsageError("no such sample")], [], USAGE),
        ([UsageError("no such sample"), SetupError("no control plane")], [], EXIT_ENVIRONMENT),
        ([SetupError("no control plane")], [BAD], FAILED),
        ([SetupError("no control plane"), AssertionError()], [], FAILED),
        ([UsageError("no such sample"), HarnessBug("impossible")], [], FAILED),
    ],
)
def test_who_is_to_blame_when_tests_failed(
    errors: list[Exception], said: list[tuple[Word, bool]], expected: int, pytester: pytest.Pytester, tmp_path: Path
) -> None:
    made = outcomes(tmp_path, *said)
    for error in errors:
        made.note_error(error)
    assert made.finish(pytester.parseconfig(), FAILED) == expected


def caused(by: Exception) -> BaseException:
    try:
        raise pytest.fail.Exception("told plainly") from by
    except pytest.fail.Exception as err:
        return err


@pytest.mark.parametrize(
    ("error", "noted"),
    [
        (SetupError("port taken"), (["port taken"], [], False)),
        (caused(SetupError("port taken")), (["port taken"], [], False)),
        (caused(UsageError("no such file")), ([], ["no such file"], False)),
        (AssertionError(), ([], [], True)),
        (caused(ValueError()), ([], [], True)),
        (pytest.skip.Exception("nothing to do"), ([], [], False)),
    ],
)
def test_an_error_is_noted_with_whom_it_blames(
    error: BaseException, noted: tuple[list[str], list[str], bool], tmp_path: Path
) -> None:
    made = outcomes(tmp_path)
    made.note_error(error)
    assert (made.broken, made.misused, made.other_failures) == noted


# --- workers -------------------------------------------------------------------------------------------------------------------


def parcel(worker: Outcomes, config: pytest.Config, status: int) -> str:
    config.workeroutput = {}  # type: ignore[attr-defined]  # xdist's
    assert worker.finish(config, status) == status
    sent: str = config.workeroutput["staleproof"]  # type: ignore[attr-defined]
    return sent


def test_what_a_worker_sends_arrives(pytester: pytest.Pytester, tmp_path: Path) -> None:
    worker = outcomes(tmp_path / "worker", GOOD, UNKNOWN, is_worker=True)
    worker.environment = {"kubernetes": "v1.36.3"}
    worker.note_error(SetupError("port taken"))
    worker.note_error(UsageError("no such file"))
    worker.note_error(AssertionError())
    controlling = outcomes(tmp_path, GOOD)
    controlling.take(parcel(worker, pytester.parseconfig(), FAILED), lost=False)
    assert controlling.trials == [trial(GOOD, "001"), *worker.trials]
    assert controlling.environment == {"kubernetes": "v1.36.3"}
    assert (controlling.broken, controlling.misused, controlling.other_failures) == (["port taken"], ["no such file"], True)


def test_a_worker_writes_no_report(pytester: pytest.Pytester, tmp_path: Path) -> None:
    parcel(outcomes(tmp_path, GOOD, is_worker=True), pytester.parseconfig(), OK)
    assert list(tmp_path.glob("*.json")) == []


def test_a_later_parcel_does_not_undo_an_earlier_one(pytester: pytest.Pytester, tmp_path: Path) -> None:
    controlling = outcomes(tmp_path)
    failing, fine = outcomes(tmp_path, is_worker=True), outcomes(tmp_path, GOOD, is_worker=True)
    failing.note_error(AssertionError())
    for worker in (failing, fine):
        controlling.take(parcel(worker, pytester.parseconfig(), OK), lost=False)
    assert controlling.other_failures
    assert len(controlling.trials) == 1


@pytest.mark.parametrize(("lost", "broken"), [(True, ["an xdist worker died before it could send its results"]), (False, [])])
def test_a_worker_that_sent_nothing(*, lost: bool, broken: list[str], tmp_path: Path) -> None:
    controlling = outcomes(tmp_path)
    controlling.take(None, lost=lost)
    assert controlling.broken == broken


# --- files ---------------------------------------------------------------------------------------------------------------------


def test_the_reports_say_what_the_command_line_said(pytester: pytest.Pytester, tmp_path: Path) -> None:
    arguments = [
        "--controller-cmd=./m --name='a b'",
        "--implementation-organization=acme",
        "--implementation-contact=a@example.com",
        "--implementation-contact=b@example.com",
        f"--conformance-report={tmp_path / 'new' / 'conformance.yaml'}",
        "--hypothesis-seed=7",
    ]
    made = outcomes(tmp_path, GOOD, GOOD)
    made.trials.reverse()
    made.environment = {"kubernetes": "v1.36.3", "imageDigest": "sha256:1"}
    made.finish(pytester.parseconfig(*arguments), OK)
    report = json.loads((tmp_path / "report.json").read_bytes())
    assert report["runId"] == tmp_path.name
    assert report["implementation"]["organization"] == "acme"
    assert report["implementation"]["contact"] == ["a@example.com", "b@example.com"]
    assert report["implementation"]["imageDigest"] == "sha256:1"
    assert report["environment"] == {"kubernetes": "v1.36.3"}
    assert report["seed"] == "7"
    assert report["reproduce"].startswith("pytest ")
    assert """'--controller-cmd=./m --name='"'"'a b'"'"''""" in report["reproduce"]
    assert [each["name"] for each in report["trials"]] == ["001", "002"]
    copied = (tmp_path / "new" / "conformance.yaml").read_text()
    assert copied == (tmp_path / "conformance.yaml").read_text()


def test_an_interrupted_run_is_reported_as_far_as_it_came(pytester: pytest.Pytester, tmp_path: Path) -> None:
    made = outcomes(tmp_path, GOOD)
    made.finish(pytester.parseconfig(), INTERRUPTED)
    assert json.loads((tmp_path / "report.json").read_bytes())["partial"] is True


def test_without_a_trial_there_is_nothing_to_report(pytester: pytest.Pytester, tmp_path: Path) -> None:
    made = outcomes(tmp_path)
    made.finish(pytester.parseconfig(f"--conformance-report={tmp_path / 'conformance.yaml'}"), OK)
    assert made.report is None
    assert list(tmp_path.glob("*.*")) == []


def test_a_run_gets_a_folder_of_its_own(pytester: pytest.Pytester, tmp_path: Path) -> None:
    config = pytester.parseconfig(f"--staleproof-dir={tmp_path / 'root'}")
    begin(config)
    made = config.stash[OUTCOMES]
    assert not made.is_worker
    assert made.folder.parent == tmp_path / "root" / "runs"
    assert (tmp_path / "root" / "latest").resolve() == made.folder


def test_a_worker_joins_the_run_of_the_controlling_process(pytester: pytest.Pytester, tmp_path: Path) -> None:
    config = pytester.parseconfig(f"--staleproof-dir={tmp_path / 'root'}")
    config.workerinput = {"staleproof_run": str(tmp_path / "run")}  # type: ignore[attr-defined]  # xdist's
    begin(config)
    made = config.stash[OUTCOMES]
    assert (made.is_worker, made.folder, made.root) == (True, tmp_path / "run", tmp_path / "root")
    assert not (tmp_path / "root").exists()
