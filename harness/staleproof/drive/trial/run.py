"""One execution of a plan: the only module that knows all the others of `drive`.

It does what the plan says and waits for conditions; what the trial means is decided elsewhere, from the history.
"""

import asyncio
import contextlib
import datetime
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from staleproof.core.entry import Broke, Ended, Released, Settled, StepBegan, StepEnded
from staleproof.core.fault import PastSnapshot, StaleRead
from staleproof.core.history import Header, History
from staleproof.core.plan import Plan, Settle, describe
from staleproof.core.plan import encode as encode_plan
from staleproof.drive.cluster.api import JSON, Api, ApiError, ResourceType
from staleproof.drive.cluster.manifests import resource_type
from staleproof.drive.cluster.truth import Key
from staleproof.drive.process import logs
from staleproof.drive.subject.metrics import Readings
from staleproof.drive.trial.environment import Rig
from staleproof.drive.trial.process_faults import Lives
from staleproof.drive.trial.recorder import Record
from staleproof.drive.trial.workload import Vanished, Workload, primaries_of
from staleproof.errors import HarnessBug, SetupError

_LEFT_ALONE = frozenset({"events", "serviceaccounts"})
_REST_SECONDS = 0.1
_MARGIN_SECONDS = 1.0
MOST_PATIENCE_SECONDS = 100.0
"""client-go's rate limiter has come to 82 s after 15 failures."""

Converged = Callable[[dict[Key, JSON]], str]
"""Says what is missing from the state that the references reached; empty when nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What to run and where to keep it.

    Attributes:
        plan: the workload and the faults.
        folder: gets plan.json and history.jsonl.
        references: fault-free histories of the same workload; empty when this is one itself.
        converged: when the wait for convergence is over; empty accepts any state that is quiet.
        deadline_seconds: how long after the release convergence may take; empty means what the plan says.
        may_need: seconds after the release that a correct controller may need, told from what was recorded so far; who has not
            converged at the deadline is given them, up to `MOST_PATIENCE_SECONDS`.
        lasts: seconds that each step, and then the settling phase, take at least; empty: no longer than the controller needs.
    """

    plan: Plan
    folder: Path
    references: Sequence[History] = ()
    converged: Converged | None = None
    deadline_seconds: float | None = None
    may_need: Callable[[History], float] | None = None
    lasts: Sequence[float] = ()


async def run_trial(trial: Trial, rig: Rig) -> History:
    """Run the plan once in a fresh namespace and return everything that happened.

    Raises:
        UsageError: the API server rejects a step.
        SetupError: control plane, proxy or controller failed.
    """
    plan = trial.plan
    await rig.controller_ready(fresh=plan.fresh)
    namespace = f"staleproof-{uuid.uuid4().hex[:8]}"
    kinds = [await resource_type({"apiVersion": a, "kind": k, "metadata": {"name": n}}, rig.api) for a, k, n in primaries_of(plan)]
    await rig.create_namespace(namespace)
    trial.folder.mkdir(parents=True, exist_ok=True)
    (trial.folder / "plan.json").write_bytes(encode_plan(plan))
    header = _header(trial, rig, namespace, kinds)
    rig.feed.record = record = Record(trial.folder / "history.jsonl", header, trial.references, began=time.monotonic())
    logged = logs.sizes(rig.logs)
    try:
        await _run(trial, rig, record, kinds)
    except SetupError:
        if not rig.feed.dead:  # else that is what happened, and it is told below
            raise
    finally:
        rig.feed.record = None
        history = record.finish()
        logs.copy_since(logged, trial.folder, rig.secrets)
        if not rig.feed.dead:
            await rig.proxy.install((), namespace)
            await _clean_up(rig, namespace, kinds)
    if rig.feed.dead:
        raise HarnessBug(f"{rig.feed.dead}\nThe trial proves nothing; its history is {record.path}")
    return history


async def _run(trial: Trial, rig: Rig, record: Record, kinds: Sequence[ResourceType]) -> None:
    """From the first step to the last entry."""
    namespace = record.header.namespace
    rig.feed.activity.begin(namespace, record.began)
    rig.feed.take(rig.controller_started(record.began))
    for flaw in rig.feed.flaws:
        record.take(flaw)
    rig.feed.flaws = [flaw for flaw in rig.feed.flaws if flaw.where == "watch"]  # one that goes on spoils every trial
    await rig.proxy.install(trial.plan.faults, namespace, contract=trial.plan.contract)
    workload = Workload(rig.api, rig.truth, rig.proxy, rig.feed, namespace)
    doing = _Doing(rig, workload, Lives(rig, trial.plan.faults), Readings(rig.endpoint, rig.feed))
    await doing.readings.take()
    with doing.following():
        await _steps(trial, doing)
        await _settle(trial, doing, kinds, record)
    await rig.proxy.fence()
    await rig.truth.caught_up(namespace, record.resources())
    rig.feed.take(Ended(at=time.monotonic()))


@dataclass(frozen=True, slots=True)
class _Doing:
    """What a trial is done with."""

    rig: Rig
    workload: Workload
    lives: Lives
    readings: Readings

    @contextlib.contextmanager
    def following(self) -> Iterator[None]:
        """What is done because of what happens: kills and restarts, and readings in between."""
        listeners = [self.lives.see, self.readings.see]
        tasks = [self.rig.group.create_task(each.follow()) for each in (self.lives, self.readings)]
        self.rig.feed.listeners += listeners
        try:
            yield
        finally:
            for listener in listeners:
                self.rig.feed.listeners.remove(listener)
            for task in tasks:
                task.cancel()


async def _steps(trial: Trial, doing: _Doing) -> None:
    plan, settle, rig = trial.plan, trial.plan.settle, doing.rig
    shown_later = {fault.as_of_step for fault in plan.faults if isinstance(fault, PastSnapshot | StaleRead)}
    for number, step in enumerate(plan.steps, 1):
        await rig.proxy.begin_step(number, revision=await rig.api.revision() if number in shown_later else None)
        await doing.lives.settled()
        began = time.monotonic()
        rig.feed.take(StepBegan(at=began, step=number, does=describe(step)))
        try:
            await doing.workload.do(step, number)
        except Vanished as err:
            if not plan.faults:
                raise
            rig.feed.take(Broke(at=time.monotonic(), where="workload", why=f"{err}; what was there before went away late"))
        rig.feed.activity.touch(time.monotonic())
        idle = await _until_idle(settle, doing)
        if trial.lasts and (left := began + trial.lasts[number - 1] - time.monotonic()) > 0:
            await asyncio.sleep(left)
            idle = await _until_idle(settle, doing)
        await doing.readings.take()
        rig.feed.take(StepEnded(at=time.monotonic(), step=number, idle=idle))


async def _until_idle(settle: Settle, doing: _Doing) -> bool:
    """Nobody is idle between two lives: who was killed in a step has it to finish."""
    while True:
        idle = await doing.rig.feed.until_idle(settle.idle_seconds, limit_seconds=settle.limit_seconds)
        if not await doing.lives.settled():
            return idle


async def _settle(trial: Trial, doing: _Doing, kinds: Sequence[ResourceType], record: Record) -> None:
    """Release everything, wait until converged and quiet, then let the controller reconcile everything once more."""
    settle, rig = trial.plan.settle, doing.rig
    await rig.proxy.release()
    await doing.lives.settled()
    for missed in doing.lives.missed():
        rig.feed.take(missed)
    rig.feed.activity.touch(time.monotonic())
    released = time.monotonic()
    rig.feed.take(Released(at=released))
    await doing.readings.take()
    await _sweep(rig, doing.workload.namespace)
    await rig.feed.until(lambda now: not rig.feed.activity.is_starting or now + 0.05, limit_seconds=rig.start_seconds)
    missing, lasts = "still busy", trial.lasts[-1] if trial.lasts else 0.0

    def settled(now: float) -> bool | float:
        nonlocal missing
        since = rig.feed.activity.quiet_since(now)
        idle = rig.feed.activity.idle_since(now)
        if since is None or idle is None:
            return now + 0.05
        due = max(since + settle.quiet_seconds, idle + settle.idle_seconds, released + lasts)
        if now < due:
            return due
        missing = trial.converged(rig.truth.live(doing.workload.namespace)) if trial.converged else ""
        return not missing

    deadline = lasts + (trial.deadline_seconds or settle.deadline_seconds)
    ok = await rig.feed.until(settled, limit_seconds=deadline)
    while not ok and (more := _more_seconds(trial, record, time.monotonic() - released)):
        ok = await rig.feed.until(settled, limit_seconds=more)
    waited = time.monotonic() - released
    rig.feed.take(Settled(at=time.monotonic(), ok=ok, why="" if ok else f"after {waited:.3g} s: {missing}"))
    await doing.readings.take()
    if ok and settle.resync:
        for resource in dict.fromkeys(kind.name for kind in kinds):
            await doing.workload.resync(resource)
        await rig.feed.until_idle(settle.idle_seconds, limit_seconds=settle.limit_seconds)


def _more_seconds(trial: Trial, record: Record, waited: float) -> float:
    """How much longer to wait for who has not converged yet; 0 if it had its time, or would need more than is given."""
    needed = trial.may_need(record.so_far()) if trial.may_need else 0.0
    return max(0.0, needed + _MARGIN_SECONDS - waited) if waited < needed <= MOST_PATIENCE_SECONDS else 0.0


async def _sweep(rig: Rig, namespace: str) -> None:
    """Do what the pod garbage collector does in a cluster: finish deletions that were broken off between their two steps.

    The API server marks an object and then removes it; when the client is gone in between, nobody removes it.
    """
    for key, obj in sorted(rig.truth.live(namespace).items()):
        metadata = obj["metadata"]
        stuck = (
            "deletionTimestamp" in metadata and metadata.get("deletionGracePeriodSeconds") == 0 and not metadata.get("finalizers")
        )
        kind = await rig.api.type_named(key[0]) if stuck else None
        if kind is not None:
            with contextlib.suppress(ApiError):
                await rig.api.delete(kind, namespace, metadata["name"], now=True)


def _header(trial: Trial, rig: Rig, namespace: str, kinds: Sequence[ResourceType]) -> Header:
    names = [name for _, _, name in primaries_of(trial.plan)]
    return Header(
        role="trial" if trial.references else "reference",
        plan=trial.plan,
        namespace=namespace,
        primaries=tuple(f"{kind.name}/{name}" for kind, name in zip(kinds, names, strict=True)),
        environment=rig.environment,
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
    )


async def _clean_up(rig: Rig, namespace: str, kinds: Sequence[ResourceType]) -> None:
    """Remove the primaries, then whatever else is left: namespaces never finish terminating without their controller.

    Nothing here can spoil the trial that is over, and the next one has a namespace of its own; it does wait until the controller
    has come to rest.
    """
    rig.feed.activity.begin("", time.monotonic())
    first = {kind.name for kind in kinds}
    for is_primary in (True, False):
        for key, obj in sorted(rig.truth.live(namespace).items()):
            kind = await rig.api.type_named(key[0])
            if kind is not None and (key[0] in first) is is_primary and key[0] not in _LEFT_ALONE and "delete" in kind.verbs:
                await _remove(rig.api, kind, namespace, obj)
        await rig.feed.until_idle(_REST_SECONDS, limit_seconds=2.0)
    if rig.ends_namespaces:  # elsewhere nobody would finish the deletion, and the whole cluster goes anyway
        await rig.delete_namespace(namespace)


async def _remove(api: Api, kind: ResourceType, namespace: str, obj: JSON) -> None:
    with contextlib.suppress(ApiError):
        if obj["metadata"].get("finalizers"):
            await api.merge(kind, namespace, obj["metadata"]["name"], {"metadata": {"finalizers": None}})
        await api.delete(kind, namespace, obj["metadata"]["name"], now=True)
