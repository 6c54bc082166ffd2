"""Markdown for the step summary of a CI job: what to think of the run, its findings, what was not passed.

Texts of others stand in code, where Markdown and HTML mean nothing. A summary that is too long is not shown at all, so the last
stories give way, and lists are cut.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS, is_scored
from staleproof.checks.verdict import Outcome
from staleproof.core.wording import plural, some
from staleproof.report.coverage import missed
from staleproof.report.formats.reported_run import ReportedRun
from staleproof.report.markdown import block, code, in_cell
from staleproof.report.model import FindingReport, overall, reason, tried
from staleproof.report.terminal import sentence

MOST_BYTES = 900_000
"""GitHub drops a summary of more than 1 MiB; other texts may come before or after ours."""
_MARKS = {
    Outcome.FAIL: ("❌", "failed"),
    Outcome.INCONCLUSIVE: ("❔", "inconclusive"),
    Outcome.PASS: ("✅", "passed"),
    Outcome.NOT_EXERCISED: ("💤", "not exercised"),
}
_UNSCORED = ("🔶", "failed and not scored")
_IN_A_CELL, _MOST_NAMES, _MOST_UNSCORED, _MOST_LINES, _MOST_OF_A_COMMAND = 300, 5, 10, 100, 10_000
_FOR_THE_LAST_LINE = 200


def summary(run: ReportedRun) -> bytes:
    """The file."""
    parts = [*_head(run), *_requirements(run), *_untried(run), *_unscored(run), *_end(run)]
    data = "".join(f"{part}\n" for part in parts).encode()
    found, size = run.findings, len(data)
    stories: list[str] = []
    for number, finding in enumerate(found, 1):
        story = f"{_story(finding, run)}\n"
        size += len(story.encode())
        if size > MOST_BYTES - _FOR_THE_LAST_LINE:
            left = plural(len(found) - number + 1, "finding")
            stories.append(f"_The stories of {left} are left out here, for their length; report.json has them._\n")
            break
        stories.append(story)
    return data + "".join(stories).encode()


def _head(run: ReportedRun) -> Iterator[str]:
    yield "### staleproof"
    yield ""
    yield f"**{code(sentence(run.report))}**"
    yield ""
    if not run.findings:
        return
    yield "| | what it does | requirements | what was found | again |"
    yield "|---|---|---|---|---|"
    for finding in run.findings[:_MOST_LINES]:
        mark = "known" if run.is_known(finding) else "**new**"
        cells = (
            finding.severity or "failed",
            ", ".join(map(_in_cell, finding.requirements)),
            f"in {plural(len(finding.trials), 'plan')}: {_in_cell(finding.cause or finding.headline)}",
            _in_cell(run.again(finding)),
        )
        yield f"| {mark} | {' | '.join(cells)} |"
    yield ""
    yield from _more(run.findings)


def _requirements(run: ReportedRun) -> Iterator[str]:
    report, joined = run.report, overall(run.report)
    marks = {slug: _mark(slug, outcome) for slug, outcome in joined.items()}
    counts = Counter(word for _, word in marks.values())
    said = ", ".join(f"{counts[word]} {word}" for _, word in (*_MARKS.values(), _UNSCORED) if counts[word])
    yield f"<details><summary>{plural(len(REQUIREMENTS), 'requirement')}: {said}</summary>"
    yield ""
    yield "| | requirement | level | tried | why |"
    yield "|---|---|---|---|---|"
    for slug, outcome in joined.items():
        why = reason(slug, report.trials, outcome) if outcome is not Outcome.PASS else ""
        aimed = tried(slug, report)
        because = f"because {_in_cell(why)}" if why else ""
        cells = (_in_cell(slug), BY_SLUG[slug].level, f"{aimed.exercised} of {aimed.plans}", because)
        yield f"| {marks[slug][0]} | {' | '.join(cells)} |"
    yield ""
    yield "</details>"
    yield ""


def _mark(slug: str, outcome: Outcome) -> tuple[str, str]:
    return _UNSCORED if outcome is Outcome.FAIL and not is_scored(slug) else _MARKS[outcome]


def _untried(run: ReportedRun) -> Iterator[str]:
    report = run.report
    lines = [
        f"{_code(each.slug)} was not put to the test: {_code(each.why)}; {_code(each.option)} may do it" for each in missed(report)
    ]
    if report.partial:
        lines.append("the run was interrupted, and only what was finished is reported")
    if late := [plan for plan in report.left_out if not plan.why]:
        names = list(dict.fromkeys(plan.scenario for plan in late))
        lines.append(f"{plural(len(late), 'plan')} not run for lack of time, of {_code(some(names, _MOST_NAMES))}")
    lines += [f"left out: {_code(plan.title or plan.scenario)}, because {_code(plan.why)}" for plan in report.left_out if plan.why]
    if lines:
        yield "Not tried:"
        yield ""
        yield from (f"- {line}" for line in lines[:_MOST_LINES])
        yield ""
        yield from _more(lines)


def _unscored(run: ReportedRun) -> Iterator[str]:
    found = list(run.unscored())
    if found:
        yield "Found, and not scored:"
        yield ""
        for trial, verdict in found[:_MOST_UNSCORED]:
            under = f" under {_code(trial.hostile)}, which no API server does" if trial.hostile else ""
            yield f"- {_code(verdict.requirement)} in {_code(trial.name)}{under}: {_code(verdict.headline)}"
        if len(found) > _MOST_UNSCORED:
            yield f"- and {len(found) - _MOST_UNSCORED} more"
        yield ""


def _end(run: ReportedRun) -> Iterator[str]:
    report = run.report
    where = {name: report.environment.get(name, "") for name in ("kubernetes", "staleproof", "controller")}
    yield ", ".join(f"{name} {_code(value)}" for name, value in where.items() if value) or "where it ran is not known"
    yield ""
    yield "The run again:"
    yield ""
    is_short = len(report.reproduce) <= _MOST_OF_A_COMMAND
    yield block(report.reproduce if is_short else "report.json has the command, which is too long to be shown here")
    yield ""


def _more(every: Sequence[object]) -> Iterator[str]:
    """How many of a list are not in it."""
    if len(every) > _MOST_LINES:
        yield f"And {len(every) - _MOST_LINES} more; report.json has them."
        yield ""


def _story(finding: FindingReport, run: ReportedRun) -> str:
    """One finding, in a part that opens on demand."""
    slug = finding.requirements[0]
    known = BY_SLUG.get(slug)
    lines = [
        f"<details><summary>{finding.severity or 'failed'}: {slug if known else 'a requirement of another version'}</summary>",
        "",
        *([known.must, ""] if known else []),
        block(run.story(finding) or finding.headline),
        "",
        *([f"Remedy: {known.remedy}", ""] if known else []),
        f"Again: {_code(run.again(finding))}",
        "",
        "</details>",
        "",
    ]
    return "\n".join(lines)


def _code(text: str) -> str:
    return code(text, _IN_A_CELL)


def _in_cell(text: str) -> str:
    return in_cell(text, _IN_A_CELL)
