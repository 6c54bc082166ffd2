"""A finding in plain words: a headline, a few lines about its witnesses, the remedy. Never a raw object."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from staleproof.checks.but_for import roles
from staleproof.checks.catalog import BY_SLUG, is_scored
from staleproof.checks.facts.fault_outcomes import hostility
from staleproof.checks.facts.wording import participle
from staleproof.checks.programs import seen_by
from staleproof.checks.story.outside import kind_outside
from staleproof.checks.story.phrases import Group, is_done, tell
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, Verdict, named, rank
from staleproof.core.grouping import grouped
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Called,
    Closed,
    Committed,
    Competed,
    Continued,
    Delivered,
    Drifted,
    Entry,
    Exited,
    ExternalState,
    Listed,
    Notified,
    Probed,
    Refused,
    Replied,
    Stalled,
    Started,
    Stopped,
    SystemTurned,
)
from staleproof.core.history.history import History, HistoryRole
from staleproof.core.history.request import WRITES
from staleproof.core.plan.plan import Plan
from staleproof.core.wording import some

_MOST_LIKEWISE = 5
_ASIDES = 8
"""So many things that happened meanwhile are in a story besides the witnesses."""


@dataclass(frozen=True, slots=True)
class Story:
    """`lines` are (seconds, sentence). `heading` is there when it proves nothing about conformance, and says why.
    `compared` says which references were looked at; empty when the finding needs none.

    `severity` and `cause` are those of the finding, as far as it was judged; `also` has the other requirements that the same cause
    violated in the trial, and `likewise` what else it was done to, as `pods/w-b`. `entries` has for each line the positions of what
    it is about. `program`: by the view of which of several programs it was found.
    """

    requirement: str
    headline: str
    lines: tuple[tuple[float, str], ...]
    remedy: str
    compared: str = ""
    heading: str = ""
    severity: str = ""
    cause: str = ""
    also: tuple[str, ...] = ()
    likewise: tuple[str, ...] = ()
    entries: tuple[tuple[int, ...], ...] = ()
    program: str = ""

    @property
    def summary(self) -> str:
        """What it does and what lies behind it, in one line; empty for a finding that was not judged."""
        more = f"; the same happened to {some(self.likewise, _MOST_LIKEWISE)}" if self.likewise else ""
        more += f"; it violates {', '.join(self.also)}, too" if self.also else ""
        return f"{self.severity}: {self.cause}{more}" if self.severity else ""

    def text(self) -> str:
        """All of it, line by line."""
        heading, summary = [self.heading] if self.heading else [], [f"  {self.summary}"] if self.summary else []
        body = [f"  {at:8.3f} s  {sentence}" for at, sentence in self.lines]
        body += [f"  compared with runs: {self.compared}"] if self.compared else []
        return "\n".join([*heading, f"{self.requirement}  {self.headline}", *summary, *body, f"  remedy: {self.remedy}"])


def stories(verdicts: Sequence[Verdict], history: History) -> list[Story]:
    """One story for each cause, of its worst finding; what is scored comes first, and then the worst."""
    ranked = []
    for group in grouped((finding.cause, finding) for verdict in verdicts for finding in verdict.findings).values():
        worst = min(group, key=_urgency)
        also = tuple(dict.fromkeys(each.requirement for each in group if each.requirement != worst.requirement))
        same = [each for each in group if each.requirement == worst.requirement and each.severity == worst.severity]
        story = replace(explain(worst, history), also=also, likewise=_likewise(worst, same, history))
        ranked.append((_urgency(worst), story))
    return [story for _, story in sorted(ranked, key=lambda each: each[0])]


def _likewise(first: Finding, others: Sequence[Finding], history: History) -> tuple[str, ...]:
    """What else was written, or deleted, in the same way: what the last write among the witnesses of each finding is about."""
    trial = seen_by(history, first.program)
    about = _written(trial, first)
    return tuple(dict.fromkeys(each for each in (_written(trial, other) for other in others) if each not in ("", about)))


def _written(trial: Trial, finding: Finding) -> str:
    """`pods/w-b`: the object that the last write among the witnesses names; empty if none does."""
    asked = [entry for index in finding.witnesses if isinstance(entry := trial.entries[index], Asked)]
    names = [f"{entry.resource.partition('.')[0]}/{entry.name}" for entry in asked if entry.verb in WRITES and entry.name]
    return names[-1] if names else ""


def _urgency(finding: Finding) -> tuple[bool, int]:
    return not is_scored(finding.requirement), rank(finding.severity)


def explain(finding: Finding, history: History) -> Story:
    """Tell a finding from its witnesses, and what was done to the controller between the first and the last of them.

    Neighbouring entries of one kind become one line.
    """
    trial = seen_by(history, finding.program)
    entries = sorted({*finding.witnesses, *_asides(trial, finding.witnesses)})
    groups = [Group(trial, finding, tuple(group)) for _, group in itertools.groupby(entries, key=lambda index: _kind(trial, index))]
    lines = [(group.positions, named(finding.program, sentence)) for group in groups if (sentence := tell(group))]
    requirement = BY_SLUG[finding.requirement]
    return Story(
        requirement.slug,
        finding.because,
        tuple((trial.at(positions[0]), sentence) for positions, sentence in lines),
        requirement.remedy,
        compared(roles(trial)) if requirement.needs_references else "",
        _heading(finding, trial.plan),
        severity=finding.severity,
        cause=finding.cause.text if finding.cause is not None else "",
        entries=tuple(tuple(positions) for positions, _ in lines),
        program=finding.program,
    )


_ROLES: Mapping[HistoryRole, str] = {
    "reference": "without faults",
    "paced": "as slow as the trial",
    "woken": "woken as often with nothing hidden",
    "final": "that applied only the last state",
    "slept": "of what it looked like while a fault kept something back",
    "ablated": "with the other faults only",
}


def compared(roles: Iterable[HistoryRole]) -> str:
    """Which runs a trial is compared with, by their roles: `2 without faults, 1 as slow as the trial`."""
    times = Counter(roles)
    return ", ".join(f"{times[role]} {words}" for role, words in _ROLES.items() if times[role])


def _heading(finding: Finding, plan: Plan) -> str:
    hostile = hostility(plan)
    if hostile:
        return f"Not about conformance: no API server does this. It was found under {hostile}:"
    return "" if is_scored(finding.requirement) else "Not scored: this requirement is provisional."


def _asides(trial: Trial, witnesses: Sequence[int]) -> list[int]:
    """What no rule counts and no story should leave out: what happened to its process, and what a fault did to its requests."""
    if not witnesses:
        return []
    between = range(witnesses[0], witnesses[-1])
    return [index for index in between if _is_aside(trial.entries[index])][-_ASIDES:]


def _is_aside(entry: Entry) -> bool:
    match entry:
        case Stopped() | Continued() | Exited() | Probed() | Competed() | Stalled() | SystemTurned():
            return True
        case Replied(effect=effect) | Notified(effect=effect):
            return effect is not None
        case Started(life=life):
            return life > 1
        case Refused(fault=fault) | Listed(fault=fault) | Answered(fault=fault):
            return fault is not None
    return False


def _kind(trial: Trial, index: int) -> tuple[object, ...]:
    """Neighbours of one kind have one sentence.

    Answers that a fault gave differ in kind from the API server's, and the controller's changes from those of other users.
    """
    entry = trial.entries[index]
    match entry:
        case Answered():
            request = trial.request_of.get(entry.request)
            return Answered, entry.fault is not None, request.asked.verb if request is not None else ""
        case Asked():
            return Asked, entry.verb, entry.resource, is_done(trial.request_of[entry.request])
        case Committed():
            commit = trial.commit_at.get(index)
            return Committed, participle(entry), commit is not None and commit.by is not None
        case Closed():
            return Closed, entry.how
        case Delivered():
            return Delivered, entry.type == "BOOKMARK"
        case Called() | Replied() | Drifted() | ExternalState() | SystemTurned():
            return type(entry), kind_outside(entry) or index
    return (type(entry),)
