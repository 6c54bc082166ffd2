"""What a workload needs is put in place before it begins: in the trial's namespace, or once where it belongs to no trial.

That may be what brings a kind, of which a primary is: its controller makes the CustomResourceDefinition, and is waited for.

No fault is open meanwhile, and nothing of it is recorded: a history begins with what is given.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from staleproof.core.history.given import Given, content_of
from staleproof.core.history.resource_version import revision
from staleproof.core.history.scope import Scope
from staleproof.core.operator.definition import asks_for, is_asked_for
from staleproof.core.operator.group_kind import GroupKind
from staleproof.core.operator.prerequisite import Placement, placement
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.step import Apply
from staleproof.core.plan.stored import digest
from staleproof.core.times import (
    BROUGHT_AGAIN_SECONDS,
    BROUGHT_SECONDS,
    ESTABLISHED_SECONDS,
    IDLE_SECONDS,
    PERHAPS_BROUGHT_SECONDS,
    STEP_LIMIT_SECONDS,
)
from staleproof.drive.cluster.api import JSON, ApiError, ResourceType
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.cluster.truth import Key
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.workload import once_served
from staleproof.errors import SetupError, UsageError

Before = Mapping[Key, Manifest]
"""What was there before a trial began."""


async def introduce(environment: Environment, objects: Sequence[Manifest], before: Sequence[Manifest]) -> None:
    """Return once the kinds of these objects are known. Where one is not, what they need (`before`) may bring it: as much of that
    as belongs to no trial is put in place, and the controller has time to do what it does about it.

    Raises:
        UsageError: the API server does not come to know one of the kinds, or rejects a prerequisite; its message is passed on.
        SetupError: a webhook does not answer; or the new kind cannot be watched.
    """
    api = environment.api
    unknown = [each for each in objects if await api.type_of(each["apiVersion"], each["kind"]) is None]
    if not unknown:
        return
    there = placement([Apply(object=each) for each in objects], before, "")
    for manifest in before:
        kind = await _type_of(environment, manifest, before)
        namespace = there.of(manifest, namespaced=kind.namespaced)
        if namespace or not kind.namespaced:
            await _put_once(environment, kind, namespace, manifest)
    for each in unknown:
        await _type_of(environment, each, before)


async def _type_of(environment: Environment, manifest: Manifest, before: Iterable[Manifest]) -> ResourceType:
    """Its resource type, which may be known only in a while. Raises what `introduce` raises."""
    api, bus, wanted = environment.api, environment.bus, GroupKind.of(manifest)
    if await api.type_of(manifest["apiVersion"], manifest["kind"]) is not None:
        return await resource_type(manifest, api)
    bringing = [each for each in before if is_asked_for(wanted, asks_for(each))]
    seconds = BROUGHT_SECONDS if bringing else PERHAPS_BROUGHT_SECONDS
    end = time.monotonic() + seconds
    while not await api.served(wanted.group, wanted.kind):
        if time.monotonic() >= end and not bringing:
            return await resource_type(manifest, api)
        if time.monotonic() >= end:
            raise UsageError(_not_brought(environment, manifest, bringing, seconds))
        await bus.until(lambda now: False, limit_seconds=BROUGHT_AGAIN_SECONDS)
    kind = await resource_type(manifest, api)
    if not await environment.truth.watches(kind.name, limit_seconds=ESTABLISHED_SECONDS):
        raise SetupError(f"{kind.name} is served and was not watched within {ESTABLISHED_SECONDS:g} s; look at its definition")
    return kind


def _not_brought(environment: Environment, manifest: Manifest, bringing: Sequence[Manifest], seconds: float) -> str:
    said = "; ".join(each for one in bringing for each in _troubles(environment, one))
    return (
        f"the API server does not know {manifest['apiVersion']} {manifest['kind']} (of {name_of(manifest)}) {seconds:g} s after "
        f"{', '.join(map(name_of, bringing))} was applied{f', which says: {said}' if said else ''}; see in its controller's log "
        "why it makes none, or give the CustomResourceDefinition with the option for them (--staleproof-crds, or --crds)"
    )


def _troubles(environment: Environment, manifest: Manifest) -> Iterator[str]:
    """Conditions of a prerequisite that do not hold, in words."""
    for obj in environment.truth.objects.values():
        if GroupKind.of(obj) == GroupKind.of(manifest) and obj["metadata"]["name"] == manifest["metadata"]["name"]:
            for each in (obj.get("status") or {}).get("conditions") or ():
                if each.get("status") != "True":
                    yield f"{each.get('type')} is {each.get('status')}, {each.get('reason', '')}: {each.get('message', '')}"


async def furnish(environment: Environment, before: Sequence[Manifest], there: Placement) -> Before:
    """Put these in place; return once the controller has done what it does about them.

    Raises:
        UsageError: the API server does not know one of their kinds, or rejects one; its message is passed on.
        Unserved: a webhook does not answer.
    """
    if not before:
        return {}
    bus, truth = environment.bus, environment.truth
    bus.activity.begin(bus.scope.namespace, time.monotonic(), shared=bus.scope.shared)
    resources = await put(environment, before, there)
    await bus.until_idle(IDLE_SECONDS, limit_seconds=STEP_LIMIT_SECONDS)
    await truth.caught_up([(resource, there.namespace) for resource in resources])
    return bus.scope.mine(truth.objects)


def given(before: Before, scope: Scope) -> tuple[Given, ...]:
    """The same, as the trial's history calls it."""
    shown = scope.shown(before).items()
    return tuple(
        Given(resource, name, obj["metadata"]["uid"], content_of(obj, namespace)) for (resource, namespace, name), obj in shown
    )


def without(live: Mapping[Key, JSON], before: Before) -> dict[Key, JSON]:
    """What there is, without what was there before and is as it was, or again as it was."""
    return {key: obj for key, obj in live.items() if key not in before or not _is_as_it_was(obj, before[key], key[1])}


def _is_as_it_was(obj: JSON, was: Manifest, namespace: str) -> bool:
    if obj["metadata"]["uid"] != was["metadata"]["uid"]:
        return False
    is_untouched = obj["metadata"]["resourceVersion"] == was["metadata"]["resourceVersion"]
    return is_untouched or content_of(obj, namespace) == content_of(was, namespace)


async def put(environment: Environment, before: Sequence[Manifest], there: Placement) -> set[str]:
    """Apply these in order; the resources of what is now in the trial's namespace. Raises what `furnish` raises."""
    resources = set()
    for manifest in before:
        kind = await _type_of(environment, manifest, before)
        namespace = there.of(manifest, namespaced=kind.namespaced)
        if namespace != there.namespace:
            await _put_once(environment, kind, namespace, manifest)
        elif there.is_shared:
            await _put_once(environment, kind, namespace, there.put(manifest))
        else:
            await _apply(environment, kind, namespace, there.put(manifest))
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

    label = f"the prerequisite {name_of(manifest)}"
    try:
        await once_served(applied, environment.bus, label)
    except ApiError as err:
        raise UsageError(f"the API server rejected {label}: {err.message}") from err
