"""The page of one trial, judged."""

from collections.abc import Iterator, Sequence

from staleproof.checks.catalog import BY_SLUG, is_scored, worst
from staleproof.checks.facts.fault_outcomes import hostility
from staleproof.checks.story.narrative import Story
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.grouping import grouped
from staleproof.core.history.history import History
from staleproof.core.plan.plan import Plan
from staleproof.report.html import plan as planned
from staleproof.report.html.document import Attachment, Drawn, FindingPage, Page, Question, Row, TrialRow
from staleproof.report.html.draw import Timelines, draw
from staleproof.report.model import Word
from staleproof.report.model import replay as command

_CELLS = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS, Outcome.NOT_EXERCISED)


def page_of_trial(
    name: str,
    history: History,
    verdicts: Sequence[Verdict],
    stories: Sequence[Story],
    attachment: Attachment | None = None,
    replay: str = "",
) -> Page:
    """`stories`: those of its findings, the worst first; each gets a timeline, on which its own witnesses are numbered. `replay`:
    what it is called there, if not by its name."""
    plan = history.header.plan
    timelines: Timelines = {}
    drawn = [draw(f"{name} {n}" if n > 1 else name, history, [story], attachment, timelines) for n, story in enumerate(stories, 1)]
    shown = drawn[0] if drawn else draw(name, history, (), attachment, timelines)
    return Page(
        title=f"{name}: {plan.title or plan.scenario}",
        verdict=_worst(verdicts),
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
                drawn=each,
                steps=planned.steps(plan),
                faults=planned.faults(plan),
                remedy=story.remedy,
                replay=command(replay or name),
            )
            for story, each in zip(stories, drawn, strict=True)
        ),
        questions=tuple(_questions(name, verdicts, shown)),
        trial=shown,
        scenarios=(plan.scenario,),
        rows=tuple(map(_row, verdicts)),
        trials=(_trial(name, history, verdicts),),
        timelines=timelines,
    )


def _questions(name: str, verdicts: Sequence[Verdict], drawn: Drawn) -> Iterator[Question]:
    """What stayed inconclusive, by the reason."""
    found = grouped(
        (each.why, each.requirement) for each in verdicts if each.outcome is Outcome.INCONCLUSIVE and is_scored(each.requirement)
    )
    for why, slugs in found.items():
        yield Question(why=why, requirements=tuple(slugs), trials=(name,), drawn=drawn)


def _worst(verdicts: Sequence[Verdict]) -> Word:
    return _word(worst((verdict.requirement, verdict.outcome) for verdict in verdicts))


def _word(outcome: Outcome) -> Word:
    return outcome.word  # type: ignore[return-value]  # one of the four words


def _trial(name: str, history: History, verdicts: Sequence[Verdict]) -> TrialRow:
    plan = history.header.plan
    return TrialRow(
        name=name,
        title=plan.title,
        scenario=plan.scenario,
        result=_worst(verdicts),
        seconds=round(history.entries[-1].at if history.entries else 0.0, 1),
        verdicts={each.requirement: _word(each.outcome) for each in verdicts if each.outcome is not Outcome.NOT_EXERCISED},
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
        result=_word(verdict.outcome),
        scored=is_scored(requirement.slug),
        why=verdict.why,
        cells=((failed, inconclusive, passed, idle),),
    )
