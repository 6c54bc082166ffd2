"""How results are shown on a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from staleproof.checks.story.narrative import Story
from staleproof.checks.verdict import Outcome, Verdict

_MARKS = {
    Outcome.PASS: ("✓", "green"),
    Outcome.FAIL: ("✗", "bold red"),
    Outcome.INCONCLUSIVE: ("?", "yellow"),
    Outcome.NOT_EXERCISED: ("–", "dim"),  # noqa: RUF001  # a dash on purpose
}


def show_verdicts(console: Console, verdicts: Sequence[Verdict], stories: Sequence[Story]) -> None:
    """One line for each requirement, with the story below each that failed."""
    told = {story.requirement: story for story in stories}
    for verdict in verdicts:
        mark, style = _MARKS[verdict.outcome]
        line = Text(f"  {mark} {verdict.requirement}", style=style)
        if verdict.why:
            line.append(f"  {verdict.why}", style="dim")
        console.print(line, soft_wrap=True)
        if verdict.requirement in told:
            show_story(console, told[verdict.requirement])


def show_story(console: Console, story: Story) -> None:
    """Heading, if it is not about conformance; headline, lines, remedy. None is wrapped, so that they can be copied as they are."""
    if story.heading:
        console.print(Text(f"    {story.heading}", style="yellow"), soft_wrap=True)
    console.print(Text(f"    {story.headline}", style="bold"), soft_wrap=True)
    for at, sentence in story.lines:
        console.print(Text(f"      {at:7.3f} s  {sentence}"), soft_wrap=True)
    console.print(Text(f"      remedy: {story.remedy}", style="cyan"), soft_wrap=True)
