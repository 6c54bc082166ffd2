"""How results look on a terminal: one line a requirement, a story where one failed, nothing wrapped into something else."""

import io
import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from staleproof.assess.run.notes import Notes
from staleproof.assess.store.crashes import crash_id
from staleproof.assess.trial.result import Result, Run
from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS
from staleproof.checks.story.narrative import Story
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.cli.show import concluded, show_story, show_verdicts
from staleproof.errors import SetupError
from staleproof.settings import Settings

from ..judged import result

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


def test_on_a_terminal_a_long_line_goes_on_below_its_beginning() -> None:
    out, sentence = io.StringIO(), "from here its pods stream was held; it had been shown pods up to resourceVersion 89"
    console = Console(file=out, width=60, force_terminal=True, color_system=None)
    show_story(console, replace(STORY, lines=((0.7, sentence),)))
    lines = out.getvalue().splitlines()
    at = lines.index("        0.700 s  from here its pods stream was held; it had ")
    assert lines[at + 1].startswith(" " * 17 + "been shown pods")
    assert max(map(len, lines)) <= 60
    assert " ".join(" ".join(lines).split()).count(f"0.700 s {sentence}") == 1, "nothing is lost"


def test_other_requirements_that_the_same_cause_violated_have_no_story_of_their_own() -> None:
    story = replace(STORY, severity="duplicated", cause="its view is old", also=("settles",))
    lines = shown(*(Verdict(slug, Outcome.FAIL, (Finding("x", (1,)),)) for slug in (SLUG, "settles")), stories=(story,))
    assert lines[2] == "      duplicated: its view is old; it violates settles, too"
    assert lines[-1] == f"  ✗ settles  the same cause as of {SLUG}"


def test_brackets_are_no_markup_and_long_lines_stay_whole() -> None:
    why = "expected [bold], found " + "x" * 200
    assert shown(Verdict(SLUG, Outcome.INCONCLUSIVE, why=why), width=40) == [f"  ? {SLUG}  {why}"]


# --- the end of a run ----------------------------------------------------------------------------------------------------------


def notes(here: Path) -> Notes:
    """Of a run that has started nothing."""
    (here / "run 1").mkdir()
    return Notes(folder=here / "run 1", settings=Settings(dir=here / ".staleproof"))


def trial(of: Notes, name: str) -> Result:
    return result(name, of.folder / "trials" / name)


def test_the_report_and_how_to_see_it_again(tmp_path: Path) -> None:
    made, out = notes(tmp_path), io.StringIO()
    found = trial(made, "naive-hidden-creates")
    with concluded(made, Console(file=out, width=150)):
        crash = made.add(found, Run(made.folder))
    assert crash == crash_id(found.plan)
    assert (tmp_path / ".staleproof" / "crashes" / f"{crash}.json").is_file()
    report = json.loads((made.folder / "report.json").read_bytes())
    assert report["trials"][0]["crash"] == crash
    assert "partial" not in report or report["partial"] is False
    assert shlex.split(report["reproduce"]) == ["staleproof", "run", str(found.folder / "plan.json")]
    assert (made.folder / "conformance.yaml").is_file()
    shown = out.getvalue()
    assert f"    again: staleproof replay {crash}\n" in shown
    *_, place, last = shown.splitlines()
    assert place == f"report: {made.folder / 'report.html'}"
    assert (made.folder / "report.html").is_file()
    assert last.startswith("failed: no-duplicate-create violated; ")


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SetupError("the proxy died")])
def test_an_end_before_the_last_trial_loses_nothing(end: BaseException, tmp_path: Path) -> None:
    made, out = notes(tmp_path), io.StringIO()

    def interrupted() -> None:
        with concluded(made, Console(file=out, width=150)):
            made.add(trial(made, "naive-hidden-creates"), Run(made.folder))
            raise end

    with pytest.raises(type(end)):
        interrupted()
    report = json.loads((made.folder / "report.json").read_bytes())
    assert report["partial"] is True
    assert [each["crash"] for each in report["trials"]] == [path.stem for path in (tmp_path / ".staleproof" / "crashes").iterdir()]
    *_, place, last = out.getvalue().splitlines()
    assert place == f"report: {made.folder / 'report.html'}"
    assert last.startswith("interrupted; failed: ")


def test_an_interruption_before_the_first_trial_is_reported(tmp_path: Path) -> None:
    made, out = notes(tmp_path), io.StringIO()
    with pytest.raises(KeyboardInterrupt), concluded(made, Console(file=out, width=150)):
        raise KeyboardInterrupt
    report = json.loads((made.folder / "report.json").read_bytes())
    assert (report["partial"], report["trials"]) == (True, [])
    assert out.getvalue().splitlines()[-1].startswith(f"interrupted; nothing failed in what was finished: 0 of {len(BY_SLUG)} ")


def test_an_end_before_the_first_trial_says_where_the_logs_are(tmp_path: Path) -> None:
    made, out = notes(tmp_path), io.StringIO()
    with pytest.raises(SetupError), concluded(made, Console(file=out)):
        raise SetupError("no control plane")
    assert list(made.folder.iterdir()) == []
    assert out.getvalue().startswith("run folder: ")
