"""How results are shown on a terminal."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from staleproof.checks.story.narrative import Story
from staleproof.checks.story.why import Section
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.report.ending import screen, summed_up, width_of
from staleproof.report.inert import inert
from staleproof.report.model import Report
from staleproof.report.terminal import sentence, table

if TYPE_CHECKING:  # `staleproof check` does not wait for the imports of what runs trials
    from staleproof.assess.run.notes import Notes

_MARKS = {
    Outcome.PASS: ("✓", "green"),
    Outcome.FAIL: ("✗", "bold red"),
    Outcome.INCONCLUSIVE: ("?", "yellow"),
    Outcome.NOT_EXERCISED: ("–", "dim"),  # noqa: RUF001  # a dash on purpose
}


def show_verdicts(console: Console, verdicts: Sequence[Verdict], stories: Sequence[Story]) -> None:
    """One line for each requirement; below that which suffers most from a cause, the story."""
    same = {slug: story.requirement for story in stories for slug in story.also}
    for verdict in verdicts:
        mark, style = _MARKS[verdict.outcome]
        line = Text(f"  {mark} {verdict.requirement}", style=style)
        if verdict.why:
            line.append(f"  {inert(verdict.why)}", style="dim")
        its_stories = [story for story in stories if story.requirement == verdict.requirement]
        if not its_stories and verdict.requirement in same:
            line.append(f"  the same cause as of {same[verdict.requirement]}", style="dim")
        console.print(line, soft_wrap=True)
        for story in its_stories:
            show_story(console, story)


def show_why(console: Console, sections: Sequence[Section]) -> None:
    """Nothing is wrapped, so it can be copied."""
    for section in sections:
        console.print(Text(f"    {inert(section.title)}", style="bold"), soft_wrap=True)
        for line in section.lines:
            console.print(Text(f"      {inert(line)}"), soft_wrap=True)


def show_story(console: Console, story: Story) -> None:
    """Heading, if it is not about conformance; headline, cause, lines, what it was compared with, remedy. Nothing is wrapped, so it
    can be copied; on a terminal, what is wider goes on below its own beginning."""
    if story.heading:
        _put(console, 4, Text(inert(story.heading), style="yellow"))
    _put(console, 4, Text(inert(story.headline), style="bold"))
    if story.summary:
        _put(console, 6, Text(inert(story.summary), style="red"))
    for at, line in story.lines:
        _put(console, 6, Text(f"{at:7.3f} s  {inert(line)}"), hangs=11)
    if story.compared:
        _put(console, 6, Text(f"compared with runs: {inert(story.compared)}", style="dim"))
    _put(console, 6, Text(f"remedy: {story.remedy}", style="cyan"))


def _put(console: Console, indent: int, text: Text, *, hangs: int = 0) -> None:
    """Write a line so far from the left; what it goes on with stands a little farther, as it `hangs`."""
    width = console.width - indent
    first = text.wrap(console, width)[0] if console.is_terminal and text.cell_len > width else text
    rest = text[len(first.plain) :]
    console.print(Text(" " * indent) + first, soft_wrap=True)
    for line in rest.wrap(console, width - hangs) if rest.plain.strip() else ():
        console.print(Text(" " * (indent + hangs)) + line, soft_wrap=True)


@contextmanager
def concluded(notes: "Notes", console: Console, *, in_words: bool = True, verbose: bool = False) -> Iterator[None]:
    """However the block ends, what was finished is reported, and where it is; the last line says what to think of it. Unless it
    ends by itself, the report is a partial one; when it is interrupted, there is one even of nothing. `verbose`: all of it is
    printed."""
    is_over = is_due = False
    try:
        yield
        is_over = is_due = True
    except KeyboardInterrupt:
        is_due = True
        raise
    finally:
        try:
            notes.finish(is_due=is_due, is_partial=not is_over)
            if notes.report is not None and in_words:
                _show_report(notes.report, notes, console, verbose=verbose)
        finally:
            console.print(notes.place, highlight=False, markup=False, soft_wrap=True)
            if notes.report is not None and in_words:
                console.print(sentence(notes.report, notes.baseline), highlight=False, markup=False, soft_wrap=True)


def show_screen(report: Report, notes: "Notes", console: Console) -> None:
    """What came of a run, on one screen."""
    width = width_of(console.width, is_terminal=console.is_terminal)
    for line in screen(summed_up(report), width, more=str(notes.main_report)):
        console.print(line, highlight=False, soft_wrap=True)


def _show_report(report: Report, notes: "Notes", console: Console, *, verbose: bool) -> None:
    if verbose:
        console.print(table(report), "")
    show_screen(report, notes, console)
    for line in notes.known:
        console.print(Text(inert(line)), soft_wrap=True)
