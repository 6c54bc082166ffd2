"""What the API server thinks of a change before anybody makes it: dry runs of patches of an object that is there for that only."""

import asyncio
import uuid
from collections.abc import Sequence

from staleproof.core.plan import Manifest
from staleproof.drive.cluster.api import ApiError
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.trial.clean_up import clean_up
from staleproof.drive.trial.environment import Environment
from staleproof.errors import UsageError

_CRDS = "customresourcedefinitions.apiextensions.k8s.io"
_AT_ONCE = 16
_REST_SECONDS, _REST_LIMIT_SECONDS = 0.25, 2.0
"""The sample is taken away once the controller has done what it does for it, so that nothing is made after that."""


async def refusals(environment: Environment, sample: Manifest, patches: Sequence[Manifest]) -> list[str]:
    """Why the API server refuses each of these merge patches of the sample, in its words; empty for those that it accepts.

    Admission is asked as well, webhooks included. Nothing is written but the sample, in a namespace of its own that goes with it.
    UsageError when the API server refuses the sample itself.
    """
    kind = await resource_type(sample, environment.api)
    name, namespace = sample["metadata"]["name"], f"staleproof-{uuid.uuid4().hex[:8]}"
    path, limit = kind.path(namespace, name), asyncio.Semaphore(_AT_ONCE)

    async def refusal(patch: Manifest) -> str:
        async with limit:
            try:
                await environment.api.call("PATCH", path, patch, content_type="application/merge-patch+json", dryRun="All")
            except ApiError as err:
                return err.message or str(err)
            return ""

    await environment.create_namespace(namespace)
    try:
        placed = sample | {"metadata": {key: value for key, value in sample["metadata"].items() if key != "namespace"}}
        await environment.api.apply(kind, namespace, placed)
        return await asyncio.gather(*map(refusal, patches))
    except ApiError as err:
        raise UsageError(f"the API server rejected {name_of(sample)}: {err.message}") from err
    finally:
        await environment.bus.until_idle(_REST_SECONDS, limit_seconds=_REST_LIMIT_SECONDS)
        await clean_up(environment, namespace, [kind.name])


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
