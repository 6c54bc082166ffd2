"""What is left of a trial, or of a probe, is removed."""

import contextlib
import time
from collections.abc import Sequence

from staleproof.core.history.scope import Scope
from staleproof.core.times import BRIEF_LIMIT_SECONDS, CLEAN_UP_IDLE_SECONDS, NAME_FREE_SECONDS
from staleproof.drive.cluster.api import JSON, NAMESPACES, ApiError
from staleproof.drive.cluster.truth import Key
from staleproof.drive.trial.environment import Environment

_LEFT_ALONE = frozenset({"events", "serviceaccounts"})


async def clean_up(environment: Environment, scope: Scope, primaries: Sequence[str]) -> None:
    """Remove the primaries, then whatever else is left, wherever it is: namespaces never finish terminating without their
    controller.

    Nothing here can spoil the trial that is over, and the next one has a namespace of its own. Before that begins, the controller
    has come to rest, and if it watches namespaces, this one is gone (`Environment.controller_ready`). Only a name that is the same
    in each trial must be free again.
    """
    environment.bus.activity.begin("", time.monotonic())
    for is_primary in (True, False):
        for (resource, namespace, _), obj in _left(environment, scope):
            stays = resource in _LEFT_ALONE and namespace == scope.namespace
            if (resource in primaries) is is_primary and not stays:
                await _remove(environment, resource, namespace, obj)
        if is_primary:
            await environment.bus.until_idle(CLEAN_UP_IDLE_SECONDS, limit_seconds=BRIEF_LIMIT_SECONDS)
    await environment.external.reset()
    environment.over.add(scope.namespace)
    if environment.ends_namespaces:  # elsewhere nothing would finish the deletion, and the whole cluster goes anyway
        await environment.api.delete(NAMESPACES, "", scope.namespace)
        if environment.shows_namespaces and not environment.is_users_cluster:
            await _finish(environment, scope.namespace)
    if scope.has_fixed_names:
        await environment.bus.until(
            lambda now: all(key[1] == scope.namespace for key, _ in _left(environment, scope)), limit_seconds=NAME_FREE_SECONDS
        )


async def _finish(environment: Environment, namespace: str) -> None:
    """End it at once: the namespace controller waits five seconds first. What it would remove does no harm in a cluster of ours."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}, "spec": {"finalizers": []}}
    with contextlib.suppress(ApiError):
        await environment.api.call("PUT", f"{NAMESPACES.path('', namespace)}/finalize", body)


def _left(environment: Environment, scope: Scope) -> list[tuple[Key, JSON]]:
    return sorted(scope.mine(environment.truth.objects).items(), key=lambda each: each[0])


async def _remove(environment: Environment, resource: str, namespace: str, obj: JSON) -> None:
    """Delete it, and let it go: in this order, as a controller may put back a finalizer of what is not being deleted."""
    api = environment.api
    kind = await api.type_named(resource)
    if kind is None or "delete" not in kind.verbs or (kind.name == NAMESPACES.name and not environment.ends_namespaces):
        return
    with contextlib.suppress(ApiError):
        await api.delete(kind, namespace, obj["metadata"]["name"], now=True)
    if obj["metadata"].get("finalizers"):
        with contextlib.suppress(ApiError):  # also off what a webhook does not let go: its namespace would never be gone
            await api.merge(kind, namespace, obj["metadata"]["name"], {"metadata": {"finalizers": None}})
