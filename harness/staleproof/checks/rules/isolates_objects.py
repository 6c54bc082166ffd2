"""isolates-objects: keep reconciling other objects while one waits for its own writes.

Put to the test: a new primary was shown to the controller while it had not been shown its own creates or deletes for another one. A
finding is that it did nothing for the new one for longer than in any fault-free run (ten times over, and 5 s at least), as long as
those writes were hidden, and no longer: what comes after the release is another matter. So the hold has to outlast that time.

Not judged: a new primary that no reference did anything for; a time in which requests of the controller were rejected, kept waiting
or lost, or its process was stopped, because then it had other reasons to wait.
"""

from collections.abc import Iterator

from staleproof.checks.facts.attribution import Standstill, usual_seconds, waits
from staleproof.checks.facts.wording import listing, short_name
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.core.history.entry import Answered, Competed, Entry, Refused, Stalled, Started, Stopped
from staleproof.core.times import BOUND_FACTOR, BOUND_SECONDS


def check(trial: Trial) -> Iterator[Said]:
    judged = [_judge(trial, wait) for wait in waits(trial)]
    if not judged:
        yield NotExercised("no new primary was shown while own writes for another one were hidden from the controller")
    yield from (said for said in judged if isinstance(said, Finding) or (said is not None and None not in judged))


def _judge(trial: Trial, wait: Standstill) -> Finding | NotExercised | None:
    """A finding, or why nothing is known; None when it was good."""
    usual = usual_seconds(trial, wait.primary)
    if usual is None:
        return NotExercised(f"fault-free runs did nothing for {wait.primary}")
    until = wait.until if wait.first is None else min(wait.first, wait.until)
    disturbing = next((entry for entry in trial.entries[wait.shown : until] if _disturbs(entry)), None)
    if disturbing is not None:
        return NotExercised(f"something else was done to the controller meanwhile ({type(disturbing).__name__})")
    waited, bound = trial.at(until) - trial.at(wait.shown), max(BOUND_SECONDS, BOUND_FACTOR * usual)
    if waited <= bound:
        short = f"own writes were hidden for {waited:.1f} s only, and it may take {bound:.1f} s"
        return None if until == wait.first else NotExercised(short)
    because = (
        f"for {waited:.1f} s it did nothing for {wait.primary}, which takes {usual:.1f} s without faults, while "
        f"{listing([short_name(event.commit) for event in wait.hidden])} of another object had not been shown to it"
    )
    hidden = [event.index for event in wait.hidden[:3]]
    return Finding(because, tuple(sorted({*hidden, *trial.faults_open_at(wait.shown), wait.shown, until})))


def _disturbs(entry: Entry) -> bool:
    match entry:
        case Answered(fault=fault) | Refused(fault=fault):
            return fault is not None
    return isinstance(entry, Stalled | Stopped | Started | Competed)


REQUIREMENT = Requirement(
    slug="isolates-objects",
    must="The controller MUST keep reconciling other objects while one waits for its own writes.",
    level="core",
    source="KEP-5647 (staleness is checked for each object, without a global lock)",
    faults=("HideOwnWrite", "Hold"),
    remedy="remember own writes for each object, "
    "and put an object that has to wait back into the queue instead of blocking the worker",
    severity="stuck",
    kind="pace",
    wrong="nothing done for one object while another waits",
    check=check,
)
