"""Watching a controller work without faults, to derive plans from what it does.

It is given the workloads that plans use, so that these runs serve as their references, too.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, get_args

from staleproof.assess.session import Session
from staleproof.checks.facts.object_history import ObjectHistory, object_history
from staleproof.checks.trial import Trial
from staleproof.core.entry import Closed, Committed, Delivered, Entry, FaultFired, Metrics, Opened, StepBegan
from staleproof.core.fault import PastSnapshot, Restart, Window
from staleproof.core.history import History, is_work, requests
from staleproof.core.observed import ChildKind, Observed, WriteVerb, Written
from staleproof.core.pace import longest_pause
from staleproof.core.plan import Apply, Manifest, Patch, Plan, Settle, Step, Touch
from staleproof.core.request import BOOKKEEPING
from staleproof.draw import workloads
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.trial.environment import Environment
from staleproof.errors import UsageError

_AT_ONCE_SECONDS = 0.5
_PATIENT = Settle(quiet_seconds=5.0, deadline_seconds=30.0)
"""Long enough to see what a controller does some seconds later by itself. Each sample is watched like this once, after one step, so
that nothing else can wake the controller in the meantime."""
_CANDIDATES = 3
"""How many fields of a sample are tried as something that can be changed."""


def observe(session: Session, sample: Manifest) -> Observed:
    """Apply, change, scale, touch and delete the sample without any fault and note what the controller writes for it. UsageError
    when the API server does not know or accept the sample, or the controller does nothing for it."""
    resource, scale_path = session.call(lambda environment: _describe(environment, sample))
    bare = Observed(sample, resource, scale_path, (), manifests=session.options.manifests)
    bare = replace(bare, pause_seconds=longest_pause(session.watch(_plan(bare, (Apply(object=sample),), _PATIENT))))
    bare = _with_change(session, bare)
    life = session.repeat(_plan(bare, workloads.life(bare).steps))
    children = _children(life)
    if not any(reference.complete for reference in life) or not children:
        raise UsageError(
            f"the controller created nothing for {name_of(sample)} in {life[0].entries[-1].at:.1f} s: is it the controller of this "
            f"kind, and is the sample complete? See {session.run.folder / 'controller.log'}"
        )
    death = session.repeat(_plan(bare, workloads.death(bare).steps))
    seen = replace(
        bare, children=children, watched=_watched(life, resource), life=_written(life), death=_written(death),
        has_metrics=any(isinstance(entry, Metrics) for entry in life[0].entries),
        keeps_finalizer=_keeps_finalizer(life, resource), bookmarked=_bookmarked(life),
        asks_bookmarks=any(isinstance(entry, Opened) and entry.bookmarks for entry in life[0].entries),
    )  # fmt: skip
    return _with_beginning(session, seen)


def _plan(observed: Observed, steps: tuple[Step, ...], settle: Settle | None = None) -> Plan:
    settle = settle or observed.settle(resync=False)
    return Plan(scenario="observe", title="what the controller does without any fault", steps=steps, settle=settle)


# --- what can be done to the primary ---------------------------------------------------------------------------------------------


async def _describe(environment: Environment, sample: Manifest) -> tuple[str, tuple[str, ...]]:
    """The sample's resource, and the path to its replica count, which is empty if it has none."""
    kind = await resource_type(sample, environment.api)
    if not kind.namespaced:
        raise UsageError(f"{name_of(sample)} is cluster-scoped; only namespaced primaries can be tested in this version")
    crd = environment.truth.objects.get(("customresourcedefinitions.apiextensions.k8s.io", "", kind.name))
    for version in crd["spec"]["versions"] if crd else ():
        path = (version.get("subresources") or {}).get("scale", {}).get("specReplicasPath")
        if path:
            return kind.name, tuple(path.strip(".").split("."))
    replicas = (sample.get("spec") or {}).get("replicas")
    return kind.name, ("spec", "replicas") if isinstance(replicas, int) else ()


def _with_change(session: Session, bare: Observed) -> Observed:
    """With the first field found whose change the API server accepts and the controller passes on to a child."""
    for change in list(_changes(bare))[:_CANDIDATES]:
        try:
            history = session.watch(_plan(bare, (Apply(object=bare.sample), change)))
        except UsageError:
            continue  # immutable, or not any text will do
        if any(each.step == 2 and each.resource != bare.resource and not each.subresource for each in _written([history])):
            return replace(bare, change=change)
    return bare


def _changes(bare: Observed) -> Iterator[Patch]:
    """A patch for each text in the sample's spec that adds a little to it, those at the top first."""
    spec = bare.sample.get("spec") or {}
    for key, value in _texts(spec):
        yield Patch(target=bare.target, patch={"spec": {key: f"{value}-changed"}})
    for outer, inner in ((key, value) for key, value in spec.items() if isinstance(value, dict)):
        for key, value in _texts(inner):
            yield Patch(target=bare.target, patch={"spec": {outer: {key: f"{value}-changed"}}})


def _texts(fields: dict[str, Any]) -> Iterator[tuple[str, str]]:
    return ((key, value) for key, value in fields.items() if isinstance(value, str) and value)


# --- what the controller does ----------------------------------------------------------------------------------------------------


def _children(references: Sequence[History]) -> tuple[ChildKind, ...]:
    made = [object_history(Trial(reference)) for reference in references]
    stable = set.intersection(*({child.named for child in each.objects.values()} for each in made))
    resources = {child.resource for each in made for child in each.objects.values() if child.creator}
    kinds = []
    for resource in sorted(resources):
        kept = all(child.named in stable for child in made[0].objects.values() if child.resource == resource and child.creator)
        watched = any(isinstance(entry, Opened) and entry.resource == resource for entry in references[0].entries)
        kinds.append(ChildKind(resource, _least(made, resource, "creator"), _least(made, resource, "deleter"), kept, watched))
    return tuple(sorted(kinds, key=lambda kind: -kind.creates))


def _least(made: Sequence[ObjectHistory], resource: str, who: str) -> int:
    """How many children of the resource have such a maker in every reference, at least."""
    return min(
        sum(child.resource == resource and getattr(child, who) is not None for child in each.objects.values()) for each in made
    )


def _written(references: Sequence[History]) -> tuple[Written, ...]:
    """The controller's successful writes by step; of each kind the fewest in any reference."""
    counts = [_writes(reference) for reference in references]
    kinds = sorted(set.intersection(*(set(each) for each in counts)))
    return tuple(Written(*kind, times=min(each[kind] for each in counts)) for kind in kinds)


def _writes(history: History) -> Counter[tuple[int, str, WriteVerb, str]]:
    began = [entry.at for entry in history.entries if isinstance(entry, StepBegan)]
    found: Counter[tuple[int, str, WriteVerb, str]] = Counter()
    for request in requests(history.entries):
        asked = request.asked
        if is_work(asked) and asked.verb in get_args(WriteVerb) and request.succeeded and not asked.dry_run:
            step = sum(at <= asked.at for at in began)
            found[step, asked.resource, asked.verb, asked.subresource] += 1  # type: ignore[index]  # one of those verbs
    return found


def _watched(references: Sequence[History], primary: str) -> tuple[str, ...]:
    """The resources that are watched in every reference, the primary first."""
    each = [{entry.resource for entry in history.entries if isinstance(entry, Opened)} - BOOKKEEPING for history in references]
    return tuple(sorted(set.intersection(*each), key=lambda resource: (resource != primary, resource)))


def _keeps_finalizer(references: Sequence[History], primary: str) -> bool:
    commits = [entry for entry in references[0].entries if isinstance(entry, Committed) and entry.resource == primary]
    return any(commit.object.get("metadata", {}).get("finalizers") for commit in commits)


def _bookmarked(references: Sequence[History]) -> tuple[str, ...]:
    """The resources whose watches got bookmarks in every reference, not counting the one that ends the initial events."""
    return tuple(sorted(set.intersection(*(_with_bookmarks(reference) for reference in references))))


def _with_bookmarks(history: History) -> set[str]:
    streams = {entry.stream: entry.resource for entry in history.entries if isinstance(entry, Opened)}
    sent = {e.stream for e in history.entries if isinstance(e, Delivered) and e.type == "BOOKMARK" and not e.initial_end}
    return {streams[stream] for stream in sent & streams.keys()} - BOOKKEEPING


# --- how it begins ---------------------------------------------------------------------------------------------------------------


def _with_beginning(session: Session, seen: Observed) -> Observed:
    """With what the controller asks for, and how soon, when it starts again and is offered the past, and after a 410."""
    past = tuple(PastSnapshot(resource=each, as_of_step=1, window=Window(from_step=2)) for each in seen.watched)
    steps: tuple[Step, ...] = (Apply(object=seen.sample), Touch(target=seen.target))
    plan = Plan(
        scenario="observe",
        title="how the controller begins",
        steps=steps,
        faults=(*past, Restart(window=Window(from_step=2))),
        settle=seen.settle(resync=True),
    )
    history = session.watch(plan)
    session.renew()  # a controller that does not survive this must still be seen as it is without faults
    fired = {entry.fault for entry in history.entries if isinstance(entry, FaultFired)}
    return replace(
        seen,
        reads_past=tuple(each for index, each in enumerate(seen.watched) if index in fired),
        asks_watch_list=any(isinstance(entry, Opened) and entry.watch_list for entry in history.entries),
        relists_at_once=_relist_seconds(history.entries, seen.resource) < _AT_ONCE_SECONDS,
    )


def _relist_seconds(entries: Sequence[Entry], resource: str) -> float:
    """Seconds from a 410 on the controller's watch of this resource to its next watch; infinite if it never came."""
    closed = [entry.at for entry in entries if isinstance(entry, Closed) and entry.how == "expired"]
    opened = [entry.at for entry in entries if isinstance(entry, Opened) and entry.resource == resource]
    again = [at for at in opened if closed and at > closed[-1]]
    return again[-1] - closed[-1] if again else float("inf")
