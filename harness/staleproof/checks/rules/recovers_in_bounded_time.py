"""recovers-in-bounded-time: not sleep long after the cache has caught up.

Put to the test: the controller was kept from seeing something; then it had been shown everything, the state was not the
references' yet, and no step of the workload came any more: it had to wake by itself. A finding is that it asked for no write (a
refused one would count) for longer than it ever needs: the longest pause of any fault-free run, ten times over, and 5 s at least.

A pass needs a hold of 10 s or more, and so does a finding about a controller that never went on: shorter holds do not send anybody
to sleep, and it may have another reason. Whether it ends well is for others to judge.
"""

from dataclasses import dataclass

from staleproof.checks.facts.liveness import differences, other_workload
from staleproof.checks.facts.pending_events import Unshown
from staleproof.checks.facts.recovery_budget import fired, spans
from staleproof.checks.facts.stimuli import moments
from staleproof.checks.trial import Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, inconclusive, not_exercised, passed
from staleproof.core.entry import Entry, Settled, Started, StepBegan, Stopped
from staleproof.core.fault import Coalesce, Compete, Hang, HoldStream, LoseAnswer, Refuse, Reject, SlowAnswer
from staleproof.core.pace import longest_pause
from staleproof.core.plan import Rest
from staleproof.core.request import BOOKKEEPING

SLUG = "recovers-in-bounded-time"
_OTHER_REASONS = (Compete, Hang, LoseAnswer, Refuse, Reject, SlowAnswer)
BOUND_SECONDS, BOUND_FACTOR, LONG_HOLD_SECONDS = 5.0, 10.0, 10.0


@dataclass(frozen=True, slots=True)
class _Hold:
    """Where it began and ended, and where everything had been shown after that."""

    opened: int
    closed: int
    caught_up: int


def check(evidence: Evidence) -> Verdict:
    entries = evidence.history.entries
    settled = next((i for i, entry in enumerate(entries) if isinstance(entry, Settled)), None)
    if settled is None:
        return inconclusive(SLUG, "the trial has no settling phase")
    hold = evidence.idle or other_workload(evidence) or _hold(evidence, settled)
    if isinstance(hold, str):
        return not_exercised(SLUG, hold)
    left = next((found.text for found in differences(evidence, hold.caught_up + 1) if not found.unstable), "")
    wait = _wait(evidence, hold, settled)
    if not left or (not wait.wrote and not differences(evidence, settled)):
        return not_exercised(SLUG, "when it had been shown everything there was nothing left for it to do")
    held = entries[hold.closed].at - entries[hold.opened].at
    if held < LONG_HOLD_SECONDS and not wait.wrote:
        return not_exercised(SLUG, f"it never went on, and a hold of {held:.1f} s is too short to send a controller to sleep")
    pause = max(longest_pause(reference) for reference in evidence.references)
    if wait.seconds > max(BOUND_SECONDS, BOUND_FACTOR * pause):
        return failed(SLUG, [_finding(hold, wait, left, pause)])
    if not wait.wrote:
        return inconclusive(SLUG, f"it had not written when the trial ended, {wait.in_all:.1f} s after it was shown everything")
    if held < LONG_HOLD_SECONDS:
        return not_exercised(SLUG, f"a hold of {held:.1f} s is too short to send a controller to sleep")
    return passed(SLUG)


@dataclass(frozen=True, slots=True)
class _Wait:
    """Its longest sleep until its first write, or until the end of the settling phase: from one thing shown to the next.

    That something else woke it in the end, or nearly did, does not make the sleep before it any shorter.
    """

    seconds: float
    until: int
    wrote: bool
    in_all: float
    """From when everything had been shown."""


def _wait(evidence: Evidence, hold: _Hold, settled: int) -> _Wait:
    entries = evidence.history.entries
    began = entries[hold.caught_up].at
    last, longest = began, 0.0
    for moment in moments(entries[:settled]):
        if moment.index > hold.caught_up and moment.kind != "bookmark":
            last, longest = moment.at, max(longest, moment.at - last)
            if moment.kind == "write":
                return _Wait(longest, moment.index, wrote=True, in_all=last - began)
    return _Wait(max(longest, entries[settled].at - last), settled, wrote=False, in_all=entries[settled].at - began)


def _finding(hold: _Hold, wait: _Wait, left: str, pause: float) -> Finding:
    wrote = "it first wrote" if wait.wrote else "it had not written"
    because = (
        f"{wrote} {wait.in_all:.1f} s after it had been shown everything, though fault-free runs never pause longer than "
        f"{pause:.1f} s; until then, {left}"
    )
    return Finding(SLUG, because, tuple(sorted({hold.opened, hold.closed, hold.caught_up, wait.until})))


def _hold(evidence: Evidence, settled: int) -> _Hold | str:
    """The last thing kept from the controller, or why it tells nothing."""
    entries, open_for = evidence.history.entries, spans(evidence)
    held = [open_for[n] for n, fault in fired(evidence).items() if isinstance(fault, HoldStream | Coalesce) and n in open_for]
    if not held:
        return "nothing was kept from the controller"
    opened, closed = min(opened for opened, _ in held), max(closed for _, closed in held)
    if any(_is_poke(entry, evidence) for entry in entries[closed:settled]):
        return "the workload went on after the hold"
    if any(isinstance(entry, Started | Stopped) for entry in entries[opened:settled]):
        return "the controller's process was stopped or started meanwhile"
    others = [fault.tag for fault in fired(evidence).values() if isinstance(fault, _OTHER_REASONS)]
    if others:
        return f"{others[0]} fired, too, and may have sent it to sleep or kept it waiting"
    others = [evidence.history.header.plan.faults[n].tag for n in fired(evidence) if n in open_for and open_for[n][1] > closed]
    if others:
        return f"{others[0]} went on after the hold"
    caught_up = _caught_up(evidence, closed, settled)
    return "it was not shown everything after the hold" if caught_up is None else _Hold(opened, closed, caught_up)


def _is_poke(entry: Entry, evidence: Evidence) -> bool:
    """A step that may wake the controller."""
    steps = evidence.history.header.plan.steps
    return isinstance(entry, StepBegan) and not isinstance(steps[entry.step - 1], Rest)


def _caught_up(evidence: Evidence, closed: int, settled: int) -> int | None:
    """The first position from there on at which nothing was left to be shown, and all that had been watched was watched again."""
    unshown = Unshown(evidence.history.header.namespace)
    watched: set[str] = set()
    for index, entry in enumerate(evidence.history.entries[:settled]):
        unshown.advance(index, entry)
        if index < closed:
            watched |= unshown.watched - BOOKKEEPING
        elif unshown.is_whole and watched <= unshown.watched:
            return index
    return None
