"""The line that says how far a run is, while it is on."""

from dataclasses import dataclass

from rich.text import Text

from staleproof.core.wording import plural
from staleproof.report.inert import in_one_line

_BAR = 12
STOPPING = "interrupted: everything that the run has started is being stopped, which takes some seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one worker does: a phase, and what in it, in words. What is built or started says so itself, and has no phase. `done` of
    `total`: how far that is; a total of 0 is not known."""

    phase: str
    what: str = ""
    done: int = 0
    total: int = 0

    @property
    def words(self) -> str:
        """`confirming: hide own creates of pods, then touch`."""
        how_far = f" {self.done}/{self.total}" if self.total else ""
        return f"{': '.join(filter(None, (self.phase, in_one_line(self.what))))}{how_far}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a run is.

    Attributes:
        seconds: since it began.
        over, planned: trials; 0 of 0 as long as it is not known how many there will be.
        findings: what was found so far, by cause.
        left: seconds that it is expected to take from now on; None: not known.
        steps: what the workers do, the most telling first.
        is_interrupted: a signal has come, and everything is being stopped.
    """

    seconds: float = 0.0
    over: int = 0
    planned: int = 0
    findings: int = 0
    left: float | None = None
    steps: tuple[Step, ...] = ()
    is_interrupted: bool = False


def live_line(of: Standing, width: int) -> Text:
    """In so many columns; what the workers do comes last, so it is what gives way. Empty as long as nothing is known."""
    if of.is_interrupted:
        return Text(STOPPING[:width], style="yellow")
    if not of.planned and not of.steps:
        return Text()
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(clock(of.seconds), style="dim")
    if of.planned:
        filled = min(_BAR * of.over // of.planned, _BAR)
        text.append(f" {'━' * filled}", style="green").append("┈" * (_BAR - filled), style="dim")
    for part, style in _parts(of):
        text.append(" " if text.plain.endswith(("━", "┈")) else " · ", style="dim").append(part, style=style)
    text.truncate(width, overflow="ellipsis")
    return text


def log_line(of: Standing) -> str:
    """The same for a log, whole."""
    if of.is_interrupted:
        return f"staleproof: {STOPPING}"
    return f"staleproof: {clock(of.seconds)}, {', '.join(part for part, _ in _parts(of))}"


def clock(seconds: float) -> str:
    """Minutes and seconds: `2:05`."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _parts(of: Standing) -> list[tuple[str, str]]:
    """Each with its style."""
    parts = [(f"{of.over} of {plural(of.planned, 'trial')}", "bold")] if of.planned else []
    if of.planned or of.findings:
        count = plural(of.findings, "finding") if of.findings else "no finding"
        parts.append((count, "bold red" if of.findings else "green"))
    if of.left is not None:
        parts.append((f"about {_rounded(of.left)} left", ""))
    if of.steps:
        parts.append((of.steps[0].words, "cyan"))
    return parts + ([(f"{len(of.steps) - 1} more at work", "dim")] if len(of.steps) > 1 else [])


def _rounded(seconds: float) -> str:
    """As exactly as an expectation is."""
    if seconds < 100:
        return f"{max(10, 10 * round(seconds / 10))} s"
    return f"{round(seconds / 60)} min"
