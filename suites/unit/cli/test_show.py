"""How results look on a terminal: one line a requirement, a story where one failed, nothing wrapped into something else."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS
from staleproof.checks.story.narrative import Story
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.cli.show import show_verdicts

SLUG = REQUIREMENTS[0].slug
LINES = ((0.7, "from here [held] it was held"),)
STORY = Story(SLUG, "pod/ns/w-d is the 4th live pod of widget/w", LINES, BY_SLUG[SLUG].remedy, "2 without faults")


def shown(*verdicts: Verdict, stories: tuple[Story, ...] = (), width: int = 60) -> list[str]:
    out = io.StringIO()
    show_verdicts(Console(file=out, width=width, force_terminal=False), verdicts, stories)
    return out.getvalue().splitlines()


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        (Verdict(SLUG, Outcome.PASS), f"  ✓ {SLUG}"),
        (Verdict(SLUG, Outcome.INCONCLUSIVE, why="the references differ"), f"  ? {SLUG}  the references differ"),
        (Verdict(SLUG, Outcome.NOT_EXERCISED, why="nothing was hidden"), f"  \N{EN DASH} {SLUG}  nothing was hidden"),
        (Verdict(SLUG, Outcome.FAIL, (Finding("twice", (1,)),)), f"  ✗ {SLUG}"),
    ],
)
def test_one_line_for_each_verdict(verdict: Verdict, line: str) -> None:
    assert shown(verdict) == [line]


def test_the_story_stands_below_its_verdict() -> None:
    lines = shown(Verdict(SLUG, Outcome.FAIL, (Finding("twice", (1,)),)), Verdict("settles", Outcome.PASS), stories=(STORY,))
    assert lines == [
        f"  ✗ {SLUG}",
        "    pod/ns/w-d is the 4th live pod of widget/w",
        "        0.700 s  from here [held] it was held",
        "      compared with runs: 2 without faults",
        f"      remedy: {STORY.remedy}",
        "  ✓ settles",
    ]


def test_other_requirements_that_the_same_cause_violated_have_no_story_of_their_own() -> None:
    story = replace(STORY, severity="duplicated", cause="its view is old", also=("settles",))
    lines = shown(*(Verdict(slug, Outcome.FAIL, (Finding("x", (1,)),)) for slug in (SLUG, "settles")), stories=(story,))
    assert lines[2] == "      duplicated: its view is old; it violates settles, too"
    assert lines[-1] == f"  ✗ settles  the same cause as of {SLUG}"


def test_brackets_are_no_markup_and_long_lines_stay_whole() -> None:
    why = "expected [bold], found " + "x" * 200
    assert shown(Verdict(SLUG, Outcome.INCONCLUSIVE, why=why), width=40) == [f"  ? {SLUG}  {why}"]
