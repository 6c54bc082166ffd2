"""The timeline of a judged history: a pure function of it. What it draws is what the verdicts rest on."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from staleproof.checks.programs import seen_by
from staleproof.checks.story.narrative import Story
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Answered, Listed, StepBegan
from staleproof.core.history.history import History
from staleproof.core.history.history import Request as Asking
from staleproof.core.history.programs import programs_of
from staleproof.core.history.request import WRITES
from staleproof.core.plan.plan import MAIN
from staleproof.report.timeline.clock import at, end
from staleproof.report.timeline.document import Band, LifeSpan, Request, Step, Tale, Timeline, Witness
from staleproof.report.timeline.events import events
from staleproof.report.timeline.lanes import lanes, makers
from staleproof.report.timeline.metrics import metrics
from staleproof.report.timeline.replicas import replicas
from staleproof.report.timeline.systems import systems


def timeline(history: History, stories: Sequence[Story] = ()) -> Timeline:
    """Of one trial. `stories`: those of its findings, the worst first."""
    trial = seen_by(history, _shown(history, stories))
    plan = trial.plan
    return Timeline(
        title=plan.title or plan.scenario,
        scenario=plan.scenario,
        namespace=trial.namespace,
        seconds=at(trial, len(trial.entries) - 1) if trial.entries else 0.0,
        entries=len(trial.entries),
        replicas=tuple(replicas(trial)),
        lives=tuple(_lives(trial)),
        steps=tuple(_steps(trial)),
        bands=tuple(_bands(trial)),
        lanes=tuple(lanes(trial)),
        systems=tuple(systems(trial)),
        metrics=tuple(metrics(trial)),
        requests=tuple(_requests(trial)),
        events=tuple(events(trial)),
        tales=tuple(_tale(trial, story) for story in stories),
    )


def _shown(history: History, stories: Sequence[Story]) -> str:
    """Which of several programs it shows: the one that the worst finding is about, or else the first to which anything was to
    happen; empty if there is only one."""
    programs = programs_of(history)
    in_stories = [story.program for story in stories if story.program]
    planned = [fault.program or MAIN for fault in history.header.plan.faults if not fault.shared]
    return next(each for each in (*in_stories, *planned, *programs) if each in programs) if programs else ""


def _lives(trial: Trial) -> Iterator[LifeSpan]:
    """Numbered as `Showing.life` is. The first begins before the trial, unless nothing happened before the first start."""
    for number, (since, until) in enumerate(pairwise([0, *trial.starts, None])):
        if since is not None and since != until:
            yield LifeSpan(life=number, since=at(trial, since) if since else 0.0, until=end(trial, until))


def _steps(trial: Trial) -> Iterator[Step]:
    does = {entry.step: entry.does for _, entry in trial.every(StepBegan)}
    for step in trial.steps:
        began, ended = at(trial, step.began), end(trial, step.ended)
        yield Step(number=step.number, entry=step.began, since=began, until=ended, does=does[step.number])


def _bands(trial: Trial) -> Iterator[Band]:
    for number, span in trial.spans.items():
        fault = trial.plan.faults[number]
        yield Band(
            fault=number,
            entry=span.opened,
            since=at(trial, span.opened),
            until=at(trial, trial.closing(number)),
            name=fault.tag,
            lane=fault.resource,
            effects=tuple(sorted(fault.effects)),
            says=fault.phrase,
            fired=number in trial.fired,
        )


def _requests(trial: Trial) -> Iterator[Request]:
    made, places = makers(trial), replicas(trial)
    for request in trial.requests:
        entry, answer = request.asked, request.answer
        yield Request(
            number=entry.request,
            entry=request.index,
            at=at(trial, request.index),
            answer=request.answer_index,
            answered=end(trial, request.answer_index),
            verb=entry.verb,
            lane=entry.resource,
            namespace=entry.namespace,
            name=entry.name or (answer.name if isinstance(answer, Answered) else ""),
            subresource=entry.subresource,
            code=answer.code if isinstance(answer, Answered) else 0,
            reason=answer.reason if isinstance(answer, Answered) else "",
            rejected=_is_rejected(answer),
            lost=_is_lost(answer),
            past=_is_past(request),
            changed=tuple(made.get(entry.request, ())),
            replica=places[entry.client],
        )


def _is_rejected(answer: Answered | Listed | None) -> bool:
    return isinstance(answer, Answered) and answer.fault is not None and answer.executed is False


def _is_lost(answer: Answered | Listed | None) -> bool:
    if not isinstance(answer, Answered) or answer.outcome == "ok" or _is_rejected(answer):
        return False
    return answer.outcome == "unknown" or answer.executed is True


def _is_past(request: Asking) -> bool:
    is_read = request.asked.verb not in WRITES
    return is_read and request.answer is not None and request.answer.fault is not None and not _is_rejected(request.answer)


def _tale(trial: Trial, story: Story) -> Tale:
    return Tale(
        requirement=story.requirement,
        severity=story.severity,
        headline=story.headline,
        cause=story.cause,
        also=story.also,
        likewise=story.likewise,
        heading=story.heading,
        compared=story.compared,
        remedy=story.remedy,
        lines=tuple(
            Witness(line=number, at=round(since, 6), says=says, entries=entries)
            for number, ((since, says), entries) in enumerate(zip(story.lines, story.entries, strict=True), 1)
        ),
    )
