"""The end of a run fits a screen, and says the worst first and nothing twice."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest

from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS
from staleproof.checks.verdict import Outcome
from staleproof.report.ending import MOST_LINES, Ending, FindingSummary, Row, screen, summed_up, width_of
from staleproof.report.model import EndedSearch, LeftOut, Report

from . import runs
from .runs import BAD, GOOD, IDLE, UNKNOWN, trial, verdict

SLUGS = [requirement.slug for requirement in REQUIREMENTS]
FIRST, SECOND, THIRD = SLUGS[:3]
WHERE = "run/report.json"
STORY = (
    f"{FIRST}  pod/ns/w-d is the 4th live pod of widget/w\n  duplicated: its view is old\n"
    "     0.028 s  from here its pods stream was held\n     0.046 s  it was shown widget/w\n     0.070 s  it created pod/w-d\n"
    "  remedy: as the catalogue says"
)
LONG = "of a name as long as those of real clusters are, with a namespace, a hash and what else belongs to it, " * 3


def lines(of: Report | Ending, width: int = 100) -> list[str]:
    ending = of if isinstance(of, Ending) else summed_up(of)
    return [line.plain.rstrip() for line in screen(ending, width, more=WHERE)]


def finding(number: int) -> FindingSummary:
    return FindingSummary(
        what=f"destroyed: it deletes pods {number} {LONG}",
        about=f"(requirement-{number:02}; 3 plans)",
        happened=f"the controller deleted pod {number} {LONG}",
        witnesses=(f"0.1 s  from here {number} {LONG}", f"9.9 s  it deleted {number} {LONG}"),
        remedy=f"expect own deletes {number} {LONG}",
        again=f"staleproof replay {number:010}-abcdef",
    )


def slugs(kind: str, count: int) -> tuple[str, ...]:
    return tuple(f"{kind}-of-some-requirement-{number:02}" for number in range(count))


def crowded(failed: int, unknown: int, passed: int, untried: int, findings: int = 12) -> Ending:
    """More of everything than any run has."""
    rows = [(Outcome.FAIL, each) for each in slugs("failed", failed)]
    rows += [(Outcome.INCONCLUSIVE, each) for each in slugs("unknown", unknown)]
    return Ending(
        title="94 trials · Kubernetes v1.36.3",
        findings=tuple(map(finding, range(findings))),
        rows=tuple(Row(outcome=outcome, slugs=(slug,), why=f"{slug} {LONG}") for outcome, slug in rows),
        passed=slugs("passed", passed),
        untried=slugs("untried", untried),
        option=f"--staleproof-minutes 12 {LONG}",
        apart=(LONG,) * 4,
        warnings=(LONG,) * 9,
        left_out=(LONG,) * 9,
        time=f"time: {LONG}",
    )


@pytest.mark.parametrize("width", [80, 100, 160])
@pytest.mark.parametrize("counts", [(9, 6, 12, 8), (35, 0, 0, 0), (0, 35, 0, 0), (0, 0, 35, 0), (0, 0, 0, 35), (0, 0, 0, 0)])
def test_twelve_findings_and_thirty_five_requirements_fit_a_screen(counts: tuple[int, int, int, int], width: int) -> None:
    shown = lines(crowded(*counts), width)
    assert len(shown) <= MOST_LINES
    assert max(map(len, shown)) <= width


@pytest.mark.parametrize("findings", [0, 1, 3, 4, 12, 100])
def test_however_much_was_found_it_fits_a_screen(findings: int) -> None:
    shown = lines(crowded(9, 6, 12, 8, findings=findings))
    assert len(shown) <= MOST_LINES
    again = [line for line in shown if "staleproof replay" in line]
    more = [line for line in shown if line.startswith("and ") and WHERE in line]
    assert len(again) >= min(findings, 3)
    assert bool(more) or len(again) == findings


def test_the_most_crowded_end_still_says_for_each_of_the_first_three_what_happened_and_how_to_see_it_again() -> None:
    shown = lines(crowded(9, 6, 12, 8))
    for number in range(3):
        at = next(index for index, line in enumerate(shown) if line.startswith(f"{number + 1} destroyed: it deletes pods {number}"))
        beginnings = ("the controller deleted", "0.1 s", "9.9 s", f"again: staleproof replay {number:010}-abcdef")
        assert [line.strip().startswith(each) for line, each in zip(shown[at + 1 :], beginnings, strict=False)] == [True] * 4
        assert "remedy: expect own deletes" in shown[at + 4]
    assert shown.index(next(line for line in shown if line.startswith("✗"))) > shown.index(
        next(line for line in shown if line.startswith("and "))
    )


def found(slug: str = FIRST, **fields: str) -> Report:
    about = {"story": STORY, "severity": "duplicated", "cause": "its view is old"} | fields
    one = trial(
        "007", verdict(slug, BAD, **about), verdict(SECOND, GOOD), verdict(THIRD, IDLE, why="nothing was hidden"), crash="c0ffee"
    )
    return runs.report(one)


def test_a_finding_has_five_parts() -> None:
    first, happened, before, deed, *remedy, again = lines(found())[
        1 : 1 + lines(found()).index("    again: staleproof replay c0ffee")
    ]
    assert first == f"1 duplicated: its view is old  ({FIRST}; 1 plan)"
    assert happened == "    pod/ns/w-d is the 4th live pod of widget/w"
    assert before == "    0.028 s  from here its pods stream was held"
    assert deed == "    0.070 s  it created pod/w-d"
    assert " ".join(line.strip() for line in remedy) == f"remedy: {BY_SLUG[FIRST].remedy}"
    assert again == "    again: staleproof replay c0ffee"


def test_the_worst_finding_comes_first_and_a_cause_is_reported_once() -> None:
    worse = verdict(SECOND, BAD, story=f"{SECOND}  a claim is gone", severity="destroyed", cause="it lists the past")
    other = verdict(FIRST, BAD, story=STORY, severity="duplicated", cause="its view is old")
    shown = lines(runs.report(trial("1", other), trial("2", worse), trial("3", other, worse)))
    heads = [line for line in shown if line[:2] in ("1 ", "2 ", "3 ")]
    assert heads == [
        f"1 destroyed: it lists the past  ({SECOND}; 2 plans)",
        f"2 duplicated: its view is old  ({FIRST}; 2 plans)",
    ]
    assert f"✗ {FIRST}  failed: in 2 of 2 plans (finding 2)" in shown


def test_the_fault_comes_before_the_deed_wherever_it_stands_and_a_log_has_its_last_line() -> None:
    story = (
        f"{FIRST}  its process exited by itself\n  transient: its view is old\n"
        "     0.028 s  it deleted pod/w-a\n     0.046 s  from here its pods stream was held\n"
        "     0.070 s  its process exited by itself with code 1, and its log ends:\n"
        "              | Traceback (most recent call last):\n              | ValueError: 3 pods\n  remedy: as the catalogue says"
    )
    shown = lines(runs.report(trial("1", verdict(FIRST, BAD, story=story, severity="transient", cause="its view is old"))))
    assert shown[3:5] == [
        "    0.046 s  from here its pods stream was held",
        "    0.070 s  its process exited by itself with code 1, and its log ends: ValueError: 3 pods",
    ]


def test_a_doubt_about_what_failed_elsewhere_is_named() -> None:
    doubt = verdict(FIRST, UNKNOWN, why="unconfirmed, because the run ended first")
    shown = lines(runs.report(trial("1", verdict(FIRST, BAD, story=STORY)), trial("2", doubt), trial("3", doubt)))
    assert f"inconclusive in 2, 3: {FIRST}: unconfirmed, because the run ended first" in shown


def test_requirements_that_passed_or_were_not_tried_have_a_list_each() -> None:
    shown = lines(runs.report(trial("1", *(verdict(slug, GOOD) for slug in SLUGS[:-2]))))
    assert shown[1].startswith(f"✓ passed ({len(SLUGS) - 2}): {FIRST}, ")
    assert f"– not exercised (2): {SLUGS[-2]}, {SLUGS[-1]}" in shown  # noqa: RUF001  # a dash on purpose


def test_no_reason_is_reported_twice() -> None:
    why = "planned faults never fired: Hold of pods"
    of = runs.report(
        trial("1", *(verdict(slug, UNKNOWN, why=why) for slug in SLUGS[:5]), verdict(SLUGS[5], UNKNOWN, why="another"))
    )
    reasons = [line for line in lines(of) if line.startswith("? ")]
    assert len(reasons) == 2
    assert " ".join(lines(of)).count(why) == 1


def test_in_a_real_end_no_line_stands_twice() -> None:
    of = found()
    shown = [line.strip() for line in lines(of)]
    assert len(shown) == len(set(shown))


def test_the_option_that_would_reach_most_is_named() -> None:
    idle = trial("1", verdict(FIRST, IDLE), verdict(SECOND, GOOD), aims=(FIRST, SECOND))
    wanted = runs.report(idle, wanted=(FIRST, SECOND))
    (hint,) = (line for line in lines(wanted) if "--staleproof" in line)
    assert hint == f"  --staleproof-max-examples N would reach most of what a run has to exercise ({FIRST})"
    late = LeftOut(scenario="streams", title="a", aims=(FIRST,))
    hurried = msgspec.structs.replace(wanted, left_out=(late, late, late), minutes=2.0)
    assert any(line.startswith("  --staleproof-minutes 9 would") for line in lines(hurried))
    assert "3 plans left out: there was no time" in lines(hurried)


def test_of_a_run_that_was_interrupted_no_option_is_reported() -> None:
    of = runs.report(trial("1", verdict(FIRST, GOOD), verdict(SECOND, IDLE)))
    assert "  no plan of this run was about them" in lines(of)
    assert "  no plan of this run was about them" not in lines(msgspec.structs.replace(of, partial=True))


def test_what_is_not_scored_stands_apart() -> None:
    of = runs.report(
        trial("1", verdict("no-blind-retry", BAD, story="no-blind-retry  x"), verdict(FIRST, GOOD)),
        trial("2", verdict(FIRST, IDLE, story="x"), hostile="hostile faults (DropFrame)"),
    )
    shown = lines(of)
    assert "not scored, because the requirement is provisional: no-blind-retry in 1 plan" in shown
    assert "not scored, because no API server does this: findings in 2" in shown
    assert not [line for line in shown if line.startswith("✗")]


def test_what_kept_the_run_from_telling_more_is_reported() -> None:
    ended = EndedSearch(scenario="drawn", primary="widgets/w", plans=5, requirement=FIRST, found="x", trial="003")
    of = runs.report(
        trial("1", verdict(FIRST, GOOD)),
        environment={"kubernetes": "v1", "left out": "Gadget/g: nothing reacts to it", "placeholders": "Secret/s"},
        refused={"list secrets": 14},
        ended_searches=(ended,),
    )
    shown = lines(of)
    assert "samples left out: Gadget/g: nothing reacts to it" in shown
    assert "asked 14 times to list secrets: not allowed by its Role" in shown
    assert "5 drawn plans not run, because the search had found something new" in shown
    assert "Secret/s: the payload is not written down; give it again with --staleproof-before (or --before)" in shown


def test_a_text_of_several_lines_has_one() -> None:
    of = runs.report(trial("1", verdict(FIRST, UNKNOWN, why="it broke:\n  exit 3\n  panic")))
    assert f"? {FIRST}  inconclusive: it broke: exit 3 panic" in lines(of)


def test_everything_grows_where_there_is_room() -> None:
    long = replace(finding(1), happened="a b " * 45)
    ending = Ending(title="x", findings=(long,))
    assert sum("a b" in line for line in lines(ending)) == 2
    assert sum("a b" in line for line in lines(replace(crowded(9, 6, 12, 8), findings=(long,) * 12))) == 3


def test_lines_are_in_the_order_in_which_they_matter() -> None:
    shown = lines(crowded(2, 2, 5, 3, findings=2))
    order = [first_with(shown, each) for each in ("1 ", "✗", "?", "✓", "–", "time")]  # noqa: RUF001  # a dash on purpose
    assert all(before < after for before, after in pairwise(order))


def first_with(shown: Sequence[str], start: str) -> int:
    return next(index for index, line in enumerate(shown) if line.startswith(start))


@pytest.mark.parametrize("is_unconfirmed", [True, False])
def test_a_finding_that_was_not_confirmed_comes_with_the_command_that_runs_it_again(*, is_unconfirmed: bool) -> None:
    doubt = verdict(FIRST, UNKNOWN, why="unconfirmed, because the run ended first: its view is old")
    shown = lines(runs.report(trial("gw1-003", doubt, unconfirmed=is_unconfirmed), artefacts="elsewhere"))
    assert ("    again: staleproof replay gw1-003 --dir=elsewhere" in shown) == is_unconfirmed


@pytest.mark.parametrize(
    ("width", "is_terminal", "columns", "expected"),
    [(100, True, "", 100), (40, True, "", 80), (80, False, "", 160), (80, False, "80", 80), (200, False, "", 200)],
)
def test_a_file_has_no_width(width: int, expected: int, columns: str, *, is_terminal: bool) -> None:
    assert width_of(width, is_terminal=is_terminal, environ={"COLUMNS": columns}) == expected
