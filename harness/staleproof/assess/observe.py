"""Watching a controller work without faults, to derive plans from what it does."""

from collections.abc import Sequence

from staleproof.assess.session import Session
from staleproof.checks.population import Population, names_of, population
from staleproof.core.entry import Closed, Opened
from staleproof.core.history import History
from staleproof.core.observed import ChildKind, Observed
from staleproof.core.pace import longest_pause, paced
from staleproof.core.plan import Apply, Manifest, Plan, Settle, Step, Touch
from staleproof.drive.manifests import name_of, resource_type
from staleproof.drive.rig import Rig
from staleproof.errors import UsageError

_AT_ONCE_SECONDS = 0.5
_PATIENT = Settle(quiet_seconds=5.0, deadline_seconds=30.0)
"""Long enough to see what a controller does some seconds later by itself; done once for each sample, after one step, so that
nothing else can wake it in the meantime."""


def observe(session: Session, sample: Manifest) -> Observed:
    """Apply, scale and touch the sample without any fault and note what the controller writes for it.

    Raises:
        UsageError: the API server does not know or accept the sample, or the controller does nothing for it.
    """
    manifests = session.options.manifests
    resource, scale_path = session.call(lambda rig: _describe(rig, sample))
    bare = Observed(sample, resource, scale_path, (), manifests=manifests)
    patient = Plan(scenario="observe", title="how it paces itself", steps=(Apply(object=sample),), settle=_PATIENT)
    pause = longest_pause(session.watch(patient))
    references = session.repeat(_workload(bare, paced(pause, resync=True)))
    children = _children(references)
    if not any(reference.complete for reference in references) or not children:
        name = f"{sample['kind']}/{sample['metadata']['name']}"
        log = session.run.folder / "controller.log"
        raise UsageError(
            f"the controller created nothing for {name} in {references[0].entries[-1].at:.1f} s: "
            f"is it the controller of this kind, and is the sample complete? See {log}"
        )
    at_once = all(_relist_seconds(reference, resource) < _AT_ONCE_SECONDS for reference in references)
    return Observed(sample, resource, scale_path, children, at_once, manifests, pause)


def _workload(observed: Observed, settle: Settle) -> Plan:
    steps: list[Step] = [Apply(object=observed.sample)]
    if observed.scale_path:
        steps += [observed.scale(observed.replicas + 1), observed.scale(max(observed.replicas - 2, 0))]
    steps.append(Touch(target=observed.target))
    return Plan(scenario="observe", title="what the controller does", steps=tuple(steps), settle=settle)


def _relist_seconds(history: History, resource: str) -> float:
    """How long the controller took from a 410 on its watch of this resource to the next watch; for ever if it never came."""
    closed = [entry.at for entry in history.entries if isinstance(entry, Closed) and entry.how == "expired"]
    opened = [entry.at for entry in history.entries if isinstance(entry, Opened) and entry.resource == resource]
    again = [at for at in opened if closed and at > closed[0]]
    return again[-1] - closed[0] if again else float("inf")


async def _describe(rig: Rig, sample: Manifest) -> tuple[str, tuple[str, ...]]:
    """The sample's resource, and where its replica count is."""
    kind = await resource_type(sample, rig.api)
    if not kind.namespaced:
        raise UsageError(f"{name_of(sample)} is cluster-scoped; only namespaced primaries can be tested in this version")
    crd = rig.truth.objects.get(("customresourcedefinitions.apiextensions.k8s.io", "", kind.name))
    for version in crd["spec"]["versions"] if crd else ():
        path = (version.get("subresources") or {}).get("scale", {}).get("specReplicasPath")
        if path:
            return kind.name, tuple(path.strip(".").split("."))
    replicas = (sample.get("spec") or {}).get("replicas")
    return kind.name, ("spec", "replicas") if isinstance(replicas, int) else ()


def _children(references: Sequence[History]) -> tuple[ChildKind, ...]:
    folds = [population(reference) for reference in references]
    stable = set.intersection(*(names_of(reference) for reference in references))
    resources = {child.role.resource for fold in folds for child in fold.children.values() if child.creator}
    kinds = []
    for resource in sorted(resources):
        made = [child for child in folds[0].children.values() if child.role.resource == resource and child.creator]
        kept = all(child.named in stable for child in made)
        watched = any(isinstance(entry, Opened) and entry.resource == resource for entry in references[0].entries)
        kinds.append(ChildKind(resource, _least(folds, resource, "creator"), _least(folds, resource, "deleter"), kept, watched))
    return tuple(sorted(kinds, key=lambda kind: -kind.creates))


def _least(folds: Sequence[Population], resource: str, who: str) -> int:
    """What can be relied on: the fewest in any reference."""
    return min(
        sum(child.role.resource == resource and getattr(child, who) is not None for child in fold.children.values())
        for fold in folds
    )
