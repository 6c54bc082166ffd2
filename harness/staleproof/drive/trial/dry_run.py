"""What the API server thinks of a change, and of taking it back, before a run makes it: tried on an object that is there for that
only."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.move import Move
from staleproof.core.plan.step import Apply
from staleproof.core.times import BRIEF_LIMIT_SECONDS, IDLE_SECONDS
from staleproof.drive.cluster.api import ApiError, ResourceType
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.trial.clean_up import clean_up
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.placing import place
from staleproof.drive.trial.prerequisites import introduce, put
from staleproof.drive.trial.workload import is_unserved, once_served
from staleproof.errors import UsageError

_CRDS = "customresourcedefinitions.apiextensions.k8s.io"
_AT_ONCE = 16
_UNSURE = (404, 409, 429)
"""Answers that tell nothing of what was asked for: the object is gone, others write it too, or there is too much to do."""


async def refusals(
    environment: Environment, sample: Manifest, before: Sequence[Manifest], patches: Sequence[Manifest]
) -> list[str]:
    """Why the API server refuses each of these merge patches of the sample, in its words; empty for those that it accepts.

    Admission is asked as well, webhooks included. Nothing is written but the sample and what it needs (`before`), in a namespace of
    its own that goes with it.
    UsageError when the API server refuses the sample itself.
    """
    limit = asyncio.Semaphore(_AT_ONCE)

    async def refusal(patch: Manifest) -> str:
        async with limit:
            try:
                await environment.api.call("PATCH", path, patch, content_type="application/merge-patch+json", dryRun="All")
            except ApiError as err:
                return err.message or str(err)
            return ""

    async with _placed(environment, sample, before) as (kind, namespace, name):
        path = kind.path(namespace, name)
        return await asyncio.gather(*map(refusal, patches))


async def refused_returns(
    environment: Environment, sample: Manifest, before: Sequence[Manifest], moves: Sequence[Move]
) -> list[str]:
    """Why the API server refuses to take each of these moves back, in its words; empty for those that it lets go, and where that
    does not show.

    A dry run cannot tell, because it builds on nothing but what is stored: each is made and taken back, the next one on the same
    object, or on another where this one stays changed. A controller that exits meanwhile does so without any fault, so it is not
    taken for what an earlier trial left behind. UsageError when the API server refuses the sample itself.
    """
    answers: list[str] = []
    exited = environment.lives.exited
    while len(answers) < len(moves):
        async with _placed(environment, sample, before) as (kind, namespace, name):
            for move in moves[len(answers) :]:
                answers.append(await _refused_return(environment, kind, namespace, name, move))
                if answers[-1]:
                    break
    environment.lives.exited = exited
    return answers


async def refused_in_turn(
    environment: Environment, sample: Manifest, before: Sequence[Manifest], patches: Sequence[Manifest]
) -> list[str]:
    """Why the API server refuses each of these merge patches, in its words, when they are made one after the other on the same
    object; empty for those that it accepts, and where that does not show. UsageError when it refuses the sample itself."""
    answers: list[str] = []
    exited = environment.lives.exited
    async with _placed(environment, sample, before) as (kind, namespace, name):
        for patch in patches:
            try:
                await environment.api.merge(kind, namespace, name, patch)
                answers.append("")
            except ApiError as err:
                answers.append(_reason(err))
    environment.lives.exited = exited
    return answers


def _reason(err: ApiError) -> str:
    """Empty where it tells nothing of what was asked for."""
    return "" if err.code in _UNSURE or is_unserved(err) else err.message or str(err)


async def _refused_return(environment: Environment, kind: ResourceType, namespace: str, name: str, move: Move) -> str:
    """Make a move and take it back. Where it cannot even be made, or the object is gone, or no answer comes, nothing is known."""
    is_made = False
    try:
        await environment.api.merge(kind, namespace, name, move.do)
        is_made = True
        await environment.api.merge(kind, namespace, name, move.undo)
    except ApiError as err:
        return _reason(err) if is_made else ""
    return ""


@asynccontextmanager
async def _placed(
    environment: Environment, sample: Manifest, before: Sequence[Manifest]
) -> AsyncIterator[tuple[ResourceType, str, str]]:
    """The sample with what it needs, in a namespace of its own that goes with it; its type, the namespace, and its name there.
    UsageError when the API server refuses one of them. An external system that is shared is waited for."""
    async with environment.external.alone, _alone_placed(environment, sample, before) as found:
        yield found


@asynccontextmanager
async def _alone_placed(
    environment: Environment, sample: Manifest, before: Sequence[Manifest]
) -> AsyncIterator[tuple[ResourceType, str, str]]:
    await introduce(environment, [sample], before)
    kind = await resource_type(sample, environment.api)
    scope, there = await place(environment, [Apply(object=sample)], before)
    namespace, name = there.namespace, there.name(kind.kind, sample["metadata"]["name"])
    await environment.create_namespace(scope.namespace)
    try:
        await put(environment, before, there)
        try:
            await once_served(lambda: environment.api.apply(kind, namespace, there.put(sample)), environment.bus, name_of(sample))
        except ApiError as err:
            raise UsageError(f"the API server rejected {name_of(sample)}: {err.message}") from err
        yield kind, namespace, name
    finally:
        await environment.bus.until_idle(IDLE_SECONDS, limit_seconds=BRIEF_LIMIT_SECONDS)
        await clean_up(environment, scope, [kind.name])


async def documents(environment: Environment, sample: Manifest) -> tuple[Manifest | None, Manifest | None]:
    """The CustomResourceDefinition of the sample's kind, or else the API server's OpenAPI document of its group and version."""
    kind = await resource_type(sample, environment.api)
    crd = environment.truth.objects.get((_CRDS, "", kind.name))
    if crd is not None:
        return crd, None
    version = kind.api_version
    try:
        return None, await environment.api.call("GET", f"/openapi/v3/{'apis' if '/' in version else 'api'}/{version}")
    except ApiError:
        return None, None  # an API server without it; the sample still tells
