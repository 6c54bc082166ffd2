"""Exits of the controller's process that no fault or step asked for, and which of them a supervisor has to put up with.

Two kinds are common practice, and what counts is how the next life fares: a leader that could not renew its lease must stop, and
most programs do so by exiting (client-go's leader election, `OnStoppedLeading`); and many programs exit when the API server turns
them away before they have begun, and leave it to the kubelet to try again. Every other exit is a death.
"""

import re

from staleproof.checks.trial import Trial, fact
from staleproof.core.fault import Effect
from staleproof.core.history.entry import Answered, Asked, Exited, Refused, Stalled
from staleproof.core.history.history import Position, is_work
from staleproof.core.times import OVERDUE_FACTOR

_LOST_LEASE = re.compile(
    r"\b(leader.?election|leadership|lease)\b.*\b(lost|expired)|lost\b.*\b(leadership|lease|leader)|"
    r"(failed|unable|could not) to renew.*\blease|no longer (the )?leader|stopped leading",
    re.IGNORECASE,
)
_SAYS_WHY = re.compile(r"^(panic|fatal error): |^Exception in thread|^thread .* panicked")
_TURNS_AWAY: frozenset[Effect] = frozenset({"disconnects", "rejects", "slows", "slows-start", "cuts", "expires"})


@fact
def deaths(trial: Trial) -> list[Position]:
    """Where the controller's process died: it exited for another reason than a lost lease or a start that was in vain."""
    return [index for index, entry in trial.every(Exited) if not lost_its_lease(entry) and not _could_not_start(trial, index)]


@fact
def given_restarts(trial: Trial) -> list[Position]:
    """Where it exited as a controller may, because a supervisor starts it again."""
    return [index for index, _ in trial.every(Exited) if index not in deaths(trial)]


def lost_its_lease(entry: Exited) -> bool:
    """Whether it says so, or had a Lease and had not renewed it for longer than it usually takes."""
    if any(_LOST_LEASE.search(line) for line in entry.log):
        return True
    if entry.unrenewed is None or entry.renews_every is None:
        return False
    return entry.unrenewed > OVERDUE_FACTOR * entry.renews_every


def whose_process(entry: Exited) -> str:
    """What exited: the controller's process, or that of a further program of the subject, by its name."""
    return f"the process of {entry.program}" if entry.program else "its process"


def last_words(entry: Exited) -> str:
    """The line of its log that says most about the exit; empty when there is none."""
    lines = [line.strip() for line in entry.log if line.strip()]
    return next((line for line in reversed(lines) if _SAYS_WHY.search(line)), lines[-1] if lines else "")


def code_of(entry: Exited) -> str:
    """Its exit code, and what is known besides."""
    return f"code {entry.code}, {entry.reason}" if entry.reason else f"code {entry.code}"


def _could_not_start(trial: Trial, exited: Position) -> bool:
    """Whether a fault turned away a new life that had not come to writing anything."""
    began = trial.life_began(exited)
    if began == trial.life_began(0) or any(is_work(entry) for _, entry in trial.every(Asked, since=began, until=exited)):
        return False
    answers = (trial.entries[index] for index in trial.positions(Answered, Refused, Stalled) if began < index < exited)
    if any(isinstance(each, Answered | Refused | Stalled) and each.fault is not None for each in answers):
        return True
    spans = [trial.spans[number] for number, fault in trial.fired.items() if number in trial.spans and fault.effects & _TURNS_AWAY]
    return any(span.lasted(began, exited) for span in spans)
