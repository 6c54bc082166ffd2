"""What may have woken a controller to look at a primary: something of the primary, or of what belongs to it, that it had not
written itself; a list or a watch that began anew; a new life. And which commits leave nothing to do, though they wake it."""

from collections.abc import Collection

from staleproof.checks.facts.belongings import head_of
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Closed, Committed, Delivered, Started, StepBegan
from staleproof.core.history.history import Position
from staleproof.core.history.provenance import Commit
from staleproof.core.history.resource_version import Revision
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.step import TOUCHED, Lull, Resync


def wakings(trial: Trial, of: Incarnation, *, since: int, before: int, besides: Collection[str] = ()) -> list[Position]:
    """Where it was woken behind a position and before another. `besides`: uids of objects of which nothing counts."""
    made = object_history(trial)
    mine = {uid for uid in made.objects if head_of(trial, uid) == of.uid and uid not in besides}
    own = {(commit.entry.uid, commit.entry.revision) for commit in trial.commits if commit.by is not None}
    resources = {made.objects[uid].resource for uid in mine}
    kinds = (Committed, Delivered, Started, Closed, StepBegan)
    return [index for index in trial.positions(*kinds) if since < index < before and _wakes(trial, index, mine, own, resources)]


def _wakes(trial: Trial, index: Position, mine: set[str], own: set[tuple[str, Revision]], resources: set[str]) -> bool:
    match trial.entries[index]:
        case Committed() as entry:
            return entry.uid in mine and (entry.uid, entry.revision) not in own
        case Delivered() as entry:
            return entry.uid in mine and (entry.uid, entry.revision) not in own
        case Closed(stream=stream, how=how):
            return how != "client" and trial.resource_of(stream) in resources
        case StepBegan(step=number):
            return any(isinstance(step, Resync | Lull) for step in trial.plan.steps[number - 1 : number])
    return isinstance(trial.entries[index], Started)


def leaves_nothing_to_do(commit: Commit) -> bool:
    """Whether a commit leaves nothing to do: another's touch, or the controller's own status."""
    if commit.before is None or commit.deletes:
        return False
    before, after = _untouched(commit.before), _untouched(commit.entry.object)
    return before == after if commit.by is None else _apart(before) == _apart(after)


def _untouched(obj: Manifest) -> Manifest:
    """Without what a touch changes, and what any write does."""
    metadata = {name: value for name, value in obj["metadata"].items() if name not in ("resourceVersion", "managedFields")}
    annotations = {name: value for name, value in (metadata.pop("annotations", None) or {}).items() if name != TOUCHED}
    return {**obj, "metadata": metadata | {"annotations": annotations}}


def _apart(obj: Manifest) -> Manifest:
    """Without its status."""
    return {name: value for name, value in obj.items() if name != "status"}
