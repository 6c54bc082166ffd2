"""Whether a controller still works, which a trial that did not converge leaves open: it is given something else to do."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from staleproof.core.history.entry import Asked, Entry, Probed
from staleproof.core.history.history import is_work
from staleproof.core.history.scope import Scope
from staleproof.core.operator.prerequisite import placement
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.step import Apply
from staleproof.drive.cluster.manifests import resource_type
from staleproof.drive.trial.clean_up import clean_up
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.prerequisites import put
from staleproof.drive.trial.workload import Unserved, Workload
from staleproof.errors import UsageError


@dataclass(frozen=True, slots=True)
class Probe:
    """What to do in another namespace to see whether a controller works, what that needs, and the seconds within which one that
    works asks for a write. `patience`: it is waited for so long, if that is longer."""

    steps: tuple[Apply, ...]
    seconds: float
    before: tuple[Manifest, ...] = ()
    patience: float = 0.0


async def see_whether_it_works(probe: Probe, environment: Environment, workload: Workload, primaries: Sequence[str]) -> None:
    """Make new primaries in a namespace of their own, and wait until the controller asks for a write there; what came of it is
    recorded.

    Nothing is known if they have no namespace, or the API server does not take them.
    """
    namespace = f"{workload.namespace}-probe"
    kinds = [await resource_type(step.object, environment.api) for step in probe.steps]
    if not all(kind.namespaced for kind in kinds):
        return
    scope, there = Scope(namespace), placement(probe.steps, probe.before, namespace)
    environment.bus.listeners.append(scope.see)
    await environment.create_namespace(namespace)
    with contextlib.suppress(UsageError, Unserved):
        await put(environment, probe.before, there)
        await _try(probe, environment, replace(workload, placement=there))
    environment.bus.listeners.remove(scope.see)
    await clean_up(environment, scope, primaries)


async def _try(probe: Probe, environment: Environment, workload: Workload) -> None:
    bus, works = environment.bus, False

    def see(entry: Entry) -> None:
        nonlocal works
        works |= isinstance(entry, Asked) and entry.namespace == workload.namespace and is_work(entry)

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
