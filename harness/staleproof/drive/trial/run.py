"""One execution of a plan: the only module that knows all the others of `drive`.

It does what the plan says and waits for conditions; what the trial means is decided elsewhere, from the history.
"""

import asyncio
import contextlib
import datetime
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from staleproof.core.fault import AnyFault, PastSnapshot, StaleRead
from staleproof.core.history.change import LOOKS
from staleproof.core.history.entry import WORKLOAD, Broke, Ended, Released, StepBegan, StepEnded
from staleproof.core.history.history import Header, History
from staleproof.core.history.scope import Scope
from staleproof.core.operator.prerequisite import Placement
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.plan import encode as encode_plan
from staleproof.core.plan.step import Apply, Step, describe, in_parts, parts
from staleproof.core.plan.waiting import closes_with, departure_seconds
from staleproof.core.times import DEPARTURE_SECONDS, POLL_SECONDS, REST_SECONDS
from staleproof.drive.cluster.api import ApiError
from staleproof.drive.cluster.manifests import resource_type
from staleproof.drive.process import logs
from staleproof.drive.trial.clean_up import clean_up
from staleproof.drive.trial.endings import Endings
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.external_faults import ExternalFaults
from staleproof.drive.trial.nudges import what_heals
from staleproof.drive.trial.outside import Outside
from staleproof.drive.trial.placing import place
from staleproof.drive.trial.prerequisites import Before, furnish, given, introduce, without
from staleproof.drive.trial.probe import see_whether_it_works
from staleproof.drive.trial.process_faults import ProcessFaults
from staleproof.drive.trial.readings import Readings
from staleproof.drive.trial.recorder import Recorder
from staleproof.drive.trial.spec import Live, TrialSpec
from staleproof.drive.trial.workload import StillThere, Unserved, Vanished, Workload, primaries_of
from staleproof.errors import HarnessBug, SetupError, UsageError

_Primary = tuple[str, str]
"""Resource and name."""


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
    found = await _furnished(environment, before, scope, there)
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
        given=given(found, scope),
    )
    recorder = Recorder(spec.folder / "history.jsonl", header, spec.references, began=time.monotonic(), scope=scope)
    called = _called(plan, primaries, there)
    resources = list(dict.fromkeys(resource for resource, _ in primaries))
    bus.recorder = recorder
    for program in environment.programs:
        program.harmed_by = spec.title if plan.faults else program.harmed_by
    logged = logs.sizes(environment.logs)
    try:
        await _Run(_aimed(spec, dict(zip(primaries, called, strict=True))), environment, recorder, called, there, found).run()
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


async def _furnished(environment: Environment, before: Sequence[Manifest], scope: Scope, there: Placement) -> Before:
    """Make the trial's namespace, with what the workload needs; all that is there then."""
    await environment.create_namespace(scope.namespace)
    try:
        return await furnish(environment, before, there)
    except (UsageError, SetupError):
        await clean_up(environment, scope, ())
        raise


class _Run:
    """A trial under way. `primaries`: what the workload applies, as it is called in this trial; `before`: what was there before."""

    def __init__(
        self,
        spec: TrialSpec,
        environment: Environment,
        recorder: Recorder,
        primaries: Sequence[_Primary],
        where: Placement,
        before: Before,
    ) -> None:
        self._before = before
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
        self._endings = Endings(spec, self._bus, self._process_faults, self._readings, live=self._live, so_far=recorder.so_far)
        self._is_unserved = False
        self._settling_seconds = 0.0

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
                left = max(0.0, self._spec.probe.patience - self._settling_seconds)  # of the patience with what is missing
                probe = replace(self._spec.probe, patience=left)
                await see_whether_it_works(probe, self._environment, self._workload, self._resources)
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
        """What there is, without what was there before and is as it was."""
        scope = self._bus.scope
        return scope.shown(without(scope.mine(self._environment.truth.objects), self._before))

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
        idle = await self._endings.until_over(number)
        if lasts and (left := began + lasts[number - 1] - time.monotonic()) > 0:
            await asyncio.sleep(left)
            idle = await self._endings.until_over(number)
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

    async def _release_and_settle(self) -> bool:
        """Release everything, wait until converged and quiet, then let the controller reconcile everything once more; whether it
        converged."""
        bus = self._bus
        await self._proxy.release()
        await self._external_faults.settled()
        is_calm = not await self._outside.restore() and not self._spec.plan.faults
        await self._process_faults.settled()
        for missed in self._process_faults.missed():
            bus.take(missed)
        released = time.monotonic()
        if not (is_calm and self._has_rested(released)) and self._may_go_on():
            self._activity.touch(released)
        bus.take(Released(at=released))
        await self._readings.take()
        await self._sweep()
        await bus.until(
            lambda now: not self._activity.watches.is_starting or now + POLL_SECONDS,
            limit_seconds=self._environment.lives.start_seconds,
        )
        settled = await self._endings.until_settled(released)
        bus.take(settled)
        self._settling_seconds = settled.at - released
        await self._readings.take()
        if settled.ok and self._settle.resync:
            await self._look_again()
        return settled.ok

    def _has_rested(self, now: float) -> bool:
        """Whether it has done nothing for so long that it does nothing more by itself."""
        since = self._activity.idle_since(now)
        return since is not None and now - since >= REST_SECONDS

    def _may_go_on(self) -> bool:
        """Whether it may do more for the last step: nothing tells that it has come to its end, or a fault was open until then."""
        plan = self._spec.plan
        return not self._endings.is_end_known or closes_with(plan, len(plan.steps))

    async def _look_again(self) -> None:
        """Make the controller list its primaries, and again as long as it changes something each time: it may still have work."""
        settle = self._settle
        idle_seconds = settle.settling_seconds if self._endings.is_end_known else settle.idle_seconds
        for _ in range(LOOKS):
            self._activity.begin_step(time.monotonic())
            for resource in self._resources:
                await self._workload.resync(resource)
            await self._bus.until_idle(idle_seconds, limit_seconds=settle.limit_seconds)
            if not self._activity.done:
                return

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
