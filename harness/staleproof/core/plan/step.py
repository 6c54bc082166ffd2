"""Steps: what users, administrators and other controllers do in a trial."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from staleproof.core.fault.model import Seconds, Value
from staleproof.core.history.entry import ExternalChange, SystemState
from staleproof.core.plan.manifest import NEEDED, Manifest, Target, is_object, masked_manifest
from staleproof.core.plan.masking import SECRET, Placeholders, elided

_SECRETS = "secrets"
TOUCHED = "staleproof.dev/touched"
"""The annotation that a touch changes, and a heartbeat."""


TOGETHER = "together"
"""What a step is called in which several things are done at once."""


class _Step(Value, frozen=True, kw_only=True, tag_field="do", tag=True):
    pass


class Apply(_Step, frozen=True, kw_only=True, tag="apply"):
    """Create the object, or update it if it exists. The runner puts it into the trial's namespace."""

    object: Manifest


class Patch(_Step, frozen=True, kw_only=True, tag="patch"):
    """JSON merge patch of an object of the workload, e.g. `{"spec": {"replicas": 5}}`."""

    target: Target
    patch: Manifest


class PatchStatus(_Step, frozen=True, kw_only=True, tag="patch-status"):
    """JSON merge patch of the status of an object of the workload, e.g. `{"status": {"conditions": null}}`.

    A status is the controller's to write. Others write it, too: a restore from a backup, `kubectl edit --subresource=status`.
    """

    target: Target
    patch: Manifest


class Touch(_Step, frozen=True, kw_only=True, tag="touch"):
    """Change an annotation of an object: the controller looks again, and has nothing new to do.

    Many look again only when an annotation, a label or the generation changes (predicates of controller-runtime, handlers of kopf).
    References are touched alike, so what a controller copies from it, or hashes, is the same there.
    """

    target: Target

    @property
    def touches(self) -> tuple[Target, ...]:
        return (self.target,)


class Delete(_Step, frozen=True, kw_only=True, tag="delete"):
    """Delete an object of the workload, or what it needs (`Plan.before`). Dependents are left to the controller or a companion."""

    target: Target


class Restore(_Step, frozen=True, kw_only=True, tag="restore"):
    """Put back what the workload needs (`Plan.before`) and a `Delete` has taken away: as it was, and with a new uid."""

    target: Target


class Resync(_Step, frozen=True, kw_only=True, tag="resync"):
    """End the controller's watches of this resource with 410: it lists again and reconciles everything though nothing changed."""

    resource: str


class Recreate(_Step, frozen=True, kw_only=True, tag="recreate"):
    """Delete a child that the controller made and create it again under the same name: a new incarnation with a new uid.

    `nth` counts the live children of the resource by name, from 1; -1 is the last. Those of a second primary do not count while the
    first is there. `foreign`: the new one is another user's, with another owner, and without labels and annotations.
    """

    resource: str
    nth: int = -1
    foreign: bool = False


class Remove(_Step, frozen=True, kw_only=True, tag="remove"):
    """Delete a child that the controller made, behind its back: as another user does, or an eviction.

    `nth` counts as in `Recreate`.
    """

    resource: str
    nth: int = -1


class Edit(_Step, frozen=True, kw_only=True, tag="edit"):
    """Change a child that the controller made by a JSON merge patch, behind its back: as another user's `kubectl edit` does.

    `nth` counts as in `Recreate`.
    """

    resource: str
    nth: int = 1
    patch: Manifest

    @property
    def sets_aside(self) -> bool:
        """Whether the child may belong to no primary afterwards, because its labels or its owner changed."""
        metadata = self.patch.get("metadata")
        return isinstance(metadata, dict) and not metadata.keys().isdisjoint(("labels", "ownerReferences"))


class Heartbeat(_Step, frozen=True, kw_only=True, tag="heartbeat"):
    """Touch a child that the controller made, as a kubelet changes a pod's status; nothing new is to be done.

    `nth` counts as in `Recreate`.
    """

    resource: str
    nth: int = 1


class Lull(_Step, frozen=True, kw_only=True, tag="lull"):
    """Ask for nothing and let the controller come to rest: where a woken reference (`but_for`) makes it look again.

    `touches`: objects of which an annotation changes meanwhile.
    """

    touches: tuple[Target, ...] = ()


class Rest(_Step, frozen=True, kw_only=True, tag="rest"):
    """Let so many seconds pass, so that a hold outlasts a wait of the controller's own."""

    seconds: Seconds


class Drift(_Step, frozen=True, kw_only=True, tag="drift"):
    """Change something in an external system that belongs to an object of the trial, behind the controller's back.

    `kind` as the system calls it (`roles`). `nth` counts what of the kind belongs to the trial, by name, as in `Recreate`. It is
    deleted; or `fields` of it are changed; or it is created anew by another user, with these fields and no others. With `name`
    something of that name is created, whatever there is, or deleted, whatever it belongs to: `{namespace}` in it stands for the
    trial's, `{mark}` for its mark.
    What is secret in `fields` is not written down: texts in fields whose names say so (password, secret, token, credential, key),
    and any that is marked: `{"$secret": "…"}` in its place.
    `notifies`: the system notifies its listeners, if it is one that does.
    """

    system: str
    kind: str
    change: ExternalChange = "deleted"
    nth: int = 1
    fields: dict[str, Any] = msgspec.field(default_factory=dict)
    name: str = ""
    notifies: bool = True


class AwaitRepair(_Step, frozen=True, kw_only=True, tag="await-repair"):
    """Ask for nothing until the controller has repaired what drifted in the external systems, or so many seconds are over."""

    seconds: Seconds


class TurnSystem(_Step, frozen=True, kw_only=True, tag="turn-system"):
    """Have an external system down, or answering so many seconds late, or up and in time again."""

    system: str
    state: SystemState
    seconds: Seconds | None = None


class Together(_Step, frozen=True, kw_only=True, tag=TOGETHER):
    """Do all of this to objects of the workload, one right after the other, and wait for the controller only then."""

    steps: tuple[Apply | Patch | Touch | Delete, ...]


Step = (
    Apply
    | Patch
    | PatchStatus
    | Touch
    | Delete
    | Restore
    | Resync
    | Recreate
    | Remove
    | Edit
    | Heartbeat
    | Lull
    | Rest
    | Drift
    | AwaitRepair
    | TurnSystem
    | Together
)
OUTSIDE = (Drift, AwaitRepair, TurnSystem)
"""What is done to external systems, or waits for them."""


def parts(step: Step) -> tuple[Step, ...]:
    """What is done in a step, in order: the step itself, unless it is several things together."""
    return step.steps if isinstance(step, Together) else (step,)


def in_parts(steps: Iterable[Step]) -> Iterator[Step]:
    """All that is done in these steps, in order."""
    return (part for step in steps for part in parts(step))


def at_once(steps: Iterable[Apply | Patch | Touch | Delete]) -> Step | None:
    """One step that does all of this; None when there is nothing to do."""
    done = tuple(steps)
    return Together(steps=done) if len(done) > 1 else done[0] if done else None


def is_workload(step: Step) -> bool:
    """Whether the step belongs to the workload; the others only make the controller look again, and references have none."""
    return not isinstance(step, Resync | Lull)


def sets_aside(steps: Iterable[Step]) -> bool:
    """Whether one of them sets a child aside: a new life of the controller, which does not remember that it made that one, may well
    make another, and is right."""
    return any(isinstance(step, Edit) and step.sets_aside for step in steps)


def removes(step: Step) -> bool:
    """Whether it changes an object of the workload by taking something out of it, its metadata left aside."""
    patches = (part.patch for part in parts(step) if isinstance(part, Patch))
    return any("metadata" not in patch and _has_null(patch) for patch in patches)


def _has_null(patch: Manifest) -> bool:
    return any(value is None or (isinstance(value, dict) and _has_null(value)) for value in patch.values())


def problems_of(step: Step) -> Iterator[str]:
    """What makes no sense in a step, in words."""
    match step:
        case Apply(object=manifest) if not is_object(manifest):
            yield f"object needs {NEEDED}"
        case PatchStatus(patch=patch) if patch.keys() != {"status"}:
            yield "patch needs status and nothing else, because the rest of an object is not changed by way of its status"
        case Recreate(nth=0) | Remove(nth=0) | Edit(nth=0) | Heartbeat(nth=0) | Drift(nth=0):
            yield "nth is 0, children are counted from 1, or from -1 backwards"
        case Drift() | TurnSystem():
            yield from _outside_problems(step)
        case Together(steps=steps):
            yield from [] if steps else ["steps is empty, and so there is nothing to do"]
            yield from (problem for part in steps for problem in problems_of(part))


def _outside_problems(step: Drift | TurnSystem) -> Iterator[str]:
    match step:
        case Drift(change="changed", fields=fields) if not fields:
            yield "fields is empty, and so there is nothing to change"
        case Drift(change="deleted", fields=fields) if fields:
            yield "fields go with what is changed or created, not with what is deleted"
        case Drift(change="changed", name=name) if name:
            yield "a name goes with what is created or deleted; nth says what is changed"
        case TurnSystem(state=state, seconds=seconds) if (state == "slow") is (seconds is None):
            yield "a slow system needs seconds" if seconds is None else f"only a slow system has seconds, not one that is {state}"


def masked_step(step: Step, placeholders: Placeholders) -> Step:
    """A step as it is written (`masked_manifest`)."""
    match step:
        case Apply(object=manifest):
            return Apply(object=masked_manifest(manifest, placeholders))
        case Patch(target=target, patch=patch) if target.kind == SECRET:
            return Patch(target=target, patch=placeholders.secret(patch))
        case Edit(resource=resource, patch=patch) if resource == _SECRETS:
            return msgspec.structs.replace(step, patch=placeholders.secret(patch))
        case Drift(fields=fields) if fields:
            return msgspec.structs.replace(step, fields=placeholders.fields(fields))
        case Together(steps=steps):
            return msgspec.structs.replace(step, steps=tuple(masked_step(part, placeholders) for part in steps))
    return step


def describe(step: Step) -> str:
    """A step in a few words, for the timeline and the story."""
    return "; ".join(_outside_in_words(part) if isinstance(part, OUTSIDE) else _in_words(part) for part in parts(step))


def _in_words(step: Step) -> str:
    match step:
        case Apply(object=manifest):
            return f"apply {manifest.get('kind')}/{manifest.get('metadata', {}).get('name')}"
        case Patch() | PatchStatus() | Edit():
            return _patch_in_words(step)
        case Touch(target=target) | Delete(target=target) | Restore(target=target):
            return f"{step.tag} {target.kind}/{target.name}"
        case Resync(resource=resource):
            return f"resync {resource}"
        case Recreate(resource=resource, nth=nth) | Remove(resource=resource, nth=nth) | Heartbeat(resource=resource, nth=nth):
            whose = " as another user's" if isinstance(step, Recreate) and step.foreign else ""
            return f"{step.tag} {resource} number {nth}{whose}"
        case Lull(touches=touches):
            return ", ".join(["come to rest", *(f"touch {each.kind}/{each.name}" for each in touches)])
        case Rest(seconds=seconds):
            return f"rest {seconds:g} s"
    return step.tag


def _outside_in_words(step: Drift | AwaitRepair | TurnSystem) -> str:
    match step:
        case AwaitRepair(seconds=seconds):
            return f"ask for nothing until what drifted is repaired, for at most {seconds:g} s"
        case TurnSystem(system=system, state="slow", seconds=seconds):
            return f"{system} answers {seconds:g} s late"
        case TurnSystem(system=system, state=state):
            return f"{system} is {state}"
        case Drift(system=system, kind=kind, change=change, name=name, fields=fields, nth=nth):
            what = f"another user has {change} {name or f'number {nth}'} of the {kind} in {system}"
            what += "" if step.notifies else ", and no notification is sent"
            return f"{what}: {', '.join(sorted(fields))}" if fields else what


def _patch_in_words(step: Patch | PatchStatus | Edit) -> str:
    if isinstance(step, Edit):
        what, is_secret = f"edit {step.resource} number {step.nth}", step.resource == _SECRETS
    else:
        what, is_secret = f"{step.tag} {step.target.kind}/{step.target.name}", step.target.kind == SECRET
    return f"{what} {msgspec.json.encode(elided(step.patch) if is_secret else step.patch).decode()}"
