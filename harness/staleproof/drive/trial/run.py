"""One execution of a plan: the only module that knows all the others of `drive`.

It does what the plan says and waits for conditions; what the trial means is decided elsewhere, from the history.
"""

import asyncio
import contextlib
import datetime
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from staleproof.core.fault import AnyFault, PastSnapshot, StaleRead
from staleproof.core.history.change import LOOKS, WriteKind
from staleproof.core.history.entry import WORKLOAD, Broke, Ended, Released, Settled, StepBegan, StepEnded
from staleproof.core.history.history import Header, History, HistoryRole
from staleproof.core.history.scope import Scope
from staleproof.core.operator.prerequisite import Placement
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.plan import encode as encode_plan
from staleproof.core.plan.step import Apply, Step, describe, in_parts, parts
from staleproof.core.plan.waiting import closes_with, departure_seconds, pause_seconds
from staleproof.core.times import (
    AT_MOST_NEEDED_SECONDS,
    DEPARTURE_SECONDS,
    MARGIN_SECONDS,
    POLL_SECONDS,
)
from staleproof.drive.cluster.api import JSON, ApiError
from staleproof.drive.cluster.manifests import resource_type
from staleproof.drive.cluster.truth import Key
from staleproof.drive.process import logs
from staleproof.drive.trial.clean_up import clean_up
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.event_bus import Condition
from staleproof.drive.trial.external_faults import ExternalFaults
from staleproof.drive.trial.looks import Looks
from staleproof.drive.trial.nudges import what_heals
from staleproof.drive.trial.outside import Outside
from staleproof.drive.trial.placing import place
from staleproof.drive.trial.prerequisites import Given, furnish, introduce, without
from staleproof.drive.trial.probe import Probe, see_whether_it_works
from staleproof.drive.trial.process_faults import ProcessFaults
from staleproof.drive.trial.readings import Readings
from staleproof.drive.trial.recorder import Recorder
from staleproof.drive.trial.workload import StillThere, Unserved, Vanished, Workload, primaries_of
from staleproof.errors import HarnessBug, SetupError, UsageError

_Primary = tuple[str, str]
"""Resource and name."""
_MOST_DOUBTS = 20
"""How often the controller's metrics may say, `POLL_SECONDS` apart, that it has work although nothing is seen of it."""

Live = Mapping[Key, JSON]
"""What there is of a trial, as its history shows it, but for what was given and is as it was."""
Converged = Callable[[Live], str]
"""Says what is missing from the state that the references came to; empty when nothing is."""
Reached = Callable[[int, Live, Collection[WriteKind]], bool]
"""Whether a step has brought what it brought in the references, given its number and the kinds of writes that changed anything."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long after the release what is `missing` is waited for, when the time is over that every controller is given: so many
    seconds, and no longer than it takes. `missing`: what that is, in words, given what was recorded so far; empty: nothing."""

    seconds: float
    missing: Callable[[History], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSpec:
    """What to run and where to keep it.

    Attributes:
        plan: the workload and the faults.
        before: what the workload needs; empty: what the plan says, which may hold no more than digests.
        folder: gets plan.json and history.jsonl.gz.
        title: what it is, in words, should it be to blame for how it left the controller.
        role: what it is: a trial, or what trials are compared with.
        references: fault-free histories of the same workload, from their files; empty when this is one itself.
        converged: when the wait for convergence is over; None accepts any state that is quiet.
        reached: when a step is over without a further wait; None waits for the controller's pauses in each of them, and at the end.
        reached_until: the last step of which `reached` can tell; later ones, and the end, are waited for as if there were none.
        deadline_seconds: how long after the release convergence may take; None means what the plan says.
        may_need: the seconds after the release that a correct controller may need, given what was recorded so far; a controller
            that has not converged at the deadline gets them, up to `AT_MOST_NEEDED_SECONDS`.
        patience: how much longer what is missing is waited for; None: no longer.
        probe: how to see whether the controller still works, where the trial leaves that open; None: no probe.
        lasts: the seconds that each step, and then the settling phase, take at least; empty: no longer than the controller needs.
        healed_by: takes what heals the controller when the trial is over (`nudges.what_heals`); None: nothing is tried.
    """

    plan: Plan
    folder: Path
    title: str = "a run that was not judged"
    role: HistoryRole = "reference"
    before: tuple[Manifest, ...] = ()
    references: Sequence[History] = ()
    converged: Converged | None = None
    reached: Reached | None = None
    reached_until: float = math.inf
    deadline_seconds: float | None = None
    may_need: Callable[[History], float] | None = None
    patience: Patience | None = None
    probe: Probe | None = None
    lasts: Sequence[float] = ()
    healed_by: Callable[[str], None] | None = None


async def run_trial(spec: TrialSpec, environment: Environment) -> History:
    """Run the plan once in a fresh namespace and return everything that happened. An external system that is shared is waited for.

    Raises:
        UsageError: the API server rejects a step.
        SetupError: control plane, proxy or controller failed.
        HarnessBug: the proxy is gone, and so the trial proves nothing.
    """
    async with environment.external.alone:
        return await _run_alone(spec, environment)


async def _run_alone(spec: TrialSpec, environment: Environment) -> History:
    plan, bus = spec.plan, environment.bus
    await environment.controller_ready(fresh=plan.fresh)
    before = spec.before or plan.before
    primaries = await _primaries(plan, before, environment)
    scope, there = await place(environment, plan.steps, before, plan.kept_names, plan.own_hosts)
    given = await _furnished(environment, before, scope, there)
    spec.folder.mkdir(parents=True, exist_ok=True)
    (spec.folder / "plan.json").write_bytes(encode_plan(plan))
    header = Header(
        role=spec.role,
        plan=plan,
        namespace=scope.namespace,
        mark=scope.mark,
        primaries=tuple(f"{resource}/{name}" for resource, name in primaries),
        environment=environment.description,
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        programs=tuple(each.name for each in environment.further),
    )
    recorder = Recorder(spec.folder / "history.jsonl", header, spec.references, began=time.monotonic(), scope=scope)
    called = _called(plan, primaries, there)
    resources = list(dict.fromkeys(resource for resource, _ in primaries))
    bus.recorder = recorder
    for program in environment.programs:
        program.harmed_by = spec.title if plan.faults else program.harmed_by
    logged = logs.sizes(environment.logs)
    try:
        await _Run(_aimed(spec, dict(zip(primaries, called, strict=True))), environment, recorder, called, there, given).run()
    except SetupError:
        if not bus.dead:  # else that is what happened, and it is reported below
            raise
    finally:
        bus.recorder = None
        history = recorder.finish()
        logs.copy_since(logged, spec.folder, environment.secrets)
        if not bus.dead:
            await environment.proxy.install((), there.namespace)
            await clean_up(environment, scope, resources)
    if bus.dead:
        raise HarnessBug(f"{bus.dead}\nThe trial proves nothing; its history is {recorder.path}")
    return history


async def _primaries(plan: Plan, before: Sequence[Manifest], environment: Environment) -> list[_Primary]:
    """Resource and name of everything that the workload applies; `before` may bring its kind."""
    await introduce(environment, [step.object for step in in_parts(plan.steps) if isinstance(step, Apply)], before)
    found = [
        ({"apiVersion": version, "kind": kind, "metadata": {"name": name}}, name) for version, kind, name in primaries_of(plan)
    ]
    return [((await resource_type(manifest, environment.api)).name, name) for manifest, name in found]


def _called(plan: Plan, primaries: Sequence[_Primary], there: Placement) -> list[_Primary]:
    """The plan's primaries as they are called in this trial."""
    kinds = [kind for _, kind, _ in primaries_of(plan)]
    return [(resource, there.name(kind, name)) for kind, (resource, name) in zip(kinds, primaries, strict=True)]


def _aimed(spec: TrialSpec, called: Mapping[_Primary, _Primary]) -> TrialSpec:
    """With faults about one primary aimed at what that is called in this trial."""

    def aimed(fault: AnyFault) -> AnyFault:
        _, name = called.get((fault.resource, fault.name), ("", fault.name))
        return msgspec.structs.replace(fault, name=name) if fault.name else fault

    faults = (aimed(fault) for fault in spec.plan.faults)
    return replace(spec, plan=msgspec.structs.replace(spec.plan, faults=tuple(faults)))


async def _furnished(environment: Environment, before: Sequence[Manifest], scope: Scope, there: Placement) -> Given:
    """Make the trial's namespace, with what the workload needs; what was given."""
    await environment.create_namespace(scope.namespace)
    try:
        return await furnish(environment, before, there)
    except (UsageError, SetupError):
        await clean_up(environment, scope, ())
        raise


class _Run:
    """A trial under way. `primaries`: what the workload applies, as it is called in this trial; `given`: what was there before."""

    def __init__(
        self,
        spec: TrialSpec,
        environment: Environment,
        recorder: Recorder,
        primaries: Sequence[_Primary],
        where: Placement,
        given: Given,
    ) -> None:
        self._given = given
        self._spec, self._environment, self._recorder = spec, environment, recorder
        self._resources = list(dict.fromkeys(resource for resource, _ in primaries))
        self._bus, self._activity, self._proxy = environment.bus, environment.bus.activity, environment.proxy
        self._where, self._settle = where, spec.plan.settle
        self._process_faults = ProcessFaults(environment.programs, environment.bus, spec.plan.faults)
        self._external_faults = ExternalFaults(environment.external, environment.bus, spec.plan.faults)
        may_lack_children = bool(spec.plan.faults) or spec.role == "slept"  # those that a step is about may never come
        child_seconds = 0.0 if may_lack_children else self._settle.limit_seconds
        self._outside = Outside(environment.external, environment.bus, child_seconds=child_seconds)
        self._workload = Workload(
            environment.api,
            environment.truth,
            self._proxy,
            self._bus,
            self._outside,
            where,
            spec.before or spec.plan.before,
            self._process_faults.give_way,
            child_seconds=child_seconds,
            departure_seconds=self._departure_seconds,
            primaries=primaries,
        )
        self._readings = Readings(environment.lives.endpoint, self._bus)
        self._is_unserved = False

    async def run(self) -> None:
        """From the first step to the last entry."""
        plan, bus = self._spec.plan, self._bus
        self._activity.begin(
            self._recorder.header.namespace,
            self._recorder.began,
            shared=bus.scope.shared,
            moves=self._settle.moves,
            begins_seconds=self._settle.begins_seconds,
        )
        self._environment.external.prefer(self._resources)
        for program in self._environment.programs:
            if program.running is None:
                await program.revive()  # it exits again and again, and this trial will show it
            bus.take(program.started(self._recorder.began))
        for flaw in bus.flaws:
            self._recorder.take(flaw)
        bus.flaws = [flaw for flaw in bus.flaws if flaw.where == "watch"]  # a watch that goes on spoils every trial
        await self._proxy.install(plan.faults, self._where.namespace, contract=plan.contract)
        await self._look()
        with self._following():
            for number in range(1, len(plan.steps) + 1):
                await self._step(number)
            is_well = await self._release_and_settle()
            is_open = not (is_well and self._recorder.has_work) and not self._process_faults.is_busy
            if self._spec.probe is not None and is_open:
                await see_whether_it_works(self._spec.probe, self._environment, self._workload, self._resources)
        await self._outside.read()
        await self._proxy.fence()
        await self._environment.truth.caught_up(self._recorder.places())
        bus.take(Ended(at=time.monotonic()))
        bus.recorder = None
        converged, environment = self._spec.converged, self._environment
        if self._spec.healed_by is not None and converged is not None:
            healed = await what_heals(plan, environment, self._workload, self._resources, lambda: converged(self._live()))
            self._spec.healed_by(healed)

    @contextlib.contextmanager
    def _following(self) -> Iterator[None]:
        """What is done because of what happens: process faults, and readings in between."""
        followers = (self._process_faults, self._external_faults, self._readings)
        tasks = [self._environment.group.create_task(each.follow()) for each in followers]
        self._bus.listeners += [each.see for each in followers]
        try:
            yield
        finally:
            for each in followers:
                self._bus.listeners.remove(each.see)
            for task in tasks:
                task.cancel()

    def _live(self) -> Live:
        """What there is, without what was given and is as it was."""
        scope = self._bus.scope
        return scope.shown(without(scope.mine(self._environment.truth.objects), self._given))

    async def _faults_begin(self) -> None:
        """Return once those faults act, or have acted, that are not the proxy's."""
        await self._external_faults.settled()
        await self._process_faults.settled()

    async def _look(self) -> None:
        """Read what no entry reports: the controller's metrics, and what external systems hold."""
        await self._readings.take()
        await self._outside.read()

    async def _step(self, number: int) -> None:
        plan, step, lasts = self._spec.plan, self._spec.plan.steps[number - 1], self._spec.lasts
        shown_later = {fault.as_of_step for fault in plan.faults if isinstance(fault, PastSnapshot | StaleRead)}
        stays = await self._stays(step, number)
        revision = await self._environment.api.revision() if number in shown_later else None
        await self._proxy.begin_step(number, revision=revision)
        await self._faults_begin()
        began = time.monotonic()
        self._activity.begin_step(began)
        self._bus.take(StepBegan(at=began, step=number, does=describe(step)))
        try:
            if stays is not None:
                raise stays
            if not self._is_unserved:
                await self._workload.do(step, number)
        except Vanished as err:
            self._did_not_do(str(err))
        except StillThere as err:
            self._environment.lives.keeps_primaries |= err.waited == DEPARTURE_SECONDS
            self._did_not_do(str(err))
        except Unserved as err:
            self._is_unserved = True  # what comes after this step would be done to what is not there
            self._did_not_do(str(err))
        self._activity.touch(time.monotonic())
        idle = await self._until_over(number)
        if lasts and (left := began + lasts[number - 1] - time.monotonic()) > 0:
            await asyncio.sleep(left)
            idle = await self._until_over(number)
        await self._look()
        self._bus.take(StepEnded(at=time.monotonic(), step=number, idle=idle))

    async def _stays(self, step: Step, number: int) -> StillThere | None:
        """Wait until the predecessor of what a step makes anew is gone, before the step and its faults begin; whether it stays."""
        applies = [part for part in parts(step) if isinstance(part, Apply)]
        for part in () if self._is_unserved else applies:
            try:
                await self._workload.departed(part, number, self._departure_seconds(number, has_begun=False))
            except StillThere as err:
                return err
        return None

    def _departure_seconds(self, number: int, *, has_begun: bool = True) -> float:
        is_known = self._environment.lives.keeps_primaries
        return departure_seconds(self._spec.plan, number, has_begun=has_begun, is_known_to_stay=is_known)

    def _did_not_do(self, why: str) -> None:
        """A step could not be done, and its plan is not to blame: the trial proves nothing."""
        self._bus.take(Broke(at=time.monotonic(), where=WORKLOAD, why=why))

    async def _until_over(self, number: int) -> bool:
        """No controller is idle between two lives: one that was killed in a step still has to finish it; but a crash loop is not
        waited for. Nor is one idle whose own metrics say that it has work, unless they say so all the time."""
        doubts = 0
        while True:
            idle = await self._bus.until(self._over(number), limit_seconds=self._settle.limit_seconds)
            if self._process_faults.is_looping:
                return idle
            if await self._process_faults.settled():
                continue
            if not idle or doubts == _MOST_DOUBTS or not await self._readings.says_working():
                return idle
            doubts += 1
            await asyncio.sleep(POLL_SECONDS)

    def _over(self, number: int) -> Condition:
        """A step is over when it has brought what it brought in the references, or else when the controller's pauses are over, too.

        Those are waited for in any case where a fault closes with the step: what the controller does late, it must do under it.
        Before any fault has opened, what the references came to is waited for longer.
        """
        reached = None if closes_with(self._spec.plan, number) else self._reached(number)
        pause = self._settle.idle_seconds if reached is None else pause_seconds(self._spec.plan, number)
        known: dict[float, bool] = {}

        def over(now: float) -> bool | float:
            if self._process_faults.is_looping:
                return True
            since = self._activity.idle_since(now)
            if since is None:
                return now + POLL_SECONDS  # what is owed is forgiven by time alone
            due, soon = since + pause, since + self._settle.settling_seconds
            if now >= due or reached is None:
                return now >= due or due
            if now < soon:
                return min(due, soon)
            if since not in known:
                known[since] = reached(number, self._live(), self._activity.done)
            return known[since] or due

        return over

    def _reached(self, number: int) -> Reached | None:
        """When this step is over without a further wait; None: it cannot be known."""
        return self._spec.reached if number <= self._spec.reached_until else None

    @property
    def _reached_in_the_end(self) -> Reached | None:
        return self._reached(len(self._spec.plan.steps))

    async def _release_and_settle(self) -> bool:
        """Release everything, wait until converged and quiet, then let the controller reconcile everything once more; whether it
        converged."""
        settle, bus = self._settle, self._bus
        await self._proxy.release()
        await self._external_faults.settled()
        await self._outside.restore()
        await self._process_faults.settled()
        for missed in self._process_faults.missed():
            bus.take(missed)
        released = time.monotonic()
        if self._reached_in_the_end is None or closes_with(self._spec.plan, len(self._spec.plan.steps)):
            self._activity.touch(released)
        bus.take(Released(at=released))
        await self._readings.take()
        await self._sweep()
        await bus.until(
            lambda now: not self._activity.is_starting or now + POLL_SECONDS, limit_seconds=self._environment.lives.start_seconds
        )
        lacked = await self._until_settled(released)
        missing, overdue = await self._patiently(released, lacked)
        now = time.monotonic()
        why = f"after {now - released - (0.0 if missing else overdue):.3g} s: {missing or lacked}" if lacked else ""
        bus.take(Settled(at=now, ok=not missing, why=why, overdue=round(overdue, 3)))
        await self._readings.take()
        if not missing and settle.resync:
            await self._look_again()
        return not missing

    async def _look_again(self) -> None:
        """Make the controller list its primaries, and again as long as it changes something each time: it may still have work."""
        settle = self._settle
        idle_seconds = settle.idle_seconds if self._reached_in_the_end is None else settle.settling_seconds
        for _ in range(LOOKS):
            self._activity.begin_step(time.monotonic())
            for resource in self._resources:
                await self._workload.resync(resource)
            await self._bus.until_idle(idle_seconds, limit_seconds=settle.limit_seconds)
            if not self._activity.done:
                return

    async def _until_settled(self, released: float) -> str:
        """Wait until converged and quiet; what was missing when the time ran out, empty when nothing is."""
        spec, settle = self._spec, self._settle
        lasts = spec.lasts[-1] if spec.lasts else 0.0
        was_released = closes_with(spec.plan, len(spec.plan.steps))
        looks = Looks(lambda: spec.converged(self._live()) if spec.converged else "", "still busy")

        def settled(now: float) -> bool | float:
            if self._process_faults.is_busy:
                return now + POLL_SECONDS
            since, idle = self._activity.quiet_since(now), self._activity.idle_since(now)
            if since is None or idle is None:
                return now + POLL_SECONDS
            if self._needs_no_patience():
                due = idle + (settle.idle_seconds if was_released else settle.settling_seconds)
            else:
                due = max(since + settle.quiet_seconds, idle + settle.idle_seconds, released + lasts)
            return due if now < due else looks.find_nothing(now)

        limit = lasts + (spec.deadline_seconds or settle.deadline_seconds)
        while limit:
            if await self._bus.until(settled, limit_seconds=limit):
                return ""
            limit = self._more_seconds(time.monotonic() - released)
        return looks.in_the_end()

    async def _patiently(self, released: float, lacked: str) -> tuple[str, float]:
        """Wait for what is lacking until the patience is over, and no longer than it takes; what is missing then, and how many
        seconds that took."""
        patience, settle, began = self._spec.patience, self._settle, time.monotonic()
        left = released + patience.seconds - began if patience is not None and lacked else 0.0
        if patience is None or left <= 0 or not patience.missing(self._recorder.so_far()):
            return lacked, 0.0
        looks = Looks(lambda: patience.missing(self._recorder.so_far()), lacked)

        def is_there(now: float) -> bool | float:
            since, idle = self._activity.quiet_since(now), self._activity.idle_since(now)
            if self._process_faults.is_busy or since is None or idle is None:
                return now + POLL_SECONDS
            due = max(since + settle.quiet_seconds, idle + settle.idle_seconds)
            return due if now < due else looks.find_nothing(now)

        await self._bus.until(is_there, limit_seconds=left)
        return patience.missing(self._recorder.so_far()), time.monotonic() - began

    def _needs_no_patience(self) -> bool:
        """Whether what there is at the end is compared with the references, or is what the last step brought in an earlier one."""
        spec, reached = self._spec, self._reached_in_the_end
        if reached is None or spec.converged is not None:
            return reached is not None
        return reached(len(spec.plan.steps), self._live(), self._activity.done)

    def _more_seconds(self, waited: float) -> float:
        """How much longer to wait for convergence; 0 if the controller had its time, or would need more than it is given."""
        needed = self._spec.may_need(self._recorder.so_far()) if self._spec.may_need else 0.0
        return max(0.0, needed + MARGIN_SECONDS - waited) if waited < needed <= AT_MOST_NEEDED_SECONDS else 0.0

    async def _sweep(self) -> None:
        """Do what the pod garbage collector does in a cluster: finish deletions that were broken off between their two steps.

        The API server marks an object and then removes it; when the client is gone in between, nothing removes it.
        """
        mine = self._bus.scope.mine(self._environment.truth.objects)
        for (resource, namespace, name), obj in sorted(mine.items(), key=lambda each: each[0]):
            metadata = obj["metadata"]
            unfinished = "deletionTimestamp" in metadata and metadata.get("deletionGracePeriodSeconds") == 0
            if not unfinished or metadata.get("finalizers"):
                continue
            kind = await self._environment.api.type_named(resource)
            if kind is not None:
                with contextlib.suppress(ApiError):
                    await self._environment.api.delete(kind, namespace, name, now=True)
