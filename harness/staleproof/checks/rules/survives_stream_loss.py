"""survives-stream-loss: resume after EOF, reset, refused connection, hang.

Put to the test: a fault ended a watch (other than by 410), and something of that resource was to be seen afterwards. A finding
needs an end that is not the references', after a time that suffices for any client, and one of these:

1. direct evidence: the controller did not see what was committed before the release, because it does not watch that resource any
   more, or watches from a later revision on (so its new stream does not tell of a deletion that happened in the gap);
2. nothing else was done to it in the whole trial, and no other requirement explains the end.

A stream that is not opened again does no harm as long as nothing happens there: that is neither passed nor failed.
"""

from collections.abc import Iterator

from staleproof.checks.facts.pending_events import PendingEvent, pending_events
from staleproof.checks.facts.recovery_budget import EXPIRED, LOST, ended_streams
from staleproof.checks.facts.showings import is_shown
from staleproof.checks.facts.wording import happened
from staleproof.checks.requirement import STREAMS, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import NotExercised, Said, Suspicion
from staleproof.core.history.entry import Closed


def check(trial: Trial) -> Iterator[Said]:
    _, settled = trial.ending
    lost = [(index, resource) for index, resource in ended_streams(trial, LOST, settled) if _is_by_fault(trial, index)]
    if not lost:
        yield NotExercised("no watch of the controller was cut by a fault")
        return
    acts = [lost[0][0], lost[-1][0]]
    missed = _missed(trial, {index for index, _ in lost})
    if missed is not None:
        acts += [missed.index, *(index for index, resource in lost if resource == missed.commit.resource)]
    seen = any(is_shown(trial, resource, ("event", "list"), since=index, until=settled) for index, resource in lost)
    names = ", ".join(dict.fromkeys(resource for _, resource in lost))
    needless = f"after the loss of its watch of {names} there was nothing that it needed to see there"
    yield Suspicion(
        acts=tuple(acts),
        charge=f"after its watch of {lost[-1][1]} was lost",
        proof=_proof(trial, missed) if missed else "",
        untested=needless if missed or not seen else "",
    )


def _is_by_fault(trial: Trial, index: int) -> bool:
    entry = trial.entries[index]
    return isinstance(entry, Closed) and entry.fault is not None


def _missed(trial: Trial, lost: set[int]) -> PendingEvent | None:
    """The first thing that the controller will never see because what last ended its watch there was such a loss."""
    released, settled = trial.ending
    last = {resource: index for index, resource in ended_streams(trial, (*LOST, *EXPIRED), settled)}
    missed = pending_events(trial).missed(before=settled)
    return next((event for event in missed if event.index < released and last.get(event.commit.resource) in lost), None)


def _proof(trial: Trial, missed: PendingEvent) -> str:
    _, settled = trial.ending
    resource = missed.commit.resource
    last = max(index for index, ended in ended_streams(trial, LOST, settled) if ended == resource)
    if any(stream.entry.resource == resource and last < stream.opened < settled for stream in trial.streams.values()):
        return f"it watched {resource} again after the loss, and never saw that {happened(missed.commit)}"
    return f"it never watched {resource} again after that watch was lost, and {happened(missed.commit)}"


REQUIREMENT = Requirement(
    slug="survives-stream-loss",
    must="The controller MUST resume its watches after they end, break off, are reset, refused or hang, and miss nothing.",
    level="core",
    source="API concepts, Efficient detection of changes",
    faults=(*STREAMS, "Hold"),
    remedy="watch again from the last resourceVersion that was taken in, with growing delay; list again if that is refused; "
    "set a timeout on watches, so that a dead connection is noticed",
    kind="end",
    reasons=("lost stream",),
    wrong="another end than without faults",
    effects=frozenset({"cuts"}),
    check=check,
    outlives=frozenset({"cuts", "disconnects"}),
    needs_end=True,
)
