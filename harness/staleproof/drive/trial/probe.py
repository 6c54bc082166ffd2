"""Whether a controller still works, which a trial that did not converge leaves open: it is given something else to do."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from staleproof.core.history.entry import Answered, Asked, Entry, Probed, RequestId
from staleproof.core.history.history import is_work
from staleproof.core.history.scope import PROBE, Scope
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.step import Apply
from staleproof.drive.cluster.manifests import resource_type
from staleproof.drive.trial.clean_up import clean_up
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.placing import found
from staleproof.drive.trial.prerequisites import put
from staleproof.drive.trial.workload import Unserved, Workload
from staleproof.errors import UsageError


@dataclass(frozen=True, slots=True)
class Probe:
    """What to do in another place to see whether a controller works, what that needs, and the seconds within which one that
    works asks for a write. `patience`: it is waited for so long, if that is longer."""

    steps: tuple[Apply, ...]
    seconds: float
    before: tuple[Manifest, ...] = ()
    patience: float = 0.0


async def see_whether_it_works(probe: Probe, environment: Environment, workload: Workload, primaries: Sequence[str]) -> None:
    """Make new primaries in a namespace of their own, or under names of their own where trials share one, and wait until the
    controller asks for a write there; what came of it is recorded.

    Nothing is known if they have no namespace, if they share one and cannot have other names, or if the API server does not take
    them.
    """
    namespace = f"{environment.bus.scope.namespace}{PROBE}"
    kinds = [await resource_type(step.object, environment.api) for step in probe.steps]
    if not all(kind.namespaced for kind in kinds):
        return
    scope, there = await found(environment, namespace, probe.steps, probe.before)
    if scope.has_fixed_names:
        return
    environment.bus.listeners.append(scope.see)
    await environment.create_namespace(namespace)
    with contextlib.suppress(UsageError, Unserved):
        await put(environment, probe.before, there)
        await _try(probe, environment, replace(workload, placement=there), scope)
    environment.bus.listeners.remove(scope.see)
    await clean_up(environment, scope, primaries)


async def _try(probe: Probe, environment: Environment, workload: Workload, scope: Scope) -> None:
    bus, works, writes = environment.bus, False, set[RequestId]()

    def see(entry: Entry) -> None:
        nonlocal works
        match entry:
            case Asked() if entry.namespace == workload.namespace and is_work(entry):
                writes.add(entry.request)
                works |= scope.mark in entry.name  # without a mark, the namespace is the probe's alone
            case Answered() if entry.request in writes:  # the request to create does not say a name
                works |= scope.mark in entry.name

    bus.listeners.append(see)
    began = time.monotonic()
    try:
        for number, step in enumerate(probe.steps, 1):
            await workload.do(step, number)
        await bus.until(lambda now: works, limit_seconds=max(probe.seconds, probe.patience))
    finally:
        bus.listeners.remove(see)
    now = time.monotonic()
    overdue = max(0.0, now - began - probe.seconds) if probe.patience > probe.seconds else 0.0
    bus.take(Probed(at=now, works=works, waited=round(now - began, 3), overdue=round(overdue, 3)))
