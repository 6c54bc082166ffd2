"""What a person reads at the end of a run: one table, one sentence."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.verdict import Outcome
from staleproof.report.model import Report, RequirementVerdict, outcome, overall, verdicts_on

_STYLES = {Outcome.PASS: "green", Outcome.FAIL: "bold red", Outcome.INCONCLUSIVE: "yellow", Outcome.NOT_EXERCISED: "dim"}
_WORDS = {
    Outcome.PASS: "passed",
    Outcome.FAIL: "FAILED",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.NOT_EXERCISED: "not exercised",
}


def table(report: Report) -> Group:
    """Requirement, result, trials that exercised it, faults fired of planned; below, why what did not pass did not."""
    title = (
        f"staleproof · {len(report.trials)} trial{_s(len(report.trials))} · Kubernetes {report.environment.get('kubernetes', '?')}"
    )
    made = Table(title=title, title_justify="left")
    for heading in ("requirement", "level", "result", "trials", "faults fired"):
        made.add_column(heading, no_wrap=True)
    notes = []
    for slug, joined in overall(report).items():
        every = verdicts_on(slug, report.trials)
        counted = [(trial, verdict) for trial, verdict in every if outcome(verdict) is not Outcome.NOT_EXERCISED]
        planned, fired = sum(t.faults_planned for t, _ in counted), sum(t.faults_fired for t, _ in counted)
        result = Text(_WORDS[joined], style=_STYLES[joined])
        made.add_row(slug, BY_SLUG[slug].level, result, str(len(counted)), f"{fired} of {planned}")
        why = next((_why(v) for _, v in every if outcome(v) is joined and (v.why or v.story)), "")
        if joined is not Outcome.PASS and why:
            notes.append(Text.assemble((slug, _STYLES[joined]), f": {why}"))
    return Group(made, *notes)


def _why(verdict: RequirementVerdict) -> str:
    return verdict.why or verdict.story.splitlines()[0].removeprefix(verdict.requirement).strip()


def sentence(report: Report) -> str:
    """The verdict in words: the last line of a run."""
    outcomes = overall(report).values()
    failed = [slug for slug, joined in overall(report).items() if joined is Outcome.FAIL]
    unknown = [slug for slug, joined in overall(report).items() if joined is Outcome.INCONCLUSIVE]
    idle = sum(joined is Outcome.NOT_EXERCISED for joined in outcomes)
    passed = sum(joined is Outcome.PASS for joined in outcomes)
    parts = []
    if failed:
        parts.append(f"{len(failed)} requirement{_s(len(failed))} violated: {', '.join(failed)}")
    if unknown:
        parts.append(f"{len(unknown)} inconclusive: {', '.join(unknown)}")
    parts.append(f"{passed} passed")
    if idle:
        parts.append(f"{idle} not exercised")
    return "; ".join(parts) + ("; the run was interrupted, this is what was finished" if report.partial else "")


def _s(count: int) -> str:
    return "" if count == 1 else "s"
