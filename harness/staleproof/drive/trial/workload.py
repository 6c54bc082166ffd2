"""What the user does to the cluster, step by step, directly at the API server."""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from staleproof.core.history.resource_version import revision
from staleproof.core.operator.ownership import owner_of, owners_above
from staleproof.core.operator.prerequisite import Placement
from staleproof.core.plan.manifest import GIVEN, Manifest, Target, target_of
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import (
    OUTSIDE,
    TOUCHED,
    Apply,
    Delete,
    Edit,
    Heartbeat,
    Lull,
    Patch,
    PatchStatus,
    Recreate,
    Remove,
    Rest,
    Restore,
    Resync,
    Step,
    Touch,
    describe,
    in_parts,
    parts,
)
from staleproof.core.times import DELETED_SECONDS, DEPARTURE_SECONDS, RESYNC_SECONDS, WEBHOOK_RETRY_SECONDS, WEBHOOK_SECONDS
from staleproof.drive.cluster.api import JSON, NAMESPACES, Api, ApiError, ResourceType
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.cluster.truth import Key, Truth
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.trial.event_bus import EventBus
from staleproof.drive.trial.outside import NothingOutside, Outside
from staleproof.errors import SetupError, UsageError

_OF_ITS_OWNER = frozenset({"ownerReferences", "labels", "annotations", "generateName", "finalizers"})
"""Metadata by which an object belongs to what made it, or is found by it."""
_OF_A_JOB = frozenset(f"{domain}{name}" for domain in ("", "batch.kubernetes.io/") for name in ("controller-uid", "job-name"))
_NOT_FOUND, _SERVER_ERROR = 404, 500
_NO_WEBHOOK = re.compile(r"failed calling webhook|conversion webhook for .* failed")
"""As kube-apiserver says that it could not ask one (apiserver/pkg/admission/plugin/webhook, apiextensions-apiserver's conversion);
one that answers and says no is "admission webhook … denied the request"."""


class StillThere(Exception):
    """What a step makes anew has not gone yet: what is applied now would be done to what is on its way out. `waited`: for how many
    seconds."""

    def __init__(self, message: str, waited: float) -> None:
        super().__init__(message)
        self.waited = waited


class Vanished(Exception):
    """The object of a step is not there: another user was quicker, or the step is about what never was."""


class Refused(UsageError):
    """The API server, or an external system, does not accept a step of the workload. `step` is its number."""

    def __init__(self, message: str, step: int) -> None:
        super().__init__(message)
        self.step = step


_ADVICE = (
    "Is it the controller's own webhook, and does it serve it? If nothing is to serve it, take its configuration, or "
    "spec.conversion of the CustomResourceDefinition, out of the manifests."
)


_WRONG_CERTIFICATE = "tls: failed to verify certificate"
_CERTIFICATE_ADVICE = (
    "It is served with another certificate than it was given: does the controller read tls.crt and tls.key in {webhook_cert_dir}?"
)


class Unserved(SetupError):
    """The API server cannot take a step, because nothing answers at a webhook: most often the controller's own."""


async def once_served(
    call: Callable[[], Awaitable[object]], bus: EventBus, label: str, on_unserved: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Make a call, again until the webhooks that the API server asks are served: a controller that was just started may serve its
    own. `label` names the call in messages; `on_unserved` is called before each further attempt.

    Raises:
        Unserved: a webhook does not answer, for longer than the start of a program takes.
        ApiError: the API server refuses for any other reason.
    """
    end = time.monotonic() + WEBHOOK_SECONDS
    while True:
        try:
            await call()
            return
        except ApiError as err:
            if not is_unserved(err):
                raise
            if time.monotonic() >= end:
                advice = _ADVICE if _WRONG_CERTIFICATE not in err.message else _CERTIFICATE_ADVICE
                raise Unserved(f"{label}: the API server answered {err}, for {WEBHOOK_SECONDS:g} s. {advice}") from err
        if on_unserved is not None:
            await on_unserved()
        await bus.until(lambda now: False, limit_seconds=WEBHOOK_RETRY_SECONDS)


@dataclass(frozen=True, slots=True)
class Workload:
    """Does steps where the trial is.

    Attributes:
        outside: the external systems.
        before: what the workload needs, of which steps may take something away and bring it back.
        on_unserved: what is done when a webhook does not answer; empty: nothing.
        child_seconds: how long a child is waited for that a step is about.
        departure_seconds: how long a predecessor may take to go, by the number of the step that makes another in its place; 0:
            no wait.
        primaries: resource and name of those of the workload, as they are called in this trial; the first before the others.
    """

    api: Api
    truth: Truth
    proxy: Proxy
    bus: EventBus
    outside: Outside
    placement: Placement
    before: Sequence[Manifest]
    on_unserved: Callable[[], Awaitable[None]] | None = None
    child_seconds: float = 0.0
    departure_seconds: Callable[[int], float] = lambda _: DEPARTURE_SECONDS
    primaries: Sequence[tuple[str, str]] = ()

    @property
    def namespace(self) -> str:
        """The trial's."""
        return self.placement.namespace

    async def do(self, step: Step, number: int) -> None:
        """Do one step; return once the API server has answered.

        Raises:
            Vanished: the object of the step, or the child that it is about, is not there.
            StillThere: the predecessor of what the step makes does not go.
            Unserved: a webhook does not answer, for longer than the start of a program takes.
            Refused: the API server, or an external system, does not accept what the plan says; its message is passed on.
        """
        for part in parts(step):
            await self._do_part(part, number)

    async def _do_part(self, step: Step, number: int) -> None:
        if isinstance(step, OUTSIDE):
            try:
                return await self.outside.do(step, number)
            except NothingOutside as err:
                raise Vanished(str(err)) from err
            except UsageError as err:
                raise Refused(f"step {number} ({describe(step)}): {err}", number) from err
        label = f"step {number} ({describe(step)})"
        done = self._as_done(step, number)
        try:
            await once_served(lambda: self._do(done, number), self.bus, label, self.on_unserved)
        except ApiError as err:
            words = f"{label}: the API server answered {err}"
            raise (Vanished(words) if err.code == _NOT_FOUND else Refused(words, number)) from err

    async def _do(self, step: Step, number: int) -> None:
        match step:
            case Apply(object=manifest):
                kind = await resource_type(manifest, self.api)
                placed = self.placement.put(manifest)
                await self.departed(step, number, self.departure_seconds(number))
                self._wrote(kind, await self.api.apply(kind, self.namespace, placed))
            case Patch(target=target, patch=patch) | PatchStatus(target=target, patch=patch):
                kind, subresource = await self._type(target), "status" if isinstance(step, PatchStatus) else ""
                moved = self.placement.moved(patch)
                self._wrote(kind, await self.api.merge(kind, self.namespace, self._name(target), moved, subresource=subresource))
            case Touch() | Lull():
                await self._touch_all(step.touches, number)
            case Delete(target=target):
                await self.api.delete(await self._type(target), self.namespace, self._name(target))
            case Resync(resource=resource):
                await self.resync(resource)
            case Recreate() | Remove() | Edit() | Heartbeat():
                await self._do_to_child(step, number)
            case Rest(seconds=seconds):
                await self.bus.until(lambda now: False, limit_seconds=seconds)

    def _as_done(self, step: Step, number: int) -> Step:
        """What is put back is applied. Refused: all trials need what it is about, or what it puts back never was there."""
        if not isinstance(step, Delete | Restore | Patch):
            return step
        named = [each for each in self.before if target_of(each) == step.target]
        given = [each for each in named if self.placement.of(each, namespaced=True) == self.namespace]
        if named and (self.placement.is_shared or not given):
            raise Refused(f"step {number} ({describe(step)}): it is there for all trials, and stays", number)
        if not given and isinstance(step, Restore):
            raise Refused(f"step {number} ({describe(step)}): it is not among what the workload needs", number)
        return Apply(object=given[0]) if isinstance(step, Restore) else step

    async def departed(self, step: Apply, number: int, limit_seconds: float) -> None:
        """Wait for the end of what is being deleted and is to be made anew, so that another incarnation is applied; 0: not at all.
        StillThere when it stays."""
        kind = await resource_type(step.object, self.api)
        namespace, name = self.namespace if kind.namespaced else "", self.placement.put(step.object)["metadata"]["name"]
        key = (kind.name, namespace, name)
        if not limit_seconds or key not in self.truth.objects:
            return
        there = await self._now(kind, namespace, name)  # truth may have yet to hear that it was deleted
        if there is None or "deletionTimestamp" not in there["metadata"]:
            return
        uid = there["metadata"]["uid"]
        if not await self.bus.until(lambda now: self._uid(key) != uid, limit_seconds=limit_seconds):
            held = ", ".join(self.truth.objects.get(key, {}).get("metadata", {}).get("finalizers") or ())
            message = f"step {number} ({describe(step)}): its predecessor was deleted and is still there after {limit_seconds:g} s"
            raise StillThere(message + (f", kept by the finalizer {held}" if held else ""), limit_seconds)

    async def _now(self, kind: ResourceType, namespace: str, name: str) -> JSON | None:
        """The object as the API server has it; None if it is gone."""
        try:
            return await self.api.call("GET", kind.path(namespace, name))
        except ApiError as err:
            if err.code == _NOT_FOUND:
                return None
            raise

    async def resync(self, resource: str, *, limit_seconds: float = RESYNC_SECONDS) -> bool:
        """End the controller's watches of the resource with 410 and wait until it watches again; whether it does."""
        before = self._streams(resource)
        if await self.proxy.expire(resource) == 0:
            return False
        return await self.bus.until(
            lambda now: bool(self._streams(resource) - before) and not self._streams(resource) & before, limit_seconds=limit_seconds
        )

    def _streams(self, resource: str) -> set[int]:
        return {number for number, stream in self.bus.activity.watches.streams.items() if stream.resource == resource}

    async def _type(self, target: Target) -> ResourceType:
        return await resource_type(
            {"apiVersion": target.api_version, "kind": target.kind, "metadata": {"name": target.name}}, self.api
        )

    def _name(self, target: Target) -> str:
        return self.placement.name(target.kind, target.name)

    async def _touch_all(self, targets: tuple[Target, ...], number: int) -> None:
        for target in targets:
            await self._touch(await self._type(target), self.namespace, self._name(target), number)

    async def _touch(self, kind: ResourceType, namespace: str, name: str, number: int) -> None:
        """Change an annotation: another value in each step."""
        patch = {"metadata": {"annotations": {TOUCHED: str(number)}}}
        self._wrote(kind, await self.api.merge(kind, namespace, name, patch))

    async def _do_to_child(self, step: Recreate | Remove | Edit | Heartbeat, number: int) -> None:
        await self.bus.until(lambda now: len(self._children(step.resource)) >= abs(step.nth), limit_seconds=self.child_seconds)
        children = self._children(step.resource)
        try:
            child = children[step.nth - 1 if step.nth > 0 else step.nth]
        except IndexError:
            there = "there is 1 such child" if len(children) == 1 else f"there are {len(children)} such children"
            raise Vanished(f"step {number} ({describe(step)}): {there}") from None
        kind, namespace, name = await resource_type(child, self.api), _where(child), child["metadata"]["name"]
        match step:
            case Recreate(foreign=foreign):
                live = await self._live(kind, child)
                again = _again(live, owner=await self._stranger(kind, namespace)) if foreign else _again(live)
                await self._recreate(kind, live, again)
            case Remove():
                await self.api.delete(kind, namespace, name, now=True)
            case Edit(patch=patch):
                self._wrote(kind, await self.api.merge(kind, namespace, name, patch))
            case Heartbeat():
                await self._touch(kind, namespace, name, number)

    async def _live(self, kind: ResourceType, child: JSON) -> JSON:
        """The child as the API server has it: a Secret is known here without its payload."""
        live = await self._now(kind, _where(child), child["metadata"]["name"])
        if live is None:
            raise Vanished(f"{name_of(child)} is gone")
        return live

    async def _stranger(self, child: ResourceType, namespace: str) -> JSON:
        """An object without an owner, that no controller works on; where it may be the child's owner."""
        if not child.namespaced:
            return await self.api.call("GET", NAMESPACES.path(name=self.namespace))
        scope = self.bus.scope
        name = "somebody-else" if namespace == scope.namespace else f"somebody-else{scope.mark}"
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
        kind = await resource_type(made, self.api)
        if namespace != scope.namespace:
            scope.claim(kind.name, namespace, name)
        answer = await self.api.apply(kind, namespace, made)
        self._wrote(kind, answer)
        return answer

    async def _recreate(self, kind: ResourceType, child: JSON, again: JSON) -> None:
        """Delete a child and create another one in its place, as `kubectl replace --force` does."""
        namespace = _where(child)
        key = (kind.name, namespace, child["metadata"]["name"])
        await self.api.delete(kind, namespace, child["metadata"]["name"], now=True)
        if not await self.bus.until(lambda now: self._uid(key) != child["metadata"]["uid"], limit_seconds=DELETED_SECONDS):
            raise SetupError(f"{name_of(child)} was deleted and is still there after {DELETED_SECONDS:g} s; has it a finalizer?")
        try:
            self._wrote(kind, await self.api.call("POST", kind.path(namespace), again))
        except ApiError as err:
            if err.code != 409:  # the controller was quicker: there is a new incarnation all the same
                raise

    def _uid(self, key: Key) -> str:
        """The UID of the object that has this name now; empty when there is none."""
        return str(self.truth.objects.get(key, {}).get("metadata", {}).get("uid", ""))

    def _wrote(self, kind: ResourceType, answer: JSON) -> None:
        """Note that the step is not over before this commit has come to the controller's watches, or is withheld from them."""
        at = revision(answer.get("metadata", {}).get("resourceVersion", ""))
        if at is not None:
            self.bus.activity.expect(kind.name, at, time.monotonic())

    def _children(self, resource: str) -> list[JSON]:
        """Live objects that have an owner, by name; as long as the first primary is there, none that belongs to another one: which
        child a step is about must not depend on how far the controller is with that."""
        live = self.bus.scope.mine(self.truth.objects)
        found = [obj for key, obj in sorted(live.items()) if key[0] == resource and "deletionTimestamp" not in obj["metadata"]]
        uids = {(kind, name): _uid(obj) for (kind, _, name), obj in live.items()}
        another = {uids[each] for each in self.primaries[1:] if each in uids and self.primaries[0] in uids}
        owners = {_uid(obj): str((owner_of(obj) or {}).get("uid", "")) for obj in live.values()}
        return [obj for obj in found if owner_of(obj) is not None and another.isdisjoint(owners_above(_uid(obj), owners))]


def _uid(obj: JSON) -> str:
    return str(obj["metadata"].get("uid", ""))


def _where(obj: JSON) -> str:
    """Its namespace; empty for none."""
    return str(obj["metadata"].get("namespace", ""))


def is_unserved(error: ApiError) -> bool:
    """Whether the API server did not do it because a webhook could not be asked: not the user's mistake."""
    return error.code >= _SERVER_ERROR and bool(_NO_WEBHOOK.search(error.message))


def _again(obj: JSON, *, owner: JSON | None = None) -> JSON:
    """The same object, to be created anew; for an `owner`, it is that one's alone, as if it had never been another's."""
    left_out = GIVEN if owner is None else GIVEN | _OF_ITS_OWNER
    metadata = {key: value for key, value in obj["metadata"].items() if key not in left_out}
    if owner is not None:
        known = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True}
        metadata["ownerReferences"] = [{**known, "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]
    return {key: value for key, value in obj.items() if key != "status"} | {"metadata": metadata} | _job_spec(obj)


def _job_spec(obj: JSON) -> JSON:
    """The spec of a Job without the selector, and the labels for it, that the API server makes for each Job anew and accepts from
    no client; nothing for anything else."""
    spec = obj.get("spec") or {}
    if obj.get("kind") != "Job" or spec.get("manualSelector"):
        return {}
    template = spec["template"]
    metadata = template.get("metadata") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key not in _OF_A_JOB}
    kept = {key: value for key, value in spec.items() if key != "selector"}
    return {"spec": {**kept, "template": {**template, "metadata": {**metadata, "labels": labels}}}}


def primaries_of(plan: Plan) -> list[tuple[str, str, str]]:
    """apiVersion, kind and name of everything that the workload applies, each once."""
    applied = [step.object for step in in_parts(plan.steps) if isinstance(step, Apply)]
    return list(dict.fromkeys((m["apiVersion"], m["kind"], m["metadata"]["name"]) for m in applied))
