"""Where a trial is, and what its objects are called there: a namespace that nobody had before, and names for what has none."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import replace

from staleproof.core.history.scope import Scope
from staleproof.core.operator.prerequisite import Placement, placement
from staleproof.core.operator.unique import hosts
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.step import Apply, Step
from staleproof.drive.cluster.api import ApiError, ResourceType
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.workload import once_served

_LONGEST_NAME = 63
"""Controllers put names into labels."""
_REFUSED = (400, 403, 422)


async def place(
    environment: Environment,
    steps: Sequence[Step],
    before: Sequence[Manifest],
    kept_names: Collection[str] = (),
    own_hosts: Collection[str] = (),
) -> tuple[Scope, Placement]:
    """A place for this workload and what it needs. What happens is followed from now on, so that what becomes the trial's is known;
    the namespace is not there yet.

    A cluster-scoped primary is given a name of its own, unless it may not have another than the plan's, or is to keep that
    (`kept_names`, as in `core.plan.plan`). Host names that are to be its own (`own_hosts`) get the trial's mark. UsageError when
    the API server does not know one of the kinds.
    """
    namespace, mark = f"staleproof-{_token()}", f"-{_token()}"
    called: dict[tuple[str, str], str] = {}
    primaries, namespaced = [], False
    for manifest in (step.object for step in steps if isinstance(step, Apply)):
        kind, name = await resource_type(manifest, environment.api), manifest["metadata"]["name"]
        if kind.namespaced:
            namespaced = True
            continue
        is_kept = f"{kind.name}/{name}" in kept_names
        if not is_kept and await _may_be_called(environment, kind, manifest, f"{name}{mark}"):
            called[kind.kind, name] = f"{name}{mark}"
        primaries.append((kind.name, called.get((kind.kind, name), name)))
    there = placement(steps, before, namespace, called, is_nowhere=bool(primaries) and not namespaced)
    if own := set(own_hosts) & {host for step in steps if isinstance(step, Apply) for host in hosts(step.object)}:
        there = replace(there, hosts=frozenset(own_hosts), mark=mark)
    scope = environment.bus.scope = Scope(namespace, primaries, mark if called or own else "")
    return scope, there


def _token() -> str:
    return uuid.uuid4().hex[:8]


async def _may_be_called(environment: Environment, kind: ResourceType, manifest: Manifest, name: str) -> bool:
    """Whether the API server accepts it under another name; it is asked once. Schemas and webhooks may insist on one."""
    known, key = environment.renames, (kind.name, manifest["metadata"]["name"])
    if key not in known:
        other = {**manifest, "metadata": {**manifest["metadata"], "name": name}}
        try:
            await once_served(lambda: environment.api.apply(kind, "", other, dryRun="All"), environment.bus, name_of(other))
            known[key] = len(name) <= _LONGEST_NAME
        except ApiError as err:
            if err.code not in _REFUSED:
                return len(name) <= _LONGEST_NAME  # it did not say
            known[key] = False
    return known[key]
