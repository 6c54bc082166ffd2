"""The page of a run, from its report alone."""

from staleproof.checks.catalog import BY_SLUG, is_scored
from staleproof.core.history.time_breakdown import Spent
from staleproof.report.html.document import Page
from staleproof.report.html.of_run import Kept, page_of_run
from staleproof.report.model import EndedSearch, LeftOut, Report

from ..runs import BAD, GOOD, IDLE, UNKNOWN, report, trial, verdict

SLUG, OTHER = "no-duplicate-create", "settles"


def of(run: Report) -> Page:
    return page_of_run(run, Kept())


def test_the_worst_finding_comes_first_and_says_how_to_see_it_again() -> None:
    late = trial("001", verdict(OTHER, BAD, severity="stuck", cause="b"))
    twice = trial("002", verdict(SLUG, BAD, severity="duplicated", cause="a"), crash="ab12", reproduced=(3, 3))
    first, second = of(report(late, twice)).findings

    assert (first.severity, first.replay, first.reproduced) == ("duplicated", "staleproof replay ab12", "came back in 3 of 3 runs")
    assert (second.severity, second.replay, second.reproduced) == ("stuck", "staleproof replay 001", "")


def test_of_each_requirement_it_counts_the_trials_of_each_scenario() -> None:
    trials = [trial(f"00{n}", verdict(SLUG, said), scenario="restart") for n, said in enumerate((BAD, GOOD, GOOD, UNKNOWN, IDLE))]
    page = of(report(*trials, trial("009", verdict(SLUG, GOOD), scenario="drawn")))
    row = next(row for row in page.rows if row.requirement == SLUG)

    assert page.scenarios == ("drawn", "restart")
    assert row.cells == ((0, 0, 1, 0), (1, 1, 2, 1))
    assert row.result == "failed"


def test_what_was_not_tried_is_reported() -> None:
    left = (LeftOut(scenario="restart", title="a"), LeftOut(scenario="restart", title="b", why="no such child"))
    ended = EndedSearch(scenario="drawn", primary="Widget/w", plans=3, requirement=SLUG, found="x", trial="001")
    page = of(report(trial("001", verdict(SLUG, GOOD)), partial=True, left_out=left, ended_searches=(ended,)))

    assert page.not_tried == (
        "the run was interrupted: only finished trials are here",
        "1 plan not run for lack of time (restart)",
        "restart: b: no such child",
        f"3 drawn plans of drawn, because {SLUG} was violated in 001",
    )


def test_a_run_of_nothing_has_a_page() -> None:
    page = of(report())
    assert (page.verdict, page.findings, page.timelines) == ("not exercised", (), {})


def test_what_stayed_inconclusive_is_reported_by_its_reason() -> None:
    why = "it may yet do so"
    first = trial("001", verdict(SLUG, UNKNOWN, why=why), verdict(OTHER, UNKNOWN, why="another"))
    page = of(
        report(
            first, trial("002", verdict(SLUG, UNKNOWN, why=why)), trial("003", verdict(SLUG, UNKNOWN, why=why), hostile="DropFrame")
        )
    )

    assert [(each.why, each.requirements, each.trials) for each in page.questions] == [
        (why, (SLUG,), ("001", "002")),
        ("another", (OTHER,), ("001",)),
    ]


def test_a_trial_that_did_not_converge_never_recovered() -> None:
    page = of(report(trial("001", verdict(OTHER, BAD)), trial("002", verdict(OTHER, GOOD), spent=Spent(settle=0.5))))
    assert [each.recovered for each in page.trials] == [None, 0.5]


def test_what_is_not_scored_decides_nothing_and_is_told_apart() -> None:
    provisional = next(slug for slug in BY_SLUG if not is_scored(slug))
    every = [verdict(slug, GOOD) for slug in BY_SLUG if slug != provisional]
    odd = trial("001", *every, verdict(provisional, BAD, story=f"{provisional}  it was busy"))
    page = of(report(odd, trial("002", verdict(SLUG, BAD, story=f"{SLUG}  twice"), hostile="hostile faults (DropFrame)")))
    row = next(row for row in page.rows if row.requirement == provisional)

    assert page.findings == ()
    assert page.aside == (
        f"{provisional}, provisional: it was busy (1 trial: 001)",
        f"{SLUG}, under faults that no API server causes (hostile faults (DropFrame)): twice (1 trial: 002)",
    )
    assert (row.result, row.scored) == ("failed", False)


def test_a_run_that_tried_too_little_has_not_passed() -> None:
    few = report(trial("001", verdict(SLUG, GOOD)), unlearnt=True)
    assert of(few).verdict == "inconclusive"
    assert of(report(trial("001", verdict(SLUG, GOOD)))).verdict == "passed"


def test_a_run_that_was_interrupted_or_learnt_nothing_has_not_passed() -> None:
    good = trial("001", verdict(SLUG, GOOD))
    assert of(report(good)).verdict == "passed"
    assert of(report(good, partial=True)).verdict == of(report(partial=True)).verdict == "inconclusive"
    assert of(report(unlearnt=True, minutes=1.0)).verdict == "inconclusive"
    assert of(report(trial("001", verdict(SLUG, BAD)), partial=True)).verdict == "failed"


def test_a_trial_is_called_by_what_is_scored_of_it() -> None:
    unscored = next(slug for slug in BY_SLUG if not is_scored(slug))
    page = of(
        report(
            trial("001", verdict(SLUG, GOOD), verdict(unscored, BAD)),
            trial("002", verdict(SLUG, BAD), verdict(OTHER, GOOD), hostile="DropFrame"),
            trial("003", verdict(SLUG, BAD), verdict(OTHER, GOOD)),
        )
    )
    assert [each.result for each in page.trials] == ["passed", "passed", "failed"]


def test_a_requirement_of_another_version_has_no_remedy() -> None:
    (finding,) = of(report(trial("001", verdict("was-renamed", BAD, why="x")))).findings
    assert finding.remedy == ""


def test_what_runs_a_finding_again_names_its_folder() -> None:
    (finding,) = of(report(trial("001", verdict(SLUG, BAD), crash="ab12"), artefacts="build/of mine")).findings
    assert finding.replay == "staleproof replay ab12 '--dir=build/of mine'"
