"""The page of a run: report.json, with the timelines of what was found."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from staleproof.checks.catalog import BY_SLUG, REQUIREMENTS, is_scored, worst
from staleproof.checks.requirement import Requirement
from staleproof.checks.verdict import Outcome
from staleproof.core.grouping import grouped
from staleproof.core.plan.plan import Plan
from staleproof.core.wording import plural, some
from staleproof.report.coverage import missed
from staleproof.report.html import plan as planned
from staleproof.report.html.document import Drawn, FindingPage, Page, Question, Row, TrialRow, Writes
from staleproof.report.model import FindingReport, Report, TrialReport, Word, exercised, findings, outcome, overall, reason, replay
from staleproof.report.terminal import lacking, sentence
from staleproof.report.timeline.document import Timeline

_CELLS = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS, Outcome.NOT_EXERCISED)
_MOST_NAMES = 5
_CONVERGED = ("converges-after-catch-up", "settles")


Key = tuple[str, str]


def key_of(item: FindingReport | Question) -> Key:
    """What is drawn for it: a trial, and what is shown of it."""
    what = item.why if isinstance(item, Question) else item.cause or item.requirements[0]
    return item.trials[0], what


@dataclass(frozen=True)
class Kept:
    """What the folder of a run still has: by the names of trials `plans` and how much was written (`writes`); what is `drawn`, by
    `key_of` findings and questions; and the `timelines` by their names in the page. That of a finding has its story first."""

    plans: Mapping[str, Plan] = field(default_factory=dict)
    drawn: Mapping[Key, Drawn] = field(default_factory=dict)
    timelines: Mapping[str, Timeline] = field(default_factory=dict)
    writes: Mapping[str, Writes] = field(default_factory=dict)


def page_of_run(report: Report, kept: Kept) -> Page:
    """The whole of it."""
    scenarios = tuple(sorted({trial.scenario for trial in report.trials}))
    joined = overall(report)
    decided = worst(joined.items())
    is_cut = decided in (Outcome.PASS, Outcome.NOT_EXERCISED) and (report.partial or report.unlearnt)
    verdict = _word(Outcome.INCONCLUSIVE if is_cut or (decided is Outcome.PASS and lacking(report)) else decided)
    return Page(
        title=f"staleproof: {report.run_id}",
        verdict=verdict,
        sentence=sentence(report).removeprefix(f"{verdict}: "),
        subject=tuple(_subject(report)),
        reproduce=report.reproduce,
        findings=tuple(_finding(each, report, kept) for each in findings(report.trials)),
        questions=tuple(msgspec.structs.replace(each, drawn=kept.drawn.get(key_of(each))) for each in questions(report)),
        aside=tuple(_aside(report)),
        scenarios=scenarios,
        rows=tuple(_row(requirement, joined[requirement.slug], report, scenarios) for requirement in REQUIREMENTS),
        not_tried=tuple(_not_tried(report)),
        trials=tuple(_trial(trial, kept.writes.get(trial.name)) for trial in report.trials),
        timelines=dict(kept.timelines),
    )


def questions(report: Report) -> list[Question]:
    """What stayed inconclusive, by the reason; those first that concern most requirements. Trials with a finding are
    described there."""
    found = grouped(
        (verdict.why, (verdict.requirement, trial.name))
        for trial in report.trials
        for verdict in trial.verdicts
        if verdict.result == "inconclusive" and is_scored(verdict.requirement) and not trial.hostile
    )
    open_questions = [
        Question(
            why=why,
            requirements=tuple(dict.fromkeys(requirement for requirement, _ in pairs)),
            trials=tuple(dict.fromkeys(name for _, name in pairs)),
        )
        for why, pairs in found.items()
    ]
    return sorted(open_questions, key=lambda each: (-len(each.requirements), -len(each.trials)))


def _aside(report: Report) -> Iterator[str]:
    """Findings that are not scored, and why, a line each."""
    found = grouped(
        ((verdict.requirement, trial.hostile), (trial.name, verdict.headline))
        for trial in report.trials
        for verdict in trial.verdicts
        if verdict.result == "failed" and (trial.hostile or not is_scored(verdict.requirement))
    )
    for (slug, hostile), failed in found.items():
        why = f"under faults that no API server causes ({hostile})" if hostile else "provisional"
        yield f"{slug}, {why}: {failed[0][1]} ({plural(len(failed), 'trial')}: {some([name for name, _ in failed], _MOST_NAMES)})"


def _subject(report: Report) -> Iterator[tuple[str, str]]:
    made = report.implementation
    named = {"project": f"{made.organization}/{made.project}".strip("/"), "version": made.version, "image": made.image_digest}
    yield from ((name, value) for name, value in named.items() if value)
    yield from sorted(report.environment.items(), key=lambda each: each[0] != "controller")
    yield "run", report.run_id
    yield "date", report.date
    if report.seed:
        yield "seed", report.seed


def _finding(found: FindingReport, report: Report, kept: Kept) -> FindingPage:
    name, *_ = found.trials
    trial = next(each for each in report.trials if each.name == name)
    plan = kept.plans.get(name)
    again, runs = trial.reproduced
    return FindingPage(
        severity=found.severity,
        headline=found.headline,
        cause=found.cause,
        requirements=found.requirements,
        trials=found.trials,
        reproduced=f"came back in {again} of {plural(runs, 'run')}" if runs else "",
        story=next((each.story for each in trial.verdicts if each.requirement == found.requirements[0]), ""),
        drawn=kept.drawn.get(key_of(found)),
        steps=planned.steps(plan) if plan is not None else (),
        faults=planned.faults(plan) if plan is not None else (),
        shrunk=found.shrunk,
        remedy=BY_SLUG[found.requirements[0]].remedy if found.requirements[0] in BY_SLUG else "",
        replay=replay(found.crash or name, report.artefacts),
    )


def _row(requirement: Requirement, joined: Outcome, report: Report, scenarios: tuple[str, ...]) -> Row:
    return Row(
        requirement=requirement.slug,
        level=requirement.level,
        must=requirement.must,
        result=_word(joined),
        scored=is_scored(requirement.slug),
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
        yield f"{plural(len(late), 'plan')} not run for lack of time ({scenarios})"
    yield from (f"{plan.scenario}: {plan.title}: {plan.why}" for plan in report.left_out if plan.why)
    for search in report.ended_searches:
        plans = plural(search.plans, "drawn plan")
        yield f"{plans} of {search.scenario}, because {search.requirement} was violated in {search.trial}"


def _trial(trial: TrialReport, writes: Writes | None) -> TrialRow:
    counted = ((each.requirement, outcome(each)) for each in trial.verdicts if not (trial.hostile and each.result == "failed"))
    said = {verdict.requirement: verdict.result for verdict in trial.verdicts if verdict.exercised}
    late = any(said.get(slug) in ("failed", "inconclusive") for slug in _CONVERGED)
    return TrialRow(
        name=trial.name,
        title=trial.title or trial.scenario,
        scenario=trial.scenario,
        result=_word(worst(counted)),
        seconds=trial.seconds,
        verdicts=said,
        faults=f"{trial.faults_fired} of {trial.faults_planned}",
        spent={"references": trial.references_seconds} | msgspec.structs.asdict(trial.spent),
        recovered=None if late else trial.spent.settle,
        writes=writes,
    )


def _word(joined: Outcome) -> Word:
    return joined.word  # type: ignore[return-value]  # one of the four words
