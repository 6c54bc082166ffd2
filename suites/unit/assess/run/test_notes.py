"""What happened in a run: whose fault an error is, what workers hand over, the exit code, the files that are written."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from staleproof.assess.run.doing import Doing
from staleproof.assess.run.notes import InconclusiveError, Note, Notes
from staleproof.assess.run.queue import Came, Left
from staleproof.assess.store.artefacts import suite_digest
from staleproof.assess.store.crashes import crash_id
from staleproof.assess.trial.result import Run
from staleproof.checks.catalog import REQUIREMENTS
from staleproof.core.plan.plan import Plan
from staleproof.errors import HarnessBug, SetupError, UsageError
from staleproof.report.baseline import Baseline, Known
from staleproof.report.conformance import conformance
from staleproof.report.model import TrialReport, Word
from staleproof.report.terminal import sentence
from staleproof.settings import Settings

from ...judged import result
from ...report import runs
from ...report.runs import BAD, GOOD, IDLE, UNKNOWN

OK, FAILED, INTERRUPTED = range(3)
EXIT_BUG, EXIT_USAGE, EXIT_INCONCLUSIVE, EXIT_ENVIRONMENT = 3, 4, 10, 11


def trial(said: Word, name: str = "001", slug: str = REQUIREMENTS[0].slug) -> TrialReport:
    return runs.trial(name, runs.verdict(slug, said))


def left(title: str) -> Left:
    return Left(Plan(scenario="streams", title=title, steps=()))


def notes(folder: Path, *said: Word, worker: str = "", known: Baseline | None = None, **settings: Any) -> Notes:  # noqa: ANN401
    """Of a run in this folder, with trials that say this."""
    made = Notes(folder=folder, settings=Settings(dir=folder, **settings), baseline=known or Baseline(), worker=worker)
    made.trials = [trial(each, f"{number:03d}") for number, each in enumerate(said, 1)]
    return made


# --- the exit code -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "said", "option", "expected"),
    [
        (OK, [GOOD, UNKNOWN], "", EXIT_INCONCLUSIVE),
        (OK, [GOOD, UNKNOWN], "ok", OK),
        (OK, [IDLE], "ok", OK),
        (OK, [GOOD, UNKNOWN], "fail", FAILED),
        (FAILED, [BAD, UNKNOWN], "ok", FAILED),
        (None, [BAD], "", FAILED),
        (None, [UNKNOWN], "", EXIT_INCONCLUSIVE),
        (None, [GOOD], "", OK),
    ],
)
def test_the_exit_code(status: int | None, said: list[Word], option: str, expected: int, tmp_path: Path) -> None:
    """Without tests, as in a command, the trials alone count."""
    made = notes(tmp_path, *said, inconclusive=option)
    assert made.finish(status) == made.exit_code == expected


@pytest.mark.parametrize(
    ("errors", "said", "expected"),
    [
        ([SetupError("no control plane")], [GOOD, UNKNOWN], EXIT_ENVIRONMENT),
        ([SetupError("no control plane")], [BAD], FAILED),
        ([SetupError("no control plane"), AssertionError()], [], FAILED),
        ([UsageError("no such sample"), HarnessBug("impossible")], [], EXIT_BUG),
    ],
)
def test_errors_count_when_tests_failed(errors: list[Exception], said: list[Word], expected: int, tmp_path: Path) -> None:
    made = notes(tmp_path, *said)
    for error in errors:
        made.add_error(error)
    assert made.finish(FAILED) == expected


def test_a_run_in_which_no_plan_had_an_occasion_leaves_a_report_that_says_so(tmp_path: Path) -> None:
    made = notes(tmp_path)
    made.leave_out(Came())
    assert made.finish(OK) == EXIT_INCONCLUSIVE
    assert json.loads((tmp_path / "report.json").read_bytes())["trials"] == []
    assert "there is no trial in it" in (tmp_path / "conformance.yaml").read_text()
    assert "no plan was run" in sentence(made.report or runs.report())
    assert (tmp_path / "report.html").is_file()


def test_a_run_that_could_not_begin_leaves_none(tmp_path: Path) -> None:
    made = notes(tmp_path)
    made.leave_out(Came())
    made.add_error(SetupError("no control plane"))
    assert made.finish(FAILED) == EXIT_ENVIRONMENT
    assert not (tmp_path / "report.json").exists()


CAUSE = "it creates pods on an old view of pods"


@pytest.mark.parametrize(
    ("errors", "verdict_words", "status", "expected"),
    [
        ([], [], OK, OK),
        ([], [UNKNOWN], OK, EXIT_INCONCLUSIVE),
        ([SetupError("no control plane")], [], FAILED, EXIT_ENVIRONMENT),
        ([SetupError("no control plane")], [BAD], FAILED, FAILED),
    ],
)
def test_what_is_known_hides_nothing_else(
    errors: list[Exception], verdict_words: list[Word], status: int, expected: int, tmp_path: Path
) -> None:
    slug = REQUIREMENTS[0].slug
    known = Baseline(findings=(Known(cause=CAUSE, requirements=(slug,)),))
    made = notes(tmp_path, *verdict_words, known=known, baseline=tmp_path / "known.yaml")
    made.trials.append(runs.trial("known", runs.verdict(slug, BAD, cause=CAUSE)))
    for error in errors:
        made.add_error(error)
    assert made.finish(status) == expected
    assert made.known[0].startswith("baseline: 1 known, ")


def caused(by: Exception) -> BaseException:
    try:
        raise RuntimeError("wrapped") from by
    except RuntimeError as err:
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
    ],
)
def test_an_error_is_noted_with_what_it_blames(
    error: BaseException, noted: tuple[list[str], list[str], list[str], bool], tmp_path: Path
) -> None:
    made = notes(tmp_path)
    made.add_error(error)
    assert (made.problems[EXIT_ENVIRONMENT], made.problems[EXIT_USAGE], made.problems[EXIT_BUG], made.other_failures) == noted


def test_a_test_that_cannot_know_is_neither_a_failure_nor_a_bug(tmp_path: Path) -> None:
    made = notes(tmp_path)
    made.add_error(caused(InconclusiveError("nobody knows")))
    assert (made.problems[EXIT_INCONCLUSIVE], made.other_failures) == (["wrapped"], False)


def test_where_no_error_is_expected_one_is_a_bug(tmp_path: Path) -> None:
    made = notes(tmp_path)
    made.add_error(KeyError("x"), is_bug=True)
    assert (made.problems[EXIT_BUG], made.other_failures) == (["unexpected KeyError: 'x'"], False)


# --- workers -------------------------------------------------------------------------------------------------------------------


def noting(worker: Notes, *errors: BaseException) -> Notes:
    """What a worker has noted so far, trials first, as the fixture `trial` does."""
    trials, worker.trials = worker.trials, []
    for each in trials:
        worker.note(Note(trial=each, environment=worker.environment))
    for error in errors:
        worker.add_error(error)
    return worker


def test_what_workers_noted_arrives_though_they_never_finish(tmp_path: Path) -> None:
    first = notes(tmp_path, GOOD, BAD, worker="gw0")
    first.environment = {"kubernetes": "v1.36.3"}
    noting(first, SetupError("port taken"), UsageError("no such file"), HarnessBug("impossible"), AssertionError())
    noting(notes(tmp_path, UNKNOWN, worker="gw1"))
    controlling = notes(tmp_path)
    controlling.worker_died()
    assert controlling.finish(FAILED) == FAILED
    assert controlling.trials == [trial(GOOD, "001"), trial(BAD, "002"), trial(UNKNOWN, "001")]
    assert controlling.environment == {"kubernetes": "v1.36.3"}
    died = "an xdist worker died; what it had finished is in the report"
    reported = {code: problems for code, problems in controlling.problems.items() if problems}
    assert reported == {EXIT_BUG: ["impossible"], EXIT_ENVIRONMENT: [died, "port taken"], EXIT_USAGE: ["no such file"]}
    assert controlling.other_failures
    assert json.loads((tmp_path / "report.json").read_bytes())["partial"] is True


def test_of_two_trials_under_one_claim_the_later_counts(tmp_path: Path) -> None:
    """The worker that ran the first died before it could say that it had."""
    notes(tmp_path, worker="gw0").note(Note(trial=trial(UNKNOWN, "gw0-001"), claim="one"))
    other = notes(tmp_path, worker="gw1")
    for claim, name in (("one", "gw1-001"), ("another", "gw1-002"), ("", "gw1-003"), ("", "gw1-004")):
        other.note(Note(trial=trial(GOOD, name), claim=claim))
    controlling = notes(tmp_path)
    controlling.finish(OK)
    assert [each.name for each in controlling.trials] == ["gw1-001", "gw1-002", "gw1-003", "gw1-004"]


def test_a_finding_outlives_its_worker(tmp_path: Path) -> None:
    """It was confirmed and noted, and only its claim was not over."""
    for name, said in (("gw0", BAD), ("gw1", GOOD)):
        notes(tmp_path, worker=name).note(Note(trial=trial(said, f"{name}-001"), claim="one"))
    controlling = notes(tmp_path)
    controlling.worker_died()
    assert controlling.finish(FAILED) == FAILED
    assert [each.name for each in controlling.trials] == ["gw0-001"]


def test_plans_that_a_user_named_are_no_submittable_report(tmp_path: Path) -> None:
    said = {"organization": "acme", "project": "w", "url": "https://example.com", "version": "v1"}
    named: dict[str, Any] = {f"implementation_{name}": text for name, text in said.items()}
    made = notes(tmp_path / "named", GOOD, **named)
    suite = notes(tmp_path / "suite", **named)
    suite.note(Note(trial=trial(GOOD), claim="one"))
    for each in (made, suite):
        each.environment["staleproof"] = "1.0.0"
        each.finish(None)
    deselected = [each.report.deselected for each in (made, suite) if each.report is not None]
    assert deselected == [("all plans but those that were named",), ()]
    assert not conformance(made.made(partial=False)).submittable
    assert conformance(suite.made(partial=False)).submittable


def test_a_baseline_that_cannot_be_written_costs_no_report(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    made = notes(tmp_path / "run", GOOD, baseline=tmp_path / "file" / "known.yaml", update_baseline=True)
    made.finish(OK)
    assert made.problems[EXIT_ENVIRONMENT]
    assert {"report.json", "conformance.yaml"} <= {each.name for each in (tmp_path / "run").iterdir()}


def test_what_workers_were_refused_adds_up(tmp_path: Path) -> None:
    for worker in ("gw0", "gw1"):
        for times in (2, 1):
            notes(tmp_path, worker=worker).note(Note(trial=trial(GOOD, worker), refused={"list secrets": times}))
    controlling = notes(tmp_path)
    controlling.finish(OK)
    assert controlling.report is not None
    assert controlling.report.refused == {"list secrets": 6}


def test_what_workers_left_out_is_in_the_report(tmp_path: Path) -> None:
    late = [left("b"), left("a")]
    notes(tmp_path, worker="gw0").leave_out(Came(left_out=late))
    notes(tmp_path, worker="gw1").leave_out(Came())
    controlling = notes(tmp_path)
    controlling.finish(OK)
    assert controlling.report is not None
    assert [plan.title for plan in controlling.report.left_out] == ["a", "b"]


@pytest.mark.parametrize(("said", "expected"), [([], EXIT_INCONCLUSIVE), ([GOOD], OK), ([UNKNOWN], EXIT_INCONCLUSIVE)])
def test_a_run_that_had_no_time_for_anything_knows_nothing(said: list[Word], expected: int, tmp_path: Path) -> None:
    made = notes(tmp_path, *said)
    made.leave_out(Came(left_out=[left("a")]))
    assert made.finish(OK) == expected


def test_a_run_whose_time_was_over_before_anything_was_planned_is_reported(tmp_path: Path) -> None:
    notes(tmp_path, worker="gw0").note(Note(unlearnt=True))
    assert notes(tmp_path, minutes=5.0).finish(OK) == EXIT_INCONCLUSIVE
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
    aims: list[str], said: Word, expected: int, tmp_path: Path
) -> None:
    made = notes(tmp_path)
    made.claimed = {"plan": 1}
    made.trials = [
        runs.trial("1", runs.verdict("settles", GOOD)),
        runs.trial("2", *(runs.verdict(each, said) for each in aims), aims=aims),
    ]
    assert made.finish(OK) == expected


def test_a_line_that_a_dying_worker_did_not_finish_is_left_out(tmp_path: Path) -> None:
    noting(notes(tmp_path, GOOD, BAD, worker="gw0"))
    path = tmp_path / "gw0" / "notes.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    controlling = notes(tmp_path)
    controlling.finish(FAILED)
    assert controlling.trials == [trial(GOOD, "001")]


def test_what_workers_note_is_known_while_the_run_is_on(tmp_path: Path) -> None:
    """Each note once, with the name of its worker; a line that is only half written comes the next time."""
    workers = [notes(tmp_path, worker=name) for name in ("gw0", "gw1")]
    controlling, heard = notes(tmp_path), list[tuple[str, Note]]()
    controlling.heard = lambda worker, note: heard.append((worker, note))
    workers[0].tell(Doing("trial", "a plan"))
    workers[1].note(Note(trial=trial(BAD), claim="p"))
    path = tmp_path / "gw1" / "notes.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[:-30])
    controlling.catch_up()
    assert heard == [("gw0", Note(doing=Doing("trial", "a plan")))]
    path.write_bytes(content)
    assert [each.name for each in controlling.so_far().trials] == ["001"]
    assert controlling.so_far().partial
    assert [worker for worker, _ in heard] == ["gw0", "gw1"]
    controlling.finish(FAILED)
    assert [each.name for each in controlling.trials] == ["001"], "and the end counts nothing twice"


@pytest.mark.parametrize(("said", "expected"), [([], EXIT_ENVIRONMENT), ([GOOD], EXIT_ENVIRONMENT), ([BAD], FAILED)])
def test_a_lost_worker_is_the_environment_unless_something_was_found(said: list[Word], expected: int, tmp_path: Path) -> None:
    noting(notes(tmp_path, *said, worker="gw0"))
    controlling = notes(tmp_path)
    controlling.worker_died()
    assert controlling.finish(FAILED) == expected


def test_a_worker_writes_no_report(tmp_path: Path) -> None:
    worker = noting(notes(tmp_path, GOOD, worker="gw0"))
    assert worker.finish(OK) == OK
    assert [path.name for path in tmp_path.rglob("*.*")] == ["notes.jsonl"]


# --- files ---------------------------------------------------------------------------------------------------------------------


def test_the_reports_say_what_the_settings_say(tmp_path: Path) -> None:
    made = notes(
        tmp_path,
        GOOD,
        GOOD,
        implementation_organization="acme",
        implementation_contact=("a@example.com", "b@example.com"),
        conformance_report=tmp_path / "new" / "conformance.yaml",
    )
    made.seed, made.reproduce = "7", "pytest -x"
    made.trials.reverse()
    made.environment = {"kubernetes": "v1.36.3", "imageDigest": "sha256:1"}
    made.finish(OK)
    report = json.loads((tmp_path / "report.json").read_bytes())
    implementation = report["implementation"]
    assert (report["runId"], report["environment"], report["seed"]) == (tmp_path.name, {"kubernetes": "v1.36.3"}, "7")
    assert (implementation["organization"], implementation["imageDigest"]) == ("acme", "sha256:1")
    assert implementation["contact"] == ["a@example.com", "b@example.com"]
    assert report["reproduce"] == "pytest -x"
    assert [each["name"] for each in report["trials"]] == ["001", "002"]
    copied = (tmp_path / "new" / "conformance.yaml").read_text()
    assert copied == (tmp_path / "conformance.yaml").read_text()


def test_the_report_says_what_exactly_ran_and_what_was_not_to_be_run(tmp_path: Path) -> None:
    made = notes(tmp_path, GOOD, profile="smoke", only=("abc",))
    made.note(Note(deselected=("test_drawn[drawn]",)))
    made.finish(OK)
    report = json.loads((tmp_path / "report.json").read_bytes())
    assert (report["profile"], report["suiteDigest"]) == ("smoke", suite_digest())
    assert report["deselected"] == ["all plans but abc", "test_drawn[drawn]"]
    assert {"python", "msgspec"} <= report["versions"].keys()


def test_a_run_is_reported_in_the_formats_that_were_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step"))
    made = notes(tmp_path, BAD, report=("junit", "badge"), known=Baseline(findings=(Known(requirements=(REQUIREMENTS[0].slug,)),)))
    made.finish(OK)
    assert b'failures="0"' in (tmp_path / "junit.xml").read_bytes(), "what is known fails no suite"
    assert (tmp_path / "badge.svg").is_file()
    assert not (tmp_path / "results.sarif").exists()
    assert made.lines == [f"report: {tmp_path / 'junit.xml'}", f"report: {tmp_path / 'badge.svg'}"]
    assert (tmp_path / "step").read_text().startswith("### staleproof")


def test_what_others_have_a_say_in_is_inert_in_a_report(tmp_path: Path) -> None:
    made = notes(tmp_path, GOOD)
    made.environment, made.reproduce = {"companions for \x1b[31m": "sample\u202egnp", "long": "x" * 1_000_000}, "pytest 'a\udcff'"
    made.finish(OK)
    text = (tmp_path / "report.json").read_text()
    assert not {"\x1b", "\u202e", "\udcff"} & set(text)
    report = json.loads(text)
    assert report["environment"]["companions for \\x1b[31m"] == "sample\\u202egnp"
    assert report["reproduce"] == "pytest 'a\\udcff'"
    assert len(text) < 50_000


def test_an_interrupted_run_is_reported_as_far_as_it_came(tmp_path: Path) -> None:
    made = notes(tmp_path, GOOD)
    made.finish(INTERRUPTED)
    assert json.loads((tmp_path / "report.json").read_bytes())["partial"] is True


def test_a_run_that_is_interrupted_before_its_first_trial_is_reported_as_well(tmp_path: Path) -> None:
    assert notes(tmp_path).finish(INTERRUPTED) == INTERRUPTED
    report = json.loads((tmp_path / "report.json").read_bytes())
    assert (report["partial"], report["trials"]) == (True, [])
    assert "the run was interrupted" in (tmp_path / "conformance.yaml").read_text()


def test_workers_that_cannot_begin_are_no_interruption(tmp_path: Path) -> None:
    """To xdist they are."""
    made = notes(tmp_path)
    made.add_error(SetupError("no control plane"))
    assert made.finish(INTERRUPTED) == EXIT_ENVIRONMENT
    assert made.report is None


def test_a_run_that_was_to_stop_is_reported_as_partial(tmp_path: Path) -> None:
    made = notes(tmp_path, BAD)
    made.leave_out(Came(stopped=2))
    assert made.finish(FAILED) == FAILED
    assert json.loads((tmp_path / "report.json").read_bytes())["partial"] is True


@pytest.mark.parametrize(("is_due", "is_partial"), [(True, False), (True, True), (False, True)])
def test_without_a_trial_there_is_a_report_only_if_it_is_due(tmp_path: Path, *, is_due: bool, is_partial: bool) -> None:
    made = notes(tmp_path, conformance_report=tmp_path / "conformance.yaml")
    made.finish(is_due=is_due, is_partial=is_partial)
    assert bool(list(tmp_path.glob("*.*"))) is is_due
    assert made.report is None or made.report.partial is is_partial


def test_a_report_that_cannot_be_copied_is_the_environments_fault(tmp_path: Path) -> None:
    made = notes(tmp_path, GOOD, conformance_report=tmp_path)
    assert made.finish(OK) == EXIT_ENVIRONMENT
    message = f"cannot write --conformance-report={tmp_path}: Is a directory; it is in {tmp_path} too"
    assert made.problems[EXIT_ENVIRONMENT] == [message]
    with pytest.raises(SetupError, match="Is a directory"):
        notes(tmp_path, GOOD, conformance_report=tmp_path).finish()


def test_a_dry_run_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    assert notes(folder, dry_run=True).finish(OK) == OK
    assert not folder.exists()


# --- trials --------------------------------------------------------------------------------------------------------------------


def test_a_report_is_there_after_each_trial_and_how_to_see_it_again(tmp_path: Path) -> None:
    """The machine may be switched off without a warning."""
    made, found = notes(tmp_path), []
    for number, name in enumerate(("naive-hidden-creates", "expectations-hidden-creates"), 1):
        found.append(result(name, tmp_path / "trials" / name))
        crash = made.add(found[-1], Run(tmp_path))
        report = json.loads((tmp_path / "report.json").read_bytes())
        assert (len(report["trials"]), report["partial"], report["trials"][-1]["crash"]) == (number, True, crash)
    assert [path.stem for path in (tmp_path / "crashes").iterdir()] == [crash_id(found[0].plan)]
    assert report["reproduce"].split() == ["staleproof", "run", *(str(each.folder / "plan.json") for each in found)]


@pytest.mark.parametrize(("claim", "wanted"), [("", True), ("key", False)])
def test_the_users_own_plan_has_to_exercise_all_that_it_aims_at(tmp_path: Path, *, claim: str, wanted: bool) -> None:
    made, found = notes(tmp_path), result("expectations-hidden-creates", tmp_path / "trials" / "001")
    made.add(found, Run(tmp_path), claim=claim)
    assert (made.wanted == set(found.plan.aims)) is wanted


class Trials:
    """A session in which every plan comes to the same."""

    def __init__(self, found: Any) -> None:  # noqa: ANN401  # a result
        self.found, self.run = found, Run(found.folder.parents[1])

    def trial(self, plan: object, *, reruns: int | None = None) -> Any:  # noqa: ANN401  # a result
        return self.found


@pytest.mark.parametrize(("claim", "trials"), [("", 1), ("key", 0)])
def test_what_was_broken_off_under_a_claim_is_left_out(claim: str, trials: int, tmp_path: Path) -> None:
    made, found = notes(tmp_path), result("expectations-hidden-creates", tmp_path / "trials" / "001")
    session: Any = Trials(replace(found, interrupted="the API server was gone"))
    made.trial(session, found.plan, claim=claim)
    assert len(made.trials) == trials
