"""What there was of a trial at a moment, by its commits: all of it, and what a garbage collector would leave."""

from collections.abc import Mapping

from staleproof.checks.but_for import in_references
from staleproof.checks.facts.garbage import without_garbage
from staleproof.checks.trial import Trial, fact
from staleproof.core.history.entry import Committed
from staleproof.core.history.given import content_of
from staleproof.core.operator.ownership import owner_of
from staleproof.core.plan.manifest import Manifest


def final_objects(trial: Trial, *, until: int | None = None) -> list[tuple[str, Manifest]]:
    """(resource, object) of everything in the trial's namespace, by commit order, before a position; by default at the end.

    Of what the controller has released nothing but the metadata that says so: it has no controller any more, and stays as it was.
    """
    last: dict[str, Committed] = {}
    for _, entry in trial.every(Committed, until=until):
        if entry.namespace == trial.namespace and (entry.uid not in last or entry.revision >= last[entry.uid].revision):
            last[entry.uid] = entry
    there = [entry for entry in last.values() if entry.type != "DELETED"]
    released = {uid: revision for uid, revision in _releases(trial).items() if uid in last and last[uid].revision >= revision}
    return [
        (each.resource, _as_released(each.object) if each.uid in released and owner_of(each.object) is None else each.object)
        for each in there
    ]


def is_as_given(run: Trial, obj: Manifest) -> bool:
    """Whether an object was there before a run, and is as it was."""
    was = {each.uid: each.content for each in run.history.header.given}
    uid = obj["metadata"].get("uid")
    return uid in was and content_of(obj, run.namespace) == was[uid]


def lasting_objects(trial: Trial, *, until: int | None = None) -> list[tuple[str, Manifest]]:
    """The same without what a garbage collector would take."""
    return without_garbage(final_objects(trial, until=until), namespaced_kinds(trial))


@fact
def namespaced_kinds(trial: Trial) -> frozenset[str]:
    """The kinds of all that was ever in the namespace of a fault-free run."""
    kinds = in_references(trial.beside, lambda run: {str(commit.entry.object.get("kind")) for commit in run.commits})
    return frozenset[str]().union(*kinds)


@fact
def _releases(trial: Trial) -> Mapping[str, int]:
    """By uid, the revision at which the controller first took all owners away from an object. One that is given a further owner is
    not released."""
    own = (each for each in trial.commits if each.by is not None and each.before is not None)
    taken = [each.entry for each in own if _is_released(each.before or {}, each.entry.object)]
    return {entry.uid: entry.revision for entry in reversed(taken)}


def _is_released(before: Manifest, after: Manifest) -> bool:
    had, left = _owners(before), _owners(after)
    return bool(had) and had.isdisjoint(left) and owner_of(after) is None


def _owners(manifest: Manifest) -> set[str]:
    return {str(each.get("uid")) for each in manifest["metadata"].get("ownerReferences") or ()}


def _as_released(manifest: Manifest) -> Manifest:
    kept = {key: value for key, value in manifest["metadata"].items() if key not in ("labels", "annotations", "generation")}
    return {key: manifest[key] for key in ("apiVersion", "kind") if key in manifest} | {"metadata": kept}
