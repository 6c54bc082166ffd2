"""`staleproof doctor`: with one environment, one thing after the other is tried with the operator, within less than a minute.

What it means is decided in `assess.doctor.diagnosis`.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import replace

from staleproof.assess.doctor import diagnosis
from staleproof.assess.doctor.diagnosis import (
    METRICS,
    RBAC,
    REACHABLE,
    RECONCILES,
    RESTARTS,
    WATCHES,
    WEBHOOKS,
    Beginning,
    Check,
    Sightings,
)
from staleproof.assess.learn.companions import undisturbed
from staleproof.assess.learn.samples import Samples, may_need, roles_of, watched
from staleproof.checks.trial import Trial, indexed
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Settle
from staleproof.core.plan.step import Apply
from staleproof.core.times import (
    DOCTOR_DEADLINE_SECONDS,
    DOCTOR_METRICS_SECONDS,
    DOCTOR_QUIET_SECONDS,
    DOCTOR_SECONDS,
    LATE_LIFE_LIMIT_SECONDS,
    LATE_LIFE_SECONDS,
    LOOK_SECONDS,
    NEXT_WATCH_SECONDS,
)
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.subject.metrics import Unreadable
from staleproof.drive.subject.webhooks import told_calls
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.lives import ControllerExited
from staleproof.drive.trial.prerequisites import introduce
from staleproof.drive.trial.run import TrialSpec, run_trial
from staleproof.errors import SetupError, UsageError

_LOOK = Settle(quiet_seconds=DOCTOR_QUIET_SECONDS, deadline_seconds=DOCTOR_DEADLINE_SECONDS)
_PATIENT = Settle(quiet_seconds=LATE_LIFE_SECONDS, limit_seconds=LATE_LIFE_LIMIT_SECONDS, deadline_seconds=LATE_LIFE_LIMIT_SECONDS)
Tell = Callable[[Check], None]
Step = Callable[[], Awaitable[list[Check]]]


async def examine(environment: Environment, samples: Samples, begin: Callable[[str], None], tell: Tell) -> list[Check]:
    """Try everything and tell of each check when it is done; all of them. `begin` is told what comes next."""
    visit, found = _Visit(environment, samples), list[Check]()
    end = time.monotonic() + DOCTOR_SECONDS
    for name, step in visit.steps():
        begin(name)
        for check in await _within(end, name, step):
            found.append(check)
            tell(check)
    return found


async def _within(end: float, name: str, step: Step) -> list[Check]:
    """What came of a step, which ends when the time is over, and does not begin later."""
    if (left := end - time.monotonic()) > 0:
        try:
            async with asyncio.timeout(left):
                return await step()
        except TimeoutError:
            pass
    return [diagnosis.no_time(name, DOCTOR_SECONDS)]


class _Visit:
    """One examination. Its steps are taken in order; what an earlier one found out serves the later ones.

    `_first`: what the controller watched before there was anything for it to do.
    """

    def __init__(self, environment: Environment, samples: Samples) -> None:
        self._environment, self._samples = environment, samples
        self._seen = Sightings()
        self._began: Beginning | None = None
        self._first: frozenset[str] = frozenset()
        self._works = True
        self._unserved = ""
        environment.bus.listeners.append(lambda entry: self._seen.see(entry))

    def steps(self) -> Iterator[tuple[str, Step]]:
        yield REACHABLE, self._reach
        yield WATCHES, self._watch
        for name, step in (
            (RECONCILES, self._reconcile),
            (RESTARTS, self._restart),
            (RBAC, self._rights),
            (WEBHOOKS, self._webhooks),
            (METRICS, self._metrics),
        ):
            yield name, self._if_it_runs(name, step)

    def _if_it_runs(self, name: str, step: Step) -> Step:
        """What needs a controller that runs is not asked of one that does not; what it may not do is asked of it all the same."""

        async def asked() -> list[Check]:
            is_up = self._began is not None and self._began.error is None
            if is_up or (name == RBAC and self._environment.lives.refusals.counts):
                return await step()
            return [diagnosis.not_asked(name, "the controller does not run, or watches nothing")]

        return asked

    async def _reach(self) -> list[Check]:
        self._began = await self._begin()
        self._works = self._began.error is None
        return [diagnosis.reachable(self._began)]

    async def _watch(self) -> list[Check]:
        began = self._began
        if began is None or began.exit_code is not None or (began.error is not None and not began.seen.asked):
            return [diagnosis.not_asked(WATCHES, "the controller does not run, or does not come to the API server")]
        wanted = await self._resources()
        await self._until_watched(wanted)
        self._first = frozenset(self._seen.watched)
        return [diagnosis.watches(began, wanted)]

    async def _until_watched(self, resources: Collection[str]) -> None:
        """Some watches come later than the first rest, and some never."""
        seen = self._seen
        await self._environment.bus.until(lambda now: set(resources) <= seen.watched, limit_seconds=NEXT_WATCH_SECONDS)

    async def _resources(self) -> list[str]:
        """Of the samples, as far as the API server knows them."""
        found = []
        for sample in self._samples.primaries:
            try:
                found.append((await resource_type(sample, self._environment.api)).name)
            except UsageError:  # told when it is applied
                continue
        return found

    async def _reconcile(self) -> list[Check]:
        samples = self._samples
        if not samples.primaries:
            return [diagnosis.not_asked(RECONCILES, "there is no sample", "give manifests of primaries with --samples")]
        try:
            await introduce(self._environment, samples.primaries, samples.before)
            wanted = samples.of(roles_of(await watched(self._environment, samples.primaries), is_said=samples.is_said))
        except UsageError as err:
            self._works = False
            return [diagnosis.refused_sample("samples", err)]
        return [await self._reconciles(*each) for each in wanted]

    async def _reconciles(self, sample: Manifest, before: tuple[Manifest, ...]) -> Check:
        """A controller that does nothing is looked at again, with more patience."""
        resource = (await resource_type(sample, self._environment.api)).name
        try:
            trial = await self._look(sample, before, _LOOK)
            if trial.idle and not diagnosis.broke(trial):
                trial = await self._look(sample, before, _PATIENT)
        except (UsageError, SetupError) as err:
            self._works = False
            return diagnosis.refused_sample(name_of(sample), err)
        if unserved := diagnosis.broke(trial):
            self._unserved = unserved
            return diagnosis.unserved_sample(name_of(sample))
        check = diagnosis.reconciles(trial, sample, before, resource, self._log())
        self._works &= check.outcome != "failed"
        return check if check.outcome == "ok" else replace(check, fix=check.fix + may_need(sample, before, self._samples.primaries))

    async def _look(self, sample: Manifest, before: tuple[Manifest, ...], settle: Settle) -> Trial:
        plan = undisturbed(Apply(object=sample), before=before, settle=settle)
        folder = self._environment.folder / f"{name_of(sample).replace('/', '-')}-{settle.quiet_seconds:g}"
        return indexed(await run_trial(TrialSpec(plan=plan, before=before, folder=folder), self._environment))

    async def _restart(self) -> list[Check]:
        environment, controller, began = self._environment, self._environment.lives.program, time.monotonic()
        await environment.lives.stop(gently=True)
        seconds = time.monotonic() - began
        again = await self._begin()
        if again.error is None:
            await self._until_watched(self._first)
        return [diagnosis.restarts(seconds, controller.exit_code if controller is not None else None, again, self._first)]

    async def _rights(self) -> list[Check]:
        environment = self._environment
        refused = await environment.lives.refusals.told(environment.api)
        account, is_users = environment.lives.refusals.account, environment.is_users_cluster
        return [diagnosis.rights(account, refused, works=self._works, is_users_cluster=is_users)]

    async def _webhooks(self) -> list[Check]:
        environment = self._environment
        has_some = environment.lives.webhooks is not None
        calls = told_calls(await environment.api.metrics()) if has_some and not environment.is_users_cluster else ""
        return [diagnosis.webhooks(calls, self._unserved, has_some=has_some, is_users_cluster=environment.is_users_cluster)]

    async def _metrics(self) -> list[Check]:
        environment, source = self._environment, self._environment.lives.endpoint
        end, trouble = time.monotonic() + DOCTOR_METRICS_SECONDS, ""
        while source is not None:
            try:
                await source.check()
                trouble = ""
                break
            except Unreadable as err:
                trouble = str(err)
            if time.monotonic() >= end:
                break
            await environment.bus.until(lambda now: False, limit_seconds=LOOK_SECONDS)
        return [diagnosis.metrics(source.url if source is not None else "", trouble, environment.lives.metrics_port)]

    async def _begin(self) -> Beginning:
        """Begin a life of the controller. Its metrics are not waited for: they have a check of their own."""
        environment, began, error = self._environment, time.monotonic(), None
        self._seen = Sightings()
        try:
            await environment.controller_ready(awaits_metrics=False)
        except (UsageError, SetupError) as err:
            error = err
        return Beginning(
            seen=self._seen,
            seconds=time.monotonic() - began,
            error=error,
            is_started=environment.lives.program is not None,
            exit_code=error.code if isinstance(error, ControllerExited) else None,
            log=tuple(self._log()),
            is_image=bool(environment.lives.subject.image),
        )

    def _log(self) -> Sequence[str]:
        lives = self._environment.lives
        return lives.log_of(lives.program) if lives.program is not None else ()
