"""What a workload needs is put in place before it begins: in the trial's namespace, or once where it belongs to no trial.

No fault is open meanwhile, and nothing of it is recorded: a history begins with what is given.
"""

import time
from collections.abc import Mapping, Sequence

import msgspec

from staleproof.core.history.resource_version import revision
from staleproof.core.operator.prerequisite import Placement
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.stored import digest
from staleproof.drive.cluster.api import JSON, ApiError, ResourceType
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.cluster.truth import Key
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.workload import once_served
from staleproof.errors import UsageError

_IDLE_SECONDS, _LIMIT_SECONDS = 0.25, 10.0
Given = Mapping[Key, str]
"""What was there before a trial began, each with its resourceVersion."""


async def furnish(environment: Environment, before: Sequence[Manifest], placement: Placement) -> Given:
    """Put these in place; return once the controller has done what it does about them.

    Raises:
        UsageError: the API server does not know one of their kinds, or rejects one; its message is passed on.
        Unserved: a webhook does not answer.
    """
    if not before:
        return {}
    bus, truth = environment.bus, environment.truth
    bus.activity.begin(bus.scope.namespace, time.monotonic(), shared=bus.scope.shared)
    resources = await put(environment, before, placement)
    await bus.until_idle(_IDLE_SECONDS, limit_seconds=_LIMIT_SECONDS)
    await truth.caught_up([(resource, placement.namespace) for resource in resources])
    return {key: obj["metadata"]["resourceVersion"] for key, obj in bus.scope.mine(truth.objects).items()}


def without(live: Mapping[Key, JSON], given: Given) -> dict[Key, JSON]:
    """What there is, without what was given and nobody has changed since."""
    return {key: obj for key, obj in live.items() if given.get(key) != obj["metadata"]["resourceVersion"]}


async def put(environment: Environment, before: Sequence[Manifest], placement: Placement) -> set[str]:
    """Apply these in order; the resources of what is now in the trial's namespace. Raises what `furnish` raises."""
    resources = set()
    for manifest in before:
        kind = await resource_type(manifest, environment.api)
        namespace = placement.of(manifest, namespaced=kind.namespaced)
        if namespace != placement.namespace:
            await _put_once(environment, kind, namespace, manifest)
        elif placement.is_shared:
            await _put_once(environment, kind, namespace, placement.put(manifest))
        else:
            await _apply(environment, kind, namespace, placement.put(manifest))
            resources.add(kind.name)
    return resources


async def _put_once(environment: Environment, kind: ResourceType, namespace: str, manifest: Manifest) -> None:
    """Apply what is there for all trials, unless it is there."""
    key, made = (kind.name, namespace, manifest["metadata"]["name"]), digest(msgspec.json.encode(manifest))
    if environment.standing.get(key) == made and key in environment.truth.objects:
        return
    if namespace:
        await environment.have_namespace(namespace, "a prerequisite is in it")
    await _apply(environment, kind, namespace, manifest)
    environment.standing[key] = made


async def _apply(environment: Environment, kind: ResourceType, namespace: str, manifest: Manifest) -> None:
    async def applied() -> None:
        answer = await environment.api.apply(kind, namespace, manifest)
        at = revision(answer["metadata"]["resourceVersion"])
        if at is not None and namespace:
            environment.bus.activity.expect(kind.name, at, time.monotonic())

    told = f"the prerequisite {name_of(manifest)}"
    try:
        await once_served(applied, environment.bus, told)
    except ApiError as err:
        raise UsageError(f"the API server rejected {told}: {err.message}") from err
