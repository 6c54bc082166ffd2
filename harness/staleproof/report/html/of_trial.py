"""The page of one trial, judged."""

from collections.abc import Sequence

from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.facts.fault_outcomes import hostility
from staleproof.checks.story.narrative import Story
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.history.history import History
from staleproof.core.plan.plan import Plan
from staleproof.report.html import plan as planned
from staleproof.report.html.document import FindingPage, Page, Row, TrialRow
from staleproof.report.timeline.document import Timeline
from staleproof.report.timeline.trial import timeline

_CELLS = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS, Outcome.NOT_EXERCISED)


def page_of_trial(name: str, history: History, verdicts: Sequence[Verdict], stories: Sequence[Story]) -> Page:
    """`stories`: those of its findings, the worst first; each gets a timeline, on which its own witnesses are numbered."""
    plan = history.header.plan
    worst = max((verdict.outcome for verdict in verdicts), default=Outcome.NOT_EXERCISED)
    told = [timeline(history, [story]) for story in stories] or [timeline(history)]
    drawn: dict[str, Timeline] = {f"{name} {number}" if number > 1 else name: each for number, each in enumerate(told, 1)}
    return Page(
        title=f"{name}: {plan.title or plan.scenario}",
        verdict=worst.word,  # type: ignore[arg-type]  # one of the four words
        sentence=_sentence(plan),
        subject=tuple(history.header.environment.items()),
        findings=tuple(
            FindingPage(
                severity=story.severity,
                headline=story.headline,
                cause=story.cause,
                requirements=(story.requirement, *story.also),
                trials=(name,),
                story=story.text(),
                timeline=key,
                steps=planned.steps(plan),
                faults=planned.faults(plan),
                remedy=story.remedy,
                replay=f"staleproof replay {name}",
            )
            for story, key in zip(stories, drawn, strict=False)
        ),
        scenarios=(plan.scenario,),
        rows=tuple(map(_row, verdicts)),
        trials=(TrialRow(name=name, title=plan.title, result=worst.word, seconds=round(_seconds(history), 1)),),  # type: ignore[arg-type]
        timelines=drawn,
    )


def _sentence(plan: Plan) -> str:
    """What it is, and whether it counts."""
    hostile = hostility(plan)
    aside = f"; not about conformance: it was found under {hostile}" if hostile else ""
    return f"{plan.title or plan.scenario}{aside}"


def _row(verdict: Verdict) -> Row:
    requirement = BY_SLUG[verdict.requirement]
    failed, inconclusive, passed, idle = (int(verdict.outcome is each) for each in _CELLS)
    return Row(
        requirement=requirement.slug,
        level=requirement.level,
        must=requirement.must,
        result=verdict.outcome.word,  # type: ignore[arg-type]  # as above
        why=verdict.why,
        cells=((failed, inconclusive, passed, idle),),
    )


def _seconds(history: History) -> float:
    return history.entries[-1].at if history.entries else 0.0
