"""What is left of a trial, or of a probe, is removed."""

import contextlib
import time
from collections.abc import Sequence

from staleproof.drive.cluster.api import JSON, NAMESPACES, Api, ApiError, ResourceType
from staleproof.drive.trial.environment import Environment

_LEFT_ALONE = frozenset({"events", "serviceaccounts"})
_REST_SECONDS = 0.06


async def clean_up(environment: Environment, namespace: str, primaries: Sequence[str]) -> None:
    """Remove the primaries, then whatever else is left: namespaces never finish terminating without their controller.

    Nothing here can spoil the trial that is over, and the next one has a namespace of its own; before it begins, it waits until the
    controller has come to rest (`Environment.controller_ready`).
    """
    environment.bus.activity.begin("", time.monotonic())
    for is_primary in (True, False):
        for (resource, _, _), obj in sorted(environment.truth.live(namespace).items()):
            kind = await environment.api.type_named(resource)
            if kind is None or resource in _LEFT_ALONE or "delete" not in kind.verbs:
                continue
            if (resource in primaries) is is_primary:
                await _remove(environment.api, kind, namespace, obj)
        if is_primary:
            await environment.bus.until_idle(_REST_SECONDS, limit_seconds=2.0)
    if environment.ends_namespaces:  # elsewhere nobody would finish the deletion, and the whole cluster goes anyway
        await environment.api.delete(NAMESPACES, "", namespace)


async def _remove(api: Api, kind: ResourceType, namespace: str, obj: JSON) -> None:
    with contextlib.suppress(ApiError):
        if obj["metadata"].get("finalizers"):
            await api.merge(kind, namespace, obj["metadata"]["name"], {"metadata": {"finalizers": None}})
        await api.delete(kind, namespace, obj["metadata"]["name"], now=True)
