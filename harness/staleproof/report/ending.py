"""The end of a run on one screen: what was found, the worst first, and what that was worth. `report.terminal` has all of it.

`summed_up` decides what is said, `screen` how much of that there is room for, and how it looks.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from staleproof.checks.catalog import BY_SLUG, is_scored
from staleproof.checks.story.phrases import FROM_HERE
from staleproof.checks.verdict import Outcome
from staleproof.core.grouping import grouped
from staleproof.core.history.request import not_allowed
from staleproof.core.operator.companion import WITHOUT
from staleproof.core.wording import plural, some
from staleproof.report.coverage import SUSPECTED, missed, more_minutes, usual_error
from staleproof.report.model import FindingReport, Report, findings, overall, reason, replay, tried, verdicts_on
from staleproof.report.terminal import STYLES, time_split

MOST_LINES = 36
"""So many lines the end has at most; with what pytest says besides it fits 40."""
_MOST_IN_FULL, _MOST_NAMES = 3, 3
_NARROWEST, _OF_A_FILE = 80, 160
_MARKS = {Outcome.PASS: "✓", Outcome.FAIL: "✗", Outcome.INCONCLUSIVE: "?", Outcome.NOT_EXERCISED: "–"}  # noqa: RUF001  # a dash on purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingSummary:
    """A finding, in words.

    Attributes:
        what: what it does to people, and what lies behind it.
        about: the requirements that it violates, and how many plans show it.
        happened: one sentence.
        witnesses: the first thing that was done to the controller, and the last that it did; fewer if the story has no more.
        remedy: what would help; empty for a requirement of another version.
        again: the command that shows it again; empty: there is none.
    """

    what: str
    about: str
    happened: str
    witnesses: tuple[str, ...] = ()
    remedy: str = ""
    again: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Requirements with one outcome, and one reason for it.

    `again`: the command that may settle what is inconclusive; empty: none is known.
    """

    outcome: Outcome
    slugs: tuple[str, ...]
    why: str
    again: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What the end of a run says.

    Attributes:
        title: how much was run, and against what.
        findings: the worst first.
        rows: what failed or is inconclusive.
        passed, untried: the requirements that passed, and those that nothing put to the test.
        option: what would reach most of the untried; empty: nothing that is known.
        doubts: what is inconclusive in some plans, and failed in others.
        apart: what is not scored.
        warnings: what keeps the run from telling more, and can be mended.
        left_out: plans that were not run, in one line each.
        time: where the time went.
    """

    title: str
    findings: tuple[FindingSummary, ...] = ()
    rows: tuple[Row, ...] = ()
    passed: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()
    option: str = ""
    doubts: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    time: str = ""


@dataclass(frozen=True, slots=True)
class _Room:
    """How many findings may take two lines for each of their sentences; how many other findings, names and other things have lines.
    `is_close`: the remedy and the command share a line; `is_listed`: requirements have no line each."""

    full: int = 0
    brief: int = 9
    names: int = 9
    things: int = 4
    is_close: bool = False
    is_listed: bool = False


_ROOMS = (
    _Room(full=3, things=6),
    _Room(full=2, things=6),
    _Room(full=1),
    _Room(),
    _Room(is_close=True),
    _Room(names=4, things=2, is_close=True, is_listed=True),
    _Room(brief=4, names=2, things=1, is_close=True, is_listed=True),
)
"""From much to little. The last has room for anything."""


def summed_up(report: Report) -> Ending:
    """What the end of this run says."""
    outcomes, found = overall(report), findings(report.trials)
    by = {outcome: tuple(slug for slug, joined in outcomes.items() if joined is outcome) for outcome in Outcome}
    scored = tuple(slug for slug in by[Outcome.FAIL] if is_scored(slug))
    return Ending(
        title=f"{plural(len(report.trials), 'trial')} · Kubernetes {report.environment.get('kubernetes', '?')}",
        findings=tuple(_finding_summary(each, report) for each in found),
        rows=(*_failed(scored, found, report), *_unknown(by[Outcome.INCONCLUSIVE], report)),
        passed=by[Outcome.PASS],
        untried=by[Outcome.NOT_EXERCISED],
        option=_option(report) if by[Outcome.NOT_EXERCISED] else "",
        doubts=tuple(_doubts(report)),
        apart=tuple(_apart(report)),
        warnings=tuple(_warnings(report)),
        left_out=tuple(_left_out(report)),
        time=time_split(report),
    )


def width_of(width: int, *, is_terminal: bool, environ: Mapping[str, str] = os.environ) -> int:
    """How wide the lines may be, where one is said to be that wide: a file has no width, whatever stands for it, unless the user
    says one (`COLUMNS`)."""
    return max(width, _NARROWEST if is_terminal or environ.get("COLUMNS") else _OF_A_FILE)


def screen(ending: Ending, width: int, *, more: str) -> list[Text]:
    """The lines, none wider than this, and `MOST_LINES` at most if the width is 80 or more. `more`: where all of it stands."""
    fitting = (list(_lines(ending, width, room, more)) for room in _ROOMS)
    made: list[Text] = []
    for made in fitting:
        if len(made) <= MOST_LINES:
            break
    return made


def _lines(ending: Ending, width: int, room: _Room, more: str) -> Iterator[Text]:
    yield Text(f"staleproof · {ending.title}", style="bold")
    yield from _of_findings(ending.findings, width, room, more)
    yield from _listed(ending.rows, width, room) if room.is_listed else _in_rows(ending.rows, width, 3 if room.full else 1)
    yield from _names(Outcome.PASS, "passed", ending.passed, width, room)
    yield from _names(Outcome.NOT_EXERCISED, "not exercised", ending.untried, width, room, ending.option)
    for texts in (ending.apart, ending.warnings, ending.doubts, ending.left_out):
        yield from _some(texts, "yellow", width, room, more)
    yield from _wrapped(Text(ending.time, style="dim"), width, 1 if room.is_close else 2, indent=0)


def _of_findings(found: Sequence[FindingSummary], width: int, room: _Room, more: str) -> Iterator[Text]:
    for number, each in enumerate(found[:_MOST_IN_FULL], 1):
        yield _cut(Text.assemble((f"{number} {each.what}", "bold red"), f"  {each.about}"), width)
        most = 2 if number <= room.full else 1
        yield from _wrapped(Text(each.happened, style="bold"), width, most)
        for witness in each.witnesses:
            yield from _wrapped(Text(witness), width, most)
        last = [f"again: {each.again}" * bool(each.again), f"remedy: {each.remedy}" * bool(each.remedy)]
        for text in [" · ".join(filter(None, last))] if room.is_close else reversed(last):
            yield from _wrapped(Text(text, style="cyan"), width, most) if text else ()
    rest = found[_MOST_IN_FULL:]
    for number, each in enumerate(rest[: room.brief], 1 + _MOST_IN_FULL):
        again = Text(f"  {each.again}" if each.again else "")
        yield _cut(Text.assemble((f"{number} {each.what}", "red"), f"  {each.about}"), width - again.cell_len) + again
    if len(rest) > room.brief:
        yield _cut(Text(f"and {len(rest) - room.brief} more: see {more}", style="red"), width)


def _in_rows(rows: Iterable[Row], width: int, most: int) -> Iterator[Text]:
    """One below the other, each in so many lines at most."""
    for row in rows:
        heading = f"{_MARKS[row.outcome]} {', '.join(row.slugs)}"
        text = Text.assemble((heading, STYLES[row.outcome]), f"  {row.outcome.word}: {row.why}")
        yield from _wrapped(text, width, most, indent=0)
        if row.again and most > 1:
            yield _cut(Text(f"    again: {row.again}", style="cyan"), width)


def _listed(rows: Iterable[Row], width: int, room: _Room) -> Iterator[Text]:
    """A list for each outcome, where there is no room for lines."""
    for outcome, slugs in grouped((row.outcome, row.slugs) for row in rows).items():
        yield from _names(outcome, outcome.word, [slug for each in slugs for slug in each], width, room)


def _names(outcome: Outcome, word: str, slugs: Sequence[str], width: int, room: _Room, option: str = "") -> Iterator[Text]:
    if not slugs:
        return
    text = Text.assemble((f"{_MARKS[outcome]} {word} ({len(slugs)}): ", STYLES[outcome]), ", ".join(slugs))
    yield from _wrapped(text, width, room.names, indent=0)
    if option:
        yield _cut(Text(f"  {option}", style="dim"), width)


def _some(texts: Sequence[str], style: str, width: int, room: _Room, more: str) -> Iterator[Text]:
    """As many as there is room for, and how many there are besides."""
    most = room.things
    shown = texts if len(texts) <= most else texts[: most - 1]
    for text in shown:
        yield from _wrapped(Text(text, style=style), width, 2 if room.full else 1, indent=0)
    if left := texts[len(shown) :]:
        first = f"{left[0]} (and {len(left) - 1} more: {more})" if not shown and len(left) > 1 else ""
        yield _cut(Text(first or f"and {len(left)} more: see {more}", style=style), width)


def _wrapped(text: Text, width: int, most: int, *, indent: int = 4) -> Iterator[Text]:
    """In so many lines at most, the others below the first one."""
    lines = _flat(text).wrap(Console(width=width), width - max(indent, 2))
    for number, line in enumerate(lines[:most]):
        line.rstrip()
        is_cut = number == most - 1 and len(lines) > most
        shown = Text.assemble(" " * (indent if number == 0 or indent else 2), line, "…" if is_cut else "")
        yield _cut(shown, width)


def _cut(text: Text, width: int) -> Text:
    """In one line: what does not fit is left out, and that shows."""
    made = _flat(text)
    made.truncate(width, overflow="ellipsis")
    return made


def _flat(text: Text) -> Text:
    """What has several lines in one."""
    lines = text.split("\n")
    return text if len(lines) == 1 else Text(" ").join(line[len(line.plain) - len(line.plain.lstrip()) :] for line in lines)


def _finding_summary(finding: FindingReport, report: Report) -> FindingSummary:
    worst = finding.requirements[0]
    moments = next(
        (
            verdict.moments
            for trial, verdict in verdicts_on(worst, report.trials)
            if trial.name == finding.trials[0] and verdict.story
        ),
        (),
    )
    count = plural(len(finding.trials), "plan")
    return FindingSummary(
        what=f"{finding.severity or 'failed'}: {finding.cause or worst}",
        about=f"({', '.join(finding.requirements)}; {count}{'; ' + finding.shrunk if finding.shrunk else ''})",
        happened=finding.headline,
        witnesses=tuple(dict.fromkeys((*_first(moments), *moments[-1:]))),
        remedy=BY_SLUG[worst].remedy if worst in BY_SLUG else "",
        again=replay(finding.crash, report.artefacts) if finding.crash else "",
    )


def _first(moments: Sequence[str]) -> Sequence[str]:
    """The one with which a fault began, wherever it stands; or else the first."""
    return [next((each for each in moments if FROM_HERE in each), moments[0])] if moments else []


def _failed(slugs: Iterable[str], found: Sequence[FindingReport], report: Report) -> Iterator[Row]:
    """What failed, with the numbers of its findings, which have the reasons."""
    for slug in slugs:
        numbers = [str(number) for number, each in enumerate(found, 1) if slug in each.requirements]
        plans = sum(verdict.result == "failed" for _, verdict in verdicts_on(slug, report.trials))
        tries = sum(verdict.exercised for _, verdict in verdicts_on(slug, report.trials))
        named = f" (finding{'' if len(numbers) == 1 else 's'} {', '.join(numbers)})" if numbers else ""
        yield Row(outcome=Outcome.FAIL, slugs=(slug,), why=f"in {plans} of {plural(tries, 'plan')}{named}")


def _unknown(slugs: Iterable[str], report: Report) -> Iterator[Row]:
    """What is inconclusive, by the reason."""
    by_reason = grouped((reason(slug, report.trials, Outcome.INCONCLUSIVE), slug) for slug in slugs)
    for why, of in by_reason.items():
        trials = [trial for slug in of for trial, verdict in verdicts_on(slug, report.trials) if verdict.why == why]
        again = next((replay(trial.name, report.artefacts) for trial in trials if trial.unconfirmed), "")
        yield Row(outcome=Outcome.INCONCLUSIVE, slugs=tuple(of), why=why or "the trials do not say why", again=again)


def _option(report: Report) -> str:
    """What would reach most of what nothing put to the test."""
    if report.unlearnt:
        return f"the time was over while the controller was watched without faults: {more_minutes(report)} would reach most of them"
    if found := missed(report):
        option, _ = Counter(each.option for each in found).most_common(1)[0]
        needed = some([each.slug for each in found], _MOST_NAMES)
        return f"{option} would reach most of what a run has to exercise ({needed})"
    if any(not plan.why for plan in report.left_out) and report.minutes is not None:
        return f"{more_minutes(report)} would reach most of them"
    aimed = sum(tried(slug, report).plans > 0 for slug, joined in overall(report).items() if joined is Outcome.NOT_EXERCISED)
    if report.partial:
        return ""  # more of the same run would tell
    if aimed:
        return f"--staleproof-max-examples N may reach the {aimed} that plans aimed at in vain"
    return "no plan of this run was about them"


def _apart(report: Report) -> Iterator[str]:
    """What is not scored, by the reason for that."""
    provisional = [
        verdict.requirement
        for trial in report.trials
        for verdict in trial.verdicts
        if not trial.hostile and verdict.result == "failed" and not is_scored(verdict.requirement)
    ]
    if provisional:
        counts = ", ".join(f"{slug} in {plural(count, 'plan')}" for slug, count in Counter(provisional).most_common())
        yield f"not scored, because the requirement is provisional: {counts}"
    hostile = [trial.name for trial in report.trials if trial.hostile and any(verdict.story for verdict in trial.verdicts)]
    if hostile:
        yield f"not scored, because no API server does this: findings in {some(hostile, _MOST_NAMES)}"
    for name, text in report.environment.items():
        if name.startswith(SUSPECTED):
            yield f"{name}: {text}"
    if kept := report.environment.get("more than asked for"):
        yield f"not scored, because there was no fault: it kept {kept}"


def _warnings(report: Report) -> Iterator[str]:
    said = report.environment
    for name, heading in (("left out", "samples left out"), ("mutations", "mutations without effect"), (WITHOUT, WITHOUT)):
        if name in said:
            yield f"{heading}: {said[name]}"
    if masked := said.get("placeholders"):
        yield f"{masked}: the payload is not written down; give it again with --staleproof-before (or --before)"
    yield from filter(None, [usual_error(report)])
    yield from not_allowed(report.refused)


def _doubts(report: Report) -> Iterator[str]:
    """Which plans leave open what others have shown to fail, by requirement and reason."""
    outcomes = overall(report)
    doubts = (
        ((verdict.requirement, verdict.why), trial.name)
        for trial in report.trials
        for verdict in trial.verdicts
        if verdict.result == "inconclusive" and not trial.hostile and outcomes.get(verdict.requirement) is Outcome.FAIL
    )
    for (slug, why), names in grouped(each for each in doubts if is_scored(each[0][0])).items():
        yield f"inconclusive in {some(names, _MOST_NAMES)}: {slug}: {why}"


def _left_out(report: Report) -> Iterator[str]:
    for why, plans in grouped((plan.why, plan) for plan in report.left_out).items():
        yield f"{plural(len(plans), 'plan')} left out: {why or 'there was no time'}"
    if ended := sum(each.plans for each in report.ended_searches):
        yield f"{plural(ended, 'drawn plan')} not run, because the search had found something new"
