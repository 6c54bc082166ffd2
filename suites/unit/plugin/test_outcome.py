"""What a pytest run came to: the exit code, what workers hand over, whose fault an error is, the files that are written."""

import json
import math
from pathlib import Path

import pytest

from staleproof.assess.run_folder import RunFolder
from staleproof.checks.catalog import REQUIREMENTS
from staleproof.errors import HarnessBug, SetupError, UsageError
from staleproof.plugin import BEGAN
from staleproof.plugin.outcome import OUTCOMES, Outcomes, _Note, begin, begun, ends, join
from staleproof.report.baseline import Baseline, Known, encode
from staleproof.report.model import LeftOut, TrialReport, Word

from ..report import runs
from ..report.runs import BAD, GOOD, IDLE, UNKNOWN

pytest_plugins = ["pytester"]

OK, FAILED, INTERRUPTED, INTERNAL, USAGE, NO_TESTS = range(6)
EXIT_BUG, EXIT_INCONCLUSIVE, EXIT_ENVIRONMENT = 3, 10, 11


def trial(said: Word, name: str = "001", slug: str = REQUIREMENTS[0].slug) -> TrialReport:
    return runs.trial(name, runs.verdict(slug, said))


def outcomes(folder: Path, *said: Word, worker: str = "") -> Outcomes:
    made = Outcomes(folder, folder, worker=worker)
    made.trials = [trial(each, f"{number:03d}") for number, each in enumerate(said, 1)]
    return made


# --- the exit code -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "said", "option", "expected"),
    [
        (OK, [], "", OK),
        (OK, [GOOD], "", OK),
        (OK, [GOOD, IDLE], "", OK),
        (OK, [IDLE], "", EXIT_INCONCLUSIVE),
        (OK, [IDLE], "ok", OK),
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
    status: int, said: list[Word], option: str, expected: int, pytester: pytest.Pytester, tmp_path: Path
) -> None:
    config = pytester.parseconfig(*([f"--staleproof-inconclusive={option}"] if option else []))
    assert outcomes(tmp_path, *said).finish(config, status) == expected


@pytest.mark.parametrize("said", [BAD, UNKNOWN])
def test_a_provisional_requirement_does_not_change_it(said: Word, pytester: pytest.Pytester, tmp_path: Path) -> None:
    made = outcomes(tmp_path, GOOD)
    made.trials.append(trial(said, "002", "no-blind-retry"))
    assert made.finish(pytester.parseconfig(), OK) == OK


@pytest.mark.parametrize(
    ("errors", "said", "expected"),
    [
        ([SetupError("no control plane")], [], EXIT_ENVIRONMENT),
        ([SetupError("no control plane")], [GOOD, UNKNOWN], EXIT_ENVIRONMENT),
        ([UsageError("no such sample")], [], USAGE),
        ([UsageError("no such sample"), SetupError("no control plane")], [], EXIT_ENVIRONMENT),
        ([SetupError("no control plane")], [BAD], FAILED),
        ([SetupError("no control plane"), AssertionError()], [], FAILED),
        ([UsageError("no such sample"), HarnessBug("impossible")], [], EXIT_BUG),
        ([SetupError("no control plane"), HarnessBug("impossible")], [], EXIT_BUG),
        ([HarnessBug("impossible")], [BAD], FAILED),
        ([HarnessBug("impossible"), AssertionError()], [], FAILED),
    ],
)
def test_who_is_to_blame_when_tests_failed(
    errors: list[Exception], said: list[Word], expected: int, pytester: pytest.Pytester, tmp_path: Path
) -> None:
    made = outcomes(tmp_path, *said)
    for error in errors:
        made.note_error(error)
    assert made.finish(pytester.parseconfig(), FAILED) == expected


CAUSE = "it creates pods on an old view of pods"


@pytest.mark.parametrize(
    ("errors", "others", "status", "expected"),
    [
        ([], [], OK, OK),
        ([], [UNKNOWN], OK, EXIT_INCONCLUSIVE),
        ([SetupError("no control plane")], [], FAILED, EXIT_ENVIRONMENT),
        ([SetupError("no control plane")], [BAD], FAILED, FAILED),
    ],
)
def test_what_is_known_hides_nothing_else(
    errors: list[Exception], others: list[Word], status: int, expected: int, pytester: pytest.Pytester, tmp_path: Path
) -> None:
    slug = REQUIREMENTS[0].slug
    path = tmp_path / "known.yaml"
    path.write_bytes(encode(Baseline(findings=(Known(cause=CAUSE, requirements=(slug,)),))))
    made = outcomes(tmp_path, *others)
    made.trials.append(runs.trial("known", runs.verdict(slug, BAD, cause=CAUSE)))
    for error in errors:
        made.note_error(error)
    assert made.finish(pytester.parseconfig(f"--staleproof-baseline={path}"), status) == expected
    assert made.known[0].startswith("baseline: 1 known, ")


def test_a_wrong_baseline_starts_nothing(pytester: pytest.Pytester) -> None:
    (pytester.path / "known.yaml").write_text("kind: [")
    done = pytester.runpytest_inprocess("--controller-cmd=x", "--staleproof-baseline=known.yaml")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "known.yaml: line 1: not YAML" in done.stderr.str()
    assert not (pytester.path / ".staleproof").exists()


def caused(by: Exception) -> BaseException:
    try:
        raise pytest.fail.Exception("told plainly") from by
    except pytest.fail.Exception as err:
        return err


@pytest.mark.parametrize(
    ("error", "noted"),
    [
        (SetupError("port taken"), (["port taken"], [], [], False)),
        (caused(SetupError("port taken")), (["port taken"], [], [], False)),
        (caused(ExceptionGroup("two", [ValueError(), SetupError("port taken")])), (["port taken"], [], [], False)),
        (caused(UsageError("no such file")), ([], ["no such file"], [], False)),
        (caused(HarnessBug("impossible")), ([], [], ["impossible"], False)),
        (AssertionError(), ([], [], [], True)),
        (caused(ValueError()), ([], [], [], True)),
        (KeyError("x"), ([], [], [], True)),
        (pytest.skip.Exception("nothing to do"), ([], [], [], False)),
    ],
)
def test_an_error_is_noted_with_whom_it_blames(
    error: BaseException, noted: tuple[list[str], list[str], list[str], bool], tmp_path: Path
) -> None:
    made = outcomes(tmp_path)
    made.note_error(error)
    assert (made.problems[EXIT_ENVIRONMENT], made.problems[USAGE], made.problems[EXIT_BUG], made.other_failures) == noted


@pytest.mark.parametrize(
    ("error", "bugs"),
    [(KeyError("x"), ["unexpected KeyError: 'x'"]), (AssertionError("a finding"), []), (pytest.fail.Exception("a finding"), [])],
)
def test_in_the_suite_nothing_but_a_failure_is_a_finding(error: BaseException, bugs: list[str], tmp_path: Path) -> None:
    made = outcomes(tmp_path)
    made.note_error(error, ours=True)
    assert (made.problems[EXIT_BUG], made.other_failures) == (bugs, not bugs)


# --- workers -------------------------------------------------------------------------------------------------------------------


def noting(worker: Outcomes, *errors: BaseException) -> Outcomes:
    """What a worker has noted so far, trials first, as the fixture `trial` does."""
    trials, worker.trials = worker.trials, []
    for each in trials:
        worker._note(_Note(trial=each, environment=worker.environment))
    for error in errors:
        worker.note_error(error)
    return worker


def test_what_workers_noted_arrives_though_they_never_finish(pytester: pytest.Pytester, tmp_path: Path) -> None:
    first = outcomes(tmp_path, GOOD, BAD, worker="gw0")
    first.environment = {"kubernetes": "v1.36.3"}
    noting(first, SetupError("port taken"), UsageError("no such file"), HarnessBug("impossible"), AssertionError())
    noting(outcomes(tmp_path, UNKNOWN, worker="gw1"))
    controlling = outcomes(tmp_path)
    controlling.worker_died()
    assert controlling.finish(pytester.parseconfig(), FAILED) == FAILED
    assert controlling.trials == [trial(GOOD, "001"), trial(BAD, "002"), trial(UNKNOWN, "001")]
    assert controlling.environment == {"kubernetes": "v1.36.3"}
    died = "an xdist worker died; what it had finished is in the report"
    told = {code: problems for code, problems in controlling.problems.items() if problems}
    assert told == {EXIT_BUG: ["impossible"], EXIT_ENVIRONMENT: [died, "port taken"], USAGE: ["no such file"]}
    assert controlling.other_failures
    assert json.loads((tmp_path / "report.json").read_bytes())["partial"] is True


def test_of_two_trials_under_one_claim_the_later_counts(pytester: pytest.Pytester, tmp_path: Path) -> None:
    """The worker that ran the first died before it could say that it had."""
    outcomes(tmp_path, worker="gw0")._note(_Note(trial=trial(BAD, "gw0-001"), claim="one"))
    other = outcomes(tmp_path, worker="gw1")
    for claim, name in (("one", "gw1-001"), ("another", "gw1-002"), ("", "gw1-003"), ("", "gw1-004")):
        other._note(_Note(trial=trial(GOOD, name), claim=claim))
    controlling = outcomes(tmp_path)
    controlling.finish(pytester.parseconfig(), OK)
    assert [each.name for each in controlling.trials] == ["gw1-001", "gw1-002", "gw1-003", "gw1-004"]


def test_what_workers_were_refused_adds_up(pytester: pytest.Pytester, tmp_path: Path) -> None:
    for worker in ("gw0", "gw1"):
        for times in (2, 1):
            outcomes(tmp_path, worker=worker)._note(_Note(trial=trial(GOOD, worker), refused={"list secrets": times}))
    controlling = outcomes(tmp_path)
    controlling.finish(pytester.parseconfig(), OK)
    assert controlling.report is not None
    assert controlling.report.refused == {"list secrets": 6}


def test_what_workers_left_out_is_in_the_report(pytester: pytest.Pytester, tmp_path: Path) -> None:
    late = [LeftOut(scenario="streams", title=title) for title in ("b", "a")]
    outcomes(tmp_path, worker="gw0").leave_out(late)
    outcomes(tmp_path, worker="gw1").leave_out([])
    controlling = outcomes(tmp_path)
    controlling.finish(pytester.parseconfig(), OK)
    assert controlling.report is not None
    assert [plan.title for plan in controlling.report.left_out] == ["a", "b"]


@pytest.mark.parametrize(("said", "expected"), [([], EXIT_INCONCLUSIVE), ([GOOD], OK), ([UNKNOWN], EXIT_INCONCLUSIVE)])
def test_a_run_that_had_no_time_for_anything_knows_nothing(
    said: list[Word], expected: int, pytester: pytest.Pytester, tmp_path: Path
) -> None:
    made = outcomes(tmp_path, *said)
    made.leave_out([LeftOut(scenario="streams", title="a")])
    assert made.finish(pytester.parseconfig(), OK) == expected


@pytest.mark.parametrize(("minutes", "seconds"), [("10", 570), ("0.5", 27.6), ("", math.inf)])
def test_minutes_count_from_the_beginning_of_the_run(minutes: str, seconds: float, pytester: pytest.Pytester) -> None:
    config = pytester.parseconfigure(f"--staleproof-minutes={minutes}")
    said = ends(config)
    assert said() == pytest.approx(config.stash[BEGAN] + seconds)
    RunFolder(begun(config).folder).note_built("control plane", 40.0, by="gw0")
    RunFolder(begun(config).folder).note_built("control plane", 60.0, by="gw1")  # which waited for the same
    RunFolder(begun(config).folder).note_built("kwok", 5.0, by="gw0")
    assert said() == pytest.approx(config.stash[BEGAN] + seconds + 65.0)


def test_a_run_whose_time_was_over_before_anything_was_planned_is_reported(pytester: pytest.Pytester, tmp_path: Path) -> None:
    outcomes(tmp_path, worker="gw0").never_learnt()
    controlling = outcomes(tmp_path)
    assert controlling.finish(pytester.parseconfig("--staleproof-minutes=5"), OK) == EXIT_INCONCLUSIVE
    report = json.loads((tmp_path / "report.json").read_bytes())
    assert (report["unlearnt"], report["minutes"], report["trials"]) == (True, 5.0, [])


@pytest.mark.parametrize(
    ("aims", "said", "expected"),
    [
        (["no-duplicate-create"], IDLE, EXIT_INCONCLUSIVE),
        (["no-duplicate-create"], GOOD, OK),
        (["needs-no-bookmarks"], IDLE, OK),  # which the profile does not ask for
        ([], IDLE, OK),
    ],
)
def test_a_run_of_the_suite_that_exercised_too_little_is_not_green(
    aims: list[str], said: Word, expected: int, pytester: pytest.Pytester, tmp_path: Path
) -> None:
    made = outcomes(tmp_path)
    made.claimed = {"plan": 1}
    made.trials = [
        runs.trial("1", runs.verdict("settles", GOOD)),
        runs.trial("2", *(runs.verdict(each, said) for each in aims), aims=aims),
    ]
    assert made.finish(pytester.parseconfig(), OK) == expected


def test_a_line_that_a_dying_worker_did_not_finish_is_left_out(pytester: pytest.Pytester, tmp_path: Path) -> None:
    noting(outcomes(tmp_path, GOOD, BAD, worker="gw0"))
    path = tmp_path / "gw0" / "notes.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    controlling = outcomes(tmp_path)
    controlling.finish(pytester.parseconfig(), FAILED)
    assert controlling.trials == [trial(GOOD, "001")]


@pytest.mark.parametrize(("said", "expected"), [([], EXIT_ENVIRONMENT), ([GOOD], EXIT_ENVIRONMENT), ([BAD], FAILED)])
def test_a_lost_worker_is_the_environment_unless_something_was_found(
    said: list[Word], expected: int, pytester: pytest.Pytester, tmp_path: Path
) -> None:
    noting(outcomes(tmp_path, *said, worker="gw0"))
    controlling = outcomes(tmp_path)
    controlling.worker_died()
    assert controlling.finish(pytester.parseconfig(), FAILED) == expected


def test_a_worker_writes_no_report(pytester: pytest.Pytester, tmp_path: Path) -> None:
    worker = noting(outcomes(tmp_path, GOOD, worker="gw0"))
    assert worker.finish(pytester.parseconfig(), OK) == OK
    assert [path.name for path in tmp_path.rglob("*.*")] == ["notes.jsonl"]


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
    implementation = report["implementation"]
    assert (report["runId"], report["environment"], report["seed"]) == (tmp_path.name, {"kubernetes": "v1.36.3"}, "7")
    assert (implementation["organization"], implementation["imageDigest"]) == ("acme", "sha256:1")
    assert implementation["contact"] == ["a@example.com", "b@example.com"]
    assert report["reproduce"].startswith("pytest ")
    assert """'--controller-cmd=./m --name='"'"'a b'"'"''""" in report["reproduce"]
    assert [each["name"] for each in report["trials"]] == ["001", "002"]
    copied = (tmp_path / "new" / "conformance.yaml").read_text()
    assert copied == (tmp_path / "conformance.yaml").read_text()


def test_an_interrupted_run_is_reported_as_far_as_it_came(pytester: pytest.Pytester, tmp_path: Path) -> None:
    made = outcomes(tmp_path, GOOD)
    made.finish(pytester.parseconfig(), INTERRUPTED)
    assert json.loads((tmp_path / "report.json").read_bytes())["partial"] is True


def test_a_run_that_is_interrupted_before_its_first_trial_is_reported_as_well(pytester: pytest.Pytester, tmp_path: Path) -> None:
    assert outcomes(tmp_path).finish(pytester.parseconfig(), INTERRUPTED) == INTERRUPTED
    report = json.loads((tmp_path / "report.json").read_bytes())
    assert (report["partial"], report["trials"]) == (True, [])
    assert "the run was interrupted" in (tmp_path / "conformance.yaml").read_text()


def test_workers_that_cannot_begin_are_no_interruption(pytester: pytest.Pytester, tmp_path: Path) -> None:
    """To xdist they are."""
    made = outcomes(tmp_path)
    made.note_error(SetupError("no control plane"))
    assert made.finish(pytester.parseconfig(), INTERRUPTED) == EXIT_ENVIRONMENT
    assert made.report is None


def test_without_a_trial_there_is_nothing_to_report(pytester: pytest.Pytester, tmp_path: Path) -> None:
    made = outcomes(tmp_path)
    made.finish(pytester.parseconfig(f"--conformance-report={tmp_path / 'conformance.yaml'}"), OK)
    assert made.report is None
    assert list(tmp_path.glob("*.*")) == []


def test_a_run_gets_a_folder_of_its_own_when_first_asked_for(pytester: pytest.Pytester, tmp_path: Path) -> None:
    config = pytester.parseconfig(f"--staleproof-dir={tmp_path / 'root'}")
    made = begun(config)
    assert (made.worker, config.stash[OUTCOMES]) == ("", made)
    assert begun(config) is made
    assert made.folder.parent == tmp_path / "root" / "runs"
    assert (tmp_path / "root" / "latest").resolve() == made.folder


def test_a_worker_joins_the_run_of_the_controlling_process(pytester: pytest.Pytester, tmp_path: Path) -> None:
    config = pytester.parseconfig(f"--staleproof-dir={tmp_path / 'root'}")
    config.workerinput = {"staleproof_run": str(tmp_path / "run"), "workerid": "gw0"}  # type: ignore[attr-defined]  # xdist's
    begin(config)
    made = config.stash[OUTCOMES]
    assert (made.worker, made.folder, made.root) == ("gw0", tmp_path / "run", tmp_path / "root")
    assert not (tmp_path / "root").exists()


def test_a_run_that_only_workers_knew_of_is_joined(pytester: pytest.Pytester, tmp_path: Path) -> None:
    config = pytester.parseconfig()
    join(config, tmp_path / "nosuch")
    assert OUTCOMES not in config.stash
    join(config, tmp_path)
    assert config.stash[OUTCOMES].folder == tmp_path


def test_a_report_that_cannot_be_copied_is_told(pytester: pytest.Pytester, tmp_path: Path) -> None:
    made = outcomes(tmp_path, GOOD)
    assert made.finish(pytester.parseconfig(f"--conformance-report={tmp_path}"), OK) == EXIT_ENVIRONMENT
    told = f"cannot write --conformance-report={tmp_path}: Is a directory; it is in {tmp_path} too"
    assert made.problems[EXIT_ENVIRONMENT] == [told]
