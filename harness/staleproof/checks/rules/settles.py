"""settles: stop writing once converged, also when everything is reconciled again.

After the trial has settled the controller is made to list its primaries again, without any change. Every write from then on, one
that changes nothing included, is a finding. What does not count: refused writes, leases, events and leader election, reviews and
tokens (nothing is stored), writes outside the trial's namespace, and whatever came after somebody else had changed something. Nor
does the first repetition of a write that a fault had rejected, or whose answer was lost: a controller waits before it tries again.

Nothing is known when the controller had not been shown everything by the time it had settled: then something had changed for it.
"""

from collections.abc import Iterator

from staleproof.checks.facts.pending_events import pending_events
from staleproof.checks.facts.retries import repeated_writes
from staleproof.checks.facts.showings import showings
from staleproof.checks.facts.wording import plural
from staleproof.checks.requirement import SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.core.entry import Answered, Committed, Settled
from staleproof.core.history import Request
from staleproof.core.provenance import is_bookkeeping


def check(trial: Trial) -> Iterator[Said]:
    _, settled = trial.ending
    end = trial.entries[settled]
    if isinstance(end, Settled) and not end.ok:
        yield NotExercised(f"it never settled ({end.why})")
        return
    if trial.idle or pending_events(trial).before(settled):
        yield NotExercised(trial.idle or "when it settled it had not been shown everything yet")
        return
    disturbed = min((each.index for each in trial.commits if each.index > settled and each.by is None), default=len(trial.entries))
    late = [write for write in _late_writes(trial) if write.index < disturbed]
    if late:
        first = late[0]
        told = f"{plural(len(late), 'write')} after it had settled and nothing had changed, the first: "
        because = f"{told}{first.asked.verb} {first.asked.resource}/{_name(first)}"
        yield Finding(because, (settled, *(request.index for request in late[:3])), "though nothing had changed")
    elif disturbed in trial.commit_at:
        changed = trial.commit_at[disturbed].entry
        yield NotExercised(f"somebody else changed {changed.resource}/{changed.name} after the controller had settled")
    elif not any(each.kind == "list" and each.index > settled for of in trial.primaries for each in showings(trial).get(of, ())):
        told = "although it was told to" if trial.plan.settle.resync else "because the plan does not tell it to"
        yield NotExercised(f"the controller did not list its primaries again after it had settled, {told}")


def _late_writes(trial: Trial) -> Iterator[Request]:
    """The controller's writes from the settling on that count."""
    _, settled = trial.ending
    locks = {(e.resource, e.name) for _, e in trial.every(Committed) if is_bookkeeping(e.resource, e.object)}
    for request in trial.work:
        asked = request.asked
        mine = asked.namespace == trial.namespace or (not asked.namespace and asked.resource in trial.primaries)
        counts = mine and (asked.resource, _name(request)) not in locks and request.index not in repeated_writes(trial)
        if request.index > settled and request.succeeded and counts:
            yield request


def _name(request: Request) -> str:
    return request.asked.name or (request.answer.name if isinstance(request.answer, Answered) else "")


REQUIREMENT = Requirement(
    slug="settles",
    must="The controller MUST stop writing once converged, also when everything is reconciled again.",
    level="core",
    source=f"{SEED}, section Fast and offline reconciliation",
    faults=(),
    remedy="compare before writing: a reconciliation that finds nothing to change writes nothing",
    check=check,
    needs_references=False,
    needs_end=True,
)
