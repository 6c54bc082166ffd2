"""isolates-objects: keep reconciling other objects while one waits for its own writes.

Put to the test: a new primary was shown to the controller while it had not been shown its own creates or deletes for another one. A
finding is that it did nothing for the new one for longer than in any fault-free run (ten times over, and 5 s at least), as long as
those writes were hidden, and no longer: what comes after the release is another matter. So the hold has to outlast that time.

Not judged: a new primary that no reference did anything for; a time in which requests of the controller were rejected, kept waiting
or lost, or its process was stopped, because then it had other reasons to wait.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from staleproof.checks.facts.attribution import Effect, effects, root_of
from staleproof.checks.facts.pending_events import Unshown
from staleproof.checks.story.phrases import listing, short_name
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.core.entry import Answered, Committed, Competed, Entry, Refused, Settled, Stalled, Started, Stopped

SLUG = "isolates-objects"
BOUND_SECONDS, BOUND_FACTOR = 5.0, 10.0


@dataclass(frozen=True, slots=True)
class _Wait:
    """One primary waiting for its own writes while another was shown; `hidden` are commits, `until` is where they were shown."""

    name: str
    effect: Effect
    shown: int
    hidden: tuple[int, ...]
    until: int


def check(evidence: Evidence) -> Verdict:
    waits = list(_waits(evidence))
    if not waits:
        return not_exercised(SLUG, "no new primary was shown while own writes for another one were hidden from the controller")
    findings, doubts, good = list[Finding](), list[str](), False
    for wait in waits:
        judged = _judge(evidence, wait)
        if isinstance(judged, Finding):
            findings.append(judged)
        elif judged:
            doubts.append(judged)
        else:
            good = True
    if findings:
        return failed(SLUG, findings)
    return passed(SLUG) if good else not_exercised(SLUG, doubts[0])


def _judge(evidence: Evidence, wait: _Wait) -> Finding | str:
    """A finding, or why nothing is known; empty when it was good."""
    entries, first = evidence.history.entries, wait.effect.first
    began = entries[wait.shown].at
    usual = _usual(evidence, wait.name)
    if usual is None:
        return f"fault-free runs did nothing for {wait.name}"
    if first is not None and first < wait.until:
        wait = _Wait(wait.name, wait.effect, wait.shown, wait.hidden, first)
    if disturbed := next((i for i in range(wait.shown, wait.until) if _disturbs(entries[i])), None):
        return f"something else was done to the controller meanwhile ({type(entries[disturbed]).__name__})"
    waited, bound = entries[wait.until].at - began, max(BOUND_SECONDS, BOUND_FACTOR * usual)
    if waited <= bound:
        short = f"own writes were hidden for {waited:.1f} s only, and it may take {bound:.1f} s"
        return "" if wait.until == first else short
    hidden = [entry for index in wait.hidden if isinstance(entry := entries[index], Committed)]
    because = (
        f"for {waited:.1f} s it did nothing for {wait.name}, which takes {usual:.1f} s without faults, while "
        f"{listing([short_name(commit) for commit in hidden])} of another object had not been shown to it"
    )
    opened = tuple(evidence.faults_open_at(wait.shown))
    return Finding(SLUG, because, tuple(sorted({*wait.hidden[:3], *opened, wait.shown, wait.until})))


def _usual(evidence: Evidence, name: str) -> float | None:
    """The longest that a reference took from being shown the primary to its first write for it; None if one did nothing for it."""
    longest = 0.0
    for reference, made in zip(evidence.references, evidence.reference_populations, strict=True):
        effect = effects(reference, made).get(name)
        if effect is None or effect.shown is None or effect.first is None:
            return None
        longest = max(longest, reference.entries[effect.first].at - reference.entries[effect.shown].at)
    return longest


def _waits(evidence: Evidence) -> Iterator[_Wait]:
    """Of each new primary."""
    shown = {effect.shown: (name, effect) for name, effect in effects(evidence.history, evidence.population).items()}
    unshown = Unshown(evidence.history.header.namespace)
    open_waits: list[tuple[str, Effect, int, tuple[int, ...]]] = []
    for index, entry in enumerate(evidence.history.entries):
        unshown.advance(index, entry)
        ended = isinstance(entry, Settled | Started)
        for wait in [wait for wait in open_waits if ended or not _still_hidden(evidence, unshown, wait)]:
            open_waits.remove(wait)
            yield _Wait(*wait, until=index)
        if ended and isinstance(entry, Settled):
            return
        if index in shown:
            name, effect = shown[index]
            hidden = tuple(_own_hidden(evidence, unshown, effect.uid))
            if hidden:
                open_waits.append((name, effect, index, hidden))


def _own_hidden(evidence: Evidence, unshown: Unshown, other: str) -> list[int]:
    """Own creates and deletes that have not been shown, of primaries other than this one."""
    made, found = evidence.population, []
    for change in unshown.changes():
        child = made.children.get(change.commit.uid)
        own = child is not None and (
            (child.creator is not None and child.created == change.index)
            or (child.deleter is not None and child.deleted == change.index)
        )
        if own and root_of(change.commit.uid, made) != other:
            found.append(change.index)
    return sorted(found)


def _still_hidden(evidence: Evidence, unshown: Unshown, wait: tuple[str, Effect, int, tuple[int, ...]]) -> bool:
    """As long as one of the other's writes is hidden that was so when this one was shown."""
    return not {change.index for change in unshown.changes()}.isdisjoint(wait[3])


def _disturbs(entry: Entry) -> bool:
    match entry:
        case Answered(fault=fault) | Refused(fault=fault):
            return fault is not None
    return isinstance(entry, Stalled | Stopped | Started | Competed)
