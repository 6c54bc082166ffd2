"""Where a trial is, and what its objects are called there: a namespace that no trial had before, and names for what is not in it.

Primaries are not in it if they have no namespace, or if their controller looks into another one only. Trials have that in turn.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import replace

from staleproof.core.history.scope import Key, Scope
from staleproof.core.operator.prerequisite import Placement, placement
from staleproof.core.operator.unique import hosts
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.step import Apply, Step, in_parts
from staleproof.core.times import LOOKS_SECONDS
from staleproof.drive.cluster.api import NAMESPACES, ApiError, ResourceType
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
    the trial's namespace is not there yet.

    UsageError when the API server does not know one of the kinds.
    """
    scope, there = await found(environment, f"staleproof-{_token()}", steps, before, kept_names, own_hosts)
    environment.bus.scope = scope
    return scope, there


async def found(
    environment: Environment,
    namespace: str,
    steps: Sequence[Step],
    before: Sequence[Manifest],
    kept_names: Collection[str] = (),
    own_hosts: Collection[str] = (),
) -> tuple[Scope, Placement]:
    """A place with this namespace.

    A primary that is not in it is given a name of its own, unless it may not have another than the plan's, or is to keep that
    (`kept_names`, as in `core.plan.plan`). Host names that are to be its own (`own_hosts`) get the trial's mark.
    """
    mark = f"-{_token()}"
    manifests = [step.object for step in in_parts(steps) if isinstance(step, Apply)]
    applied = [(await resource_type(each, environment.api), each) for each in manifests]
    shared = await _shared(environment, [kind for kind, _ in applied if kind.namespaced])
    called: dict[tuple[str, str], str] = {}
    primaries: list[Key] = []
    for kind, manifest in applied:
        if kind.namespaced and not shared:
            continue
        where, name = shared if kind.namespaced else "", manifest["metadata"]["name"]
        is_kept = f"{kind.name}/{name}" in kept_names
        if not is_kept and await _may_be_called(environment, kind, where, manifest, f"{name}{mark}"):
            called[kind.kind, name] = f"{name}{mark}"
        primaries.append((kind.name, where, called.get((kind.kind, name), name)))
    is_nowhere = bool(applied) and not any(kind.namespaced for kind, _ in applied)
    there = placement(steps, before, shared or namespace, called, is_nowhere=is_nowhere, is_shared=bool(shared))
    if own := set(own_hosts) & {host for _, manifest in applied for host in hosts(manifest)}:
        there = replace(there, hosts=frozenset(own_hosts), mark=mark)
    return Scope(namespace, primaries, mark if called or own else "", shared), there


async def _shared(environment: Environment, kinds: Sequence[ResourceType]) -> str:
    """The namespace, which is there, that primaries of these kinds have to be in; empty: any will do."""
    if not kinds:
        return ""
    bus, lives, named = environment.bus, environment.lives, environment.options.namespace
    if not named and not lives.had_time_to_look:
        lives.had_time_to_look = True
        await bus.until(lambda now: all(bus.whereabouts.knows(kind.name) for kind in kinds), limit_seconds=LOOKS_SECONDS)
    existing = {name for resource, _, name in environment.truth.objects if resource == NAMESPACES.name}
    looked = (bus.whereabouts.only(kind.name, existing) for kind in kinds)
    found = named or next(filter(None, looked), "")
    if found:
        await environment.have_namespace(found, "the controller looks for its primaries there and nowhere else")
    return found


def _token() -> str:
    return uuid.uuid4().hex[:8]


async def _may_be_called(environment: Environment, kind: ResourceType, namespace: str, manifest: Manifest, name: str) -> bool:
    """Whether the API server accepts it under another name; it is asked once. Schemas and webhooks may insist on one."""
    known, key = environment.renames, (kind.name, manifest["metadata"]["name"])
    if key not in known:
        metadata = {field: value for field, value in manifest["metadata"].items() if field != "namespace"}
        other = {**manifest, "metadata": {**metadata, "name": name}}
        try:
            await once_served(lambda: environment.api.apply(kind, namespace, other, dryRun="All"), environment.bus, name_of(other))
            known[key] = len(name) <= _LONGEST_NAME
        except ApiError as err:
            if err.code not in _REFUSED:
                return len(name) <= _LONGEST_NAME  # it did not say
            known[key] = False
    return known[key]
