"""The page of a run: report.json, with the timelines of what was found."""

from collections.abc import Iterator, Mapping

from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS
from staleproof.checks.requirement import Requirement
from staleproof.checks.verdict import Outcome
from staleproof.core.plan.plan import Plan
from staleproof.core.wording import plural, some
from staleproof.report.coverage import missed
from staleproof.report.html import plan as planned
from staleproof.report.html.document import FindingPage, Page, Row, TrialRow
from staleproof.report.model import FindingReport, Report, TrialReport, Word, exercised, findings, outcome, overall, reason
from staleproof.report.terminal import sentence
from staleproof.report.timeline.document import Timeline

_CELLS = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS, Outcome.NOT_EXERCISED)
_MOST_NAMES = 5


def page_of_run(report: Report, plans: Mapping[str, Plan], timelines: Mapping[str, Timeline]) -> Page:
    """`plans` and `timelines`: those that there are, by the names of trials; a timeline has the finding's story first."""
    scenarios = tuple(sorted({trial.scenario for trial in report.trials}))
    joined = overall(report)
    verdict = _word(max(joined.values(), default=Outcome.NOT_EXERCISED))
    return Page(
        title=f"staleproof: {report.run_id}",
        verdict=verdict,
        sentence=sentence(report).removeprefix(f"{verdict}: "),
        subject=tuple(_subject(report)),
        reproduce=report.reproduce,
        findings=tuple(_finding(each, report, plans, timelines) for each in findings(report.trials)),
        scenarios=scenarios,
        rows=tuple(_row(requirement, joined[requirement.slug], report, scenarios) for requirement in REQUIREMENTS),
        not_tried=tuple(_not_tried(report)),
        trials=tuple(map(_trial, report.trials)),
        timelines=dict(timelines),
    )


def _subject(report: Report) -> Iterator[tuple[str, str]]:
    made = report.implementation
    named = {"project": f"{made.organization}/{made.project}".strip("/"), "version": made.version, "image": made.image_digest}
    yield from ((name, value) for name, value in named.items() if value)
    yield from report.environment.items()
    yield "run", report.run_id
    yield "date", report.date
    if report.seed:
        yield "seed", report.seed


def _finding(found: FindingReport, report: Report, plans: Mapping[str, Plan], timelines: Mapping[str, Timeline]) -> FindingPage:
    name, *_ = found.trials
    trial = next(each for each in report.trials if each.name == name)
    plan = plans.get(name)
    again, runs = trial.reproduced
    return FindingPage(
        severity=found.severity,
        headline=found.headline,
        cause=found.cause,
        requirements=found.requirements,
        trials=found.trials,
        reproduced=f"came back in {again} of {plural(runs, 'run')}" if runs else "",
        story=next((each.story for each in trial.verdicts if each.requirement == found.requirements[0]), ""),
        timeline=name if name in timelines else "",
        steps=planned.steps(plan) if plan is not None else (),
        faults=planned.faults(plan) if plan is not None else (),
        shrunk=found.shrunk,
        remedy=BY_SLUG[found.requirements[0]].remedy,
        replay=f"staleproof replay {found.crash or name}",
    )


def _row(requirement: Requirement, joined: Outcome, report: Report, scenarios: tuple[str, ...]) -> Row:
    return Row(
        requirement=requirement.slug,
        level=requirement.level,
        must=requirement.must,
        result=_word(joined),
        why=reason(requirement.slug, report.trials, joined) if joined is not Outcome.PASS else "",
        cells=tuple(_cell(requirement.slug, [each for each in report.trials if each.scenario == name]) for name in scenarios),
    )


def _cell(slug: str, trials: list[TrialReport]) -> tuple[int, int, int, int]:
    said = [outcome(verdict) for _, verdict in exercised(slug, trials)]
    failed, inconclusive, passed = (said.count(each) for each in _CELLS[:3])
    return failed, inconclusive, passed, len(trials) - len(said)


def _not_tried(report: Report) -> Iterator[str]:
    if report.partial:
        yield "the run was interrupted: only finished trials are here"
    for each in missed(report):
        yield f"{each.slug}: {each.why}; {each.option} may reach it"
    late = [plan for plan in report.left_out if not plan.why]
    if late:
        scenarios = some(list(dict.fromkeys(plan.scenario for plan in late)), _MOST_NAMES)
        yield f"{plural(len(late), 'plan')} left out for want of time ({scenarios})"
    yield from (f"{plan.scenario}: {plan.title}: {plan.why}" for plan in report.left_out if plan.why)
    for search in report.ended_searches:
        plans = plural(search.plans, "drawn plan")
        yield f"{plans} of {search.scenario}, because {search.requirement} was violated in {search.trial}"


def _trial(trial: TrialReport) -> TrialRow:
    worst = max(map(outcome, trial.verdicts), default=Outcome.NOT_EXERCISED)
    return TrialRow(name=trial.name, title=trial.title or trial.scenario, result=_word(worst), seconds=trial.seconds)


def _word(joined: Outcome) -> Word:
    return joined.word  # type: ignore[return-value]  # one of the four words
