"""How far a run is, given what its workers have noted."""

import pytest

from staleproof.assess.run.doing import BuildProgress, Doing
from staleproof.assess.run.notes import Note
from staleproof.assess.run.standing import Watched
from staleproof.report.live import Step
from staleproof.report.model import EndedSearch, LeftOut

from ...report import runs

AHEAD = Note(ahead={"a": 10.0, "b": 20.0, "c": 30.0, "d": 40.0})


def after(*notes: tuple[str, Note]) -> Watched:
    watched = Watched()
    for worker, note in notes:
        watched.take(worker, note)
    return watched


def test_before_the_plans_are_known_only_what_is_done_is() -> None:
    of = after(("gw0", Note(doing=Doing("learning the operator", "Widget/w")))).standing(7)
    assert (of.seconds, of.planned, of.left, of.steps) == (7, 0, None, (Step(phase="learning the operator", what="Widget/w"),))


def test_plans_that_are_over_or_will_not_be_run_are_counted() -> None:
    late = LeftOut(scenario="streams", title="x")
    ended = EndedSearch(scenario="drawn", primary="w", plans=1, requirement="r", found="f", trial="1")
    of = after(("gw0", AHEAD), ("gw1", AHEAD), ("gw0", Note(over="a", took=1.0)), ("gw1", Note(left_out=(late,), ended=(ended,))))
    assert (of.standing(0).over, of.standing(0).planned) == (3, 4)


def test_time_left_is_what_is_expected_of_the_plans_that_are_open() -> None:
    assert after(("", AHEAD)).standing(0).left == pytest.approx(100)
    assert after(("", AHEAD), ("", Note(over="d", took=40.0))).standing(0).left == pytest.approx(60)


def test_what_took_longer_than_expected_lets_others_take_longer() -> None:
    usual = after(("", AHEAD), ("", Note(over="a", took=10.0))).standing(0).left
    slow = after(("", AHEAD), ("", Note(over="a", took=100.0))).standing(0).left
    assert usual is not None
    assert slow is not None
    assert slow == pytest.approx(4 * usual)


def test_workers_share_the_time() -> None:
    trial = Note(doing=Doing("trial", "x"))
    assert after(("gw0", AHEAD), ("gw0", trial), ("gw1", trial)).standing(0).left == pytest.approx(50)
    idle = after(("gw0", AHEAD), ("gw0", trial), ("gw1", trial), ("gw1", Note(doing=Doing())))
    assert idle.standing(0).left == pytest.approx(100)


def test_no_more_time_is_left_than_the_budget_has() -> None:
    assert after(("", AHEAD)).standing(0, budget=12).left == 12


def test_when_all_is_over_there_is_no_time_left_to_tell() -> None:
    overs = [("", Note(over=name, took=1.0)) for name in "abcd"]
    assert after(("", AHEAD), *overs).standing(0).left is None


def test_a_plan_that_is_run_again_by_another_worker_counts_once() -> None:
    assert after(("gw0", AHEAD), ("gw0", Note(over="a")), ("gw1", Note(over="a"))).standing(0).over == 1


def test_findings_are_counted_by_cause() -> None:
    bad = runs.trial("1", runs.verdict("settles", "failed", cause="x"), runs.verdict("cleans-up", "failed", cause="y"))
    same = runs.trial("2", runs.verdict("settles", "failed", cause="x"))
    watched = after(("gw0", Note(trial=bad, claim="p")), ("gw1", Note(trial=same)))
    assert watched.standing(0).findings == 2
    watched.take("gw1", Note(trial=runs.trial("3", runs.verdict("settles", "passed")), claim="p"))
    assert watched.standing(0).findings == 1, "of several trials of a plan the last one counts"


def test_what_tells_most_comes_first() -> None:
    doing = {"gw0": "references", "gw1": "confirming", "gw2": "waiting", "gw3": "trial"}
    of = after(*((worker, Note(doing=Doing(phase))) for worker, phase in doing.items())).standing(0)  # type: ignore[arg-type]
    assert [step.phase for step in of.steps] == ["confirming", "trial", "references"]


def test_a_build_says_what_it_is_and_how_far() -> None:
    reports: list[Doing] = []
    builds = BuildProgress(reports.append)
    builds.begin("kube-apiserver: compiling packages", 2000)
    for done in range(2001):
        builds.advance(done)
    builds.begin("kube-apiserver: linking", None)
    assert (reports[0].done, reports[-2].done, reports[-2].total) == (0, 2000, 2000)
    assert len(reports) < 100, "not for each package"
    of = after(("", Note(doing=reports[-2]))).standing(0)
    assert of.steps == (Step(phase="", what="kube-apiserver: compiling packages", done=2000, total=2000),)
