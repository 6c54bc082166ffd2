"""Primaries that were deleted and created again under the same name, and whether the controller learnt of that late.

Late means that a lagging view could have misled it: news of the new incarnation, or of the end of the one before it, was withheld
by a fault; a list showed the one in place of the other, so that the end was never shown; it was restarted meanwhile, so that it
never saw either happen; or a step began and it still took the one for the other. Some milliseconds on a healthy stream are not.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from staleproof.checks.ends.states import final_objects
from staleproof.checks.facts.object_history import Incarnation, creations, object_history
from staleproof.checks.trial import Trial, fact
from staleproof.checks.view.life import view
from staleproof.core.history.entry import Entry, Listed, Settled, Started, StepBegan, StepEnded, Withheld
from staleproof.core.history.history import Request
from staleproof.core.operator.ownership import owner_of


@dataclass(frozen=True, slots=True)
class Recreation:
    """One incarnation of a primary took the name of another.

    Attributes:
        late: where the controller was first seen to be late with it; None if it never was.
    """

    before: Incarnation
    after: Incarnation
    late: int | None

    def was_late(self, *, before: int) -> bool:
        return self.late is not None and self.late < before

    def moments(self, trial: Trial, *, before: int) -> list[int]:
        """Where it happened, where faults opened that kept the controller from seeing that, and where the life then saw it."""
        shown = self.shown_at(trial, before=before)
        faults = trial.faults_open_at(self.late) if self.late is not None else ()
        return [self.after.created, *faults, *([] if shown is None else [shown])]

    def shown_at(self, trial: Trial, *, before: int) -> int | None:
        """Where the life before a position was shown the new one; None if it was not by then."""
        states = view(trial, before).life.objects.since(0, self.after.uid)
        return next((index for index, known in states if known.shown is not None and index < before), None)

    def rested_at(self, trial: Trial, *, before: int) -> int | None:
        """Where that life had come to rest after that: whatever it was about has been done; None if it had not by then."""
        shown = self.shown_at(trial, before=before)
        idle = [index for index, entry in trial.every(StepEnded, until=before) if entry.idle]
        calm = [index for index, entry in trial.every(Settled, until=before) if entry.ok]
        return next((index for index in sorted(idle + calm) if shown is not None and shown < index), None)


@fact
def recreations(trial: Trial) -> Sequence[Recreation]:
    """By resource and name as the workload has them, in the order of creation."""
    made, found = object_history(trial), []
    for primary in trial.history.header.primaries:
        resource, _, name = primary.rpartition("/")
        ordered = sorted((c for c in made.named(resource, name) if not c.owner_uid), key=lambda child: child.create_revision)
        for before, after in itertools.pairwise(ordered):
            late = next((i for i, entry in enumerate(trial.entries) if _is_late(trial, before, after, i, entry)), None)
            found.append(Recreation(before, after, late))
    return found


def confusions(trial: Trial) -> Iterator[tuple[Request, Incarnation, Recreation]]:
    """Children that were created for an old incarnation by a life that knew the new one, and was not still about what it had begun
    before it knew: it had come to rest since, or created such a child for the new one. The latter shows nothing of a life that was
    creating for the old one when the new one existed, but was not shown: it may have a worker for each uid, as kopf has
    (`kopf/_core/reactor/queueing.py`), and the old one's is still at work.

    A write to the new one itself says nothing: a status is often written by a worker of its own, by name alone.
    """
    made = list(creations(trial))
    for request, child in made:
        for one in recreations(trial):
            if one.before.uid == child.owner_uid and _knew(trial, one, request, child, made):
                yield request, child, one


def _knew(trial: Trial, one: Recreation, request: Request, child: Incarnation, made: Sequence[tuple[Request, Incarnation]]) -> bool:
    if one.rested_at(trial, before=request.index) is not None:
        return True
    shown = one.shown_at(trial, before=request.index)
    if shown is None or any(one.after.created < other.index < shown and each.owner_uid == one.before.uid for other, each in made):
        return False
    return any(
        shown < other.index < request.index and each.owner_uid == one.after.uid and each.resource == child.resource
        for other, each in made
    )


def _is_late(trial: Trial, before: Incarnation, after: Incarnation, index: int, entry: Entry) -> bool:
    seen = view(trial, index)
    match entry:
        case Withheld(fault=int(), uid=after.uid):
            return True
        case Withheld(fault=int(), uid=before.uid, type="DELETED"):
            return True
        case Listed(items=items):
            believed = seen.present(before.resource, before.name)
            return believed == before.uid and any(item.uid == after.uid for item in items)
        case Started() | StepBegan():
            return after.created < index and not seen.of(after.uid).is_known
    return False


def children_of_recreated(trial: Trial, *, until: int | None = None) -> tuple[Counter[str], Counter[str]]:
    """Per resource, the live children of the newest incarnations before a position, and of those before them."""
    old = {one.before.uid for one in recreations(trial)}
    new = {one.after.uid for one in recreations(trial)} - old
    there = [(resource, obj) for resource, obj in final_objects(trial, until=until) if "deletionTimestamp" not in obj["metadata"]]
    owned = [(resource, owner["uid"]) for resource, obj in there if (owner := owner_of(obj)) is not None]
    return Counter(resource for resource, uid in owned if uid in new), Counter(resource for resource, uid in owned if uid in old)
