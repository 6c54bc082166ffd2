"""`staleproof doctor`: with one environment, one thing after the other is tried with the operator, within a minute.

What it means is decided in `assess.doctor.beginning` and `assess.doctor.diagnosis`.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from staleproof.assess.doctor import beginning, diagnosis
from staleproof.assess.doctor.beginning import Beginning, Sightings
from staleproof.assess.doctor.check import (
    METRICS,
    PORTS,
    RBAC,
    REACHABLE,
    RECONCILES,
    RESTARTS,
    STAYS_UP,
    WATCHES,
    WEBHOOKS,
    Check,
    failed,
    no_time,
    not_asked,
)
from staleproof.assess.doctor.controller_log import in_short
from staleproof.assess.doctor.diagnosis import Companions
from staleproof.assess.doctor.symptoms import explained
from staleproof.assess.learn.companions import acts_on_children, undisturbed
from staleproof.assess.learn.samples import Samples, may_need, roles_of, watched
from staleproof.checks.trial import Trial, indexed
from staleproof.core.history.entry import Entry, Exited
from staleproof.core.operator.companion import ALWAYS
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Settle
from staleproof.core.plan.step import Apply
from staleproof.core.times import (
    DOCTOR_DEADLINE_SECONDS,
    DOCTOR_METRICS_SECONDS,
    DOCTOR_QUIET_SECONDS,
    DOCTOR_REST_LIMIT_SECONDS,
    DOCTOR_REST_SECONDS,
    DOCTOR_SECONDS,
    DOCTOR_WATCH_AGAIN_SECONDS,
    LATE_LIFE_LIMIT_SECONDS,
    LATE_LIFE_SECONDS,
    LOOK_SECONDS,
    NEXT_WATCH_SECONDS,
    POLL_SECONDS,
)
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.process import logs
from staleproof.drive.process.ports import listening
from staleproof.drive.process.program import Log
from staleproof.drive.subject.metrics import Unreadable
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.lives import ControllerExited
from staleproof.drive.trial.prerequisites import introduce
from staleproof.drive.trial.run import run_trial
from staleproof.drive.trial.spec import TrialSpec
from staleproof.errors import SetupError, UsageError

_LOOK = Settle(quiet_seconds=DOCTOR_QUIET_SECONDS, deadline_seconds=DOCTOR_DEADLINE_SECONDS)
_PATIENT = Settle(quiet_seconds=LATE_LIFE_SECONDS, limit_seconds=LATE_LIFE_LIMIT_SECONDS, deadline_seconds=LATE_LIFE_LIMIT_SECONDS)
_MOST_LIVES, _LINES = 3, 500
Tell = Callable[[Check], None]
Step = Callable[[], Awaitable[list[Check]]]


async def examine(
    environment: Environment, samples: Samples, begin: Callable[[str], None], tell: Tell, *, chooses_companions: bool
) -> list[Check]:
    """Make every check, and pass each on when it is done (`tell`). `begin` gets the name of the next. `chooses_companions`: a run
    starts what a real cluster has for what the controller creates."""
    visit, found = _Visit(environment, samples, chooses_companions=chooses_companions), list[Check]()
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
    return [no_time(name, DOCTOR_SECONDS)]


class _Visit:
    """One examination. Its steps are taken in order; what an earlier one found out serves the later ones.

    `_first`: what the controller watched before there was anything for it to do. `_exits`: those of its lives that ended by
    themselves. `_ports`: those that its first life listened on before it ended.
    """

    def __init__(self, environment: Environment, samples: Samples, *, chooses_companions: bool) -> None:
        self._environment, self._samples, self._chooses_companions = environment, samples, chooses_companions
        self._seen = Sightings()
        self._began: Beginning | None = None
        self._up_since = time.monotonic()
        self._first: frozenset[str] = frozenset()
        self._exits: list[Exited] = []
        self._ports: frozenset[int] | None = None
        self._works, self._has_worked = True, False
        self._unserved = ""
        environment.bus.listeners.append(self._see)

    def steps(self) -> Iterator[tuple[str, Step]]:
        yield REACHABLE, self._reach
        yield WATCHES, self._watch
        for name, step in (
            (RECONCILES, self._reconcile),
            (RESTARTS, self._restart),
            (STAYS_UP, self._stay_up),
            (PORTS, self._fixed_ports),
            (RBAC, self._rights),
            (WEBHOOKS, self._webhooks),
            (METRICS, self._metrics),
        ):
            yield name, self._if_it_runs(name, step)

    def _see(self, entry: Entry) -> None:
        self._seen.see(entry)
        if isinstance(entry, Exited):
            self._exits.append(entry)

    def _if_it_runs(self, name: str, step: Step) -> Step:
        """Skip a check that needs a running controller if there is none; what it may not do is checked all the same."""

        async def guarded() -> list[Check]:
            is_up = self._began is not None and self._began.error is None
            if is_up or (name == RBAC and self._environment.lives.refusals.counts):
                return await step()
            return [not_asked(name, "the controller does not run, or watches nothing")]

        return guarded

    async def _reach(self) -> list[Check]:
        self._began = await self._begin()
        self._works = self._began.error is None
        self._exits.clear()
        self._up_since = time.monotonic()
        return [beginning.reachable(self._began)]

    async def _watch(self) -> list[Check]:
        began = self._began
        if began is None or began.exit_code is not None or (began.error is not None and not began.seen.requests):
            return [not_asked(WATCHES, "the controller does not run, or does not come to the API server")]
        wanted = await self._resources()
        await self._until_watched(wanted)
        self._first = frozenset(self._seen.watched)
        return [beginning.watches(began, wanted)]

    async def _until_watched(self, resources: Collection[str], limit_seconds: float = NEXT_WATCH_SECONDS) -> None:
        """Some watches come later than the first rest, and some never."""
        seen = self._seen
        await self._environment.bus.until(lambda now: set(resources) <= seen.watched, limit_seconds=limit_seconds)

    async def _resources(self) -> list[str]:
        """Of the samples, as far as the API server knows them."""
        found = []
        for sample in self._samples.primaries:
            try:
                found.append((await resource_type(sample, self._environment.api)).name)
            except UsageError:  # reported when it is applied
                continue
        return found

    async def _reconcile(self) -> list[Check]:
        samples = self._samples
        if not samples.primaries:
            return [
                failed(RECONCILES, "there is no sample", "give manifests of primaries with --samples", code=UsageError.exit_code)
            ]
        try:
            await introduce(self._environment, samples.primaries, samples.before)
            wanted = samples.of(roles_of(await watched(self._environment, samples.primaries), is_said=samples.is_said))
        except UsageError as err:
            self._works = False
            return [diagnosis.refused_sample("samples", err)]
        return [await self._reconciles(*each) for each in wanted]

    async def _reconciles(self, sample: Manifest, before: tuple[Manifest, ...]) -> Check:
        """A controller that does nothing is looked at again, with more patience."""
        resource, log = (await resource_type(sample, self._environment.api)).name, self._log_from_here()
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
        companions = Companions(self._lacking_companions(trial), self._chooses_companions)
        written = self._lines(log) if trial.idle else self._unexplained(self._lines(log))
        check = diagnosis.reconciles(trial, sample, before, resource, written, companions)
        self._works &= check.outcome != "failed"
        self._has_worked |= check.outcome != "failed"
        return check if check.outcome == "ok" else replace(check, fix=check.fix + may_need(sample, before, self._samples.primaries))

    def _unexplained(self, lines: Iterable[str]) -> tuple[str, ...]:
        """The lines without what it says whatever it is given, which an earlier check has reported."""
        known = set(chain.from_iterable(explained([line]) for line in self._began.log)) if self._began is not None else set()
        return tuple(line for line in lines if known.isdisjoint(explained([line])))

    def _lacking_companions(self, trial: Trial) -> tuple[str, ...]:
        """Those that a real cluster has for what the controller created, and that do not run here."""
        if self._environment.is_users_cluster:
            return ()
        there = {*ALWAYS, *self._environment.options.companions}
        return tuple(name for name in acts_on_children(trial) if name not in there)

    async def _look(self, sample: Manifest, before: tuple[Manifest, ...], settle: Settle) -> Trial:
        plan = undisturbed(Apply(object=sample), before=before, settle=settle)
        folder = self._environment.folder / f"{name_of(sample).replace('/', '-')}-{settle.quiet_seconds:g}"
        return indexed(await run_trial(TrialSpec(plan=plan, before=before, folder=folder), self._environment))

    async def _restart(self) -> list[Check]:
        environment, controller, began = self._environment, self._environment.lives.program, time.monotonic()
        self._ports = self._listening()
        await environment.lives.stop(gently=True)
        seconds = time.monotonic() - began
        again = await self._begin()
        if again.error is None:
            await self._until_watched(self._first, DOCTOR_WATCH_AGAIN_SECONDS)
        return [beginning.restarts(seconds, controller.exit_code if controller is not None else None, again, self._first)]

    async def _stay_up(self) -> list[Check]:
        return [beginning.stays_up(self._exits, time.monotonic() - self._up_since)]

    async def _fixed_ports(self) -> list[Check]:
        """A port that two lives choose is fixed, unless it is one that we gave both of them."""
        lives, mine = self._environment.lives, self._listening()
        hooks = lives.webhooks
        given = {lives.metrics_port, *((hooks.port,) if hooks is not None and hooks.port != hooks.server.port else ())}
        known = self._ports is not None and mine is not None and lives.running is not None
        return [beginning.ports((self._ports or set()) & (mine or set()) - given if known else None)]

    def _listening(self) -> frozenset[int] | None:
        """The ports that the controller listens on; None where they are its own, or this system does not list them."""
        lives = self._environment.lives
        return None if lives.network is not None or lives.running is None else listening(lives.running.pid)

    async def _rights(self) -> list[Check]:
        environment = self._environment
        refused = await environment.lives.refusals.missing_rights(environment.api)
        account, is_users = environment.lives.refusals.account, environment.is_users_cluster
        works, has_worked = self._works, self._has_worked
        return [diagnosis.rights(account, refused, works=works, has_worked=has_worked, is_users_cluster=is_users)]

    async def _webhooks(self) -> list[Check]:
        environment = self._environment
        has_some, is_users = environment.has_webhooks, environment.is_users_cluster
        calls = await environment.webhook_calls() if has_some and not is_users else {}
        return [diagnosis.webhooks(calls, self._unserved, has_some=has_some, is_users_cluster=is_users)]

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
        """Begin a life of the controller, and another one if it exits before it has come to rest. Its metrics are not waited for:
        they have a check of their own."""
        environment, log, error = self._environment, self._log_from_here(), None
        deaths: list[int] = []
        for _ in range(_MOST_LIVES):
            began = time.monotonic()
            self._seen = Sightings(news_at=began)
            try:
                await environment.controller_ready(awaits_metrics=False)
            except (UsageError, SetupError) as err:
                error = err
                break
            if (code := await self._exits_before_rest()) is None:
                break
            deaths.append(code)
        else:
            error = ControllerExited(f"the controller exited with code {deaths[-1]} soon after it had begun.", deaths[-1])
        return Beginning(
            seen=self._seen,
            seconds=(self._seen.news_at if error is None else time.monotonic()) - began,
            error=error,
            is_started=environment.lives.program is not None,
            exit_code=error.code if isinstance(error, ControllerExited) else None,
            deaths=tuple(deaths),
            log=self._lines(log),
            is_image=bool(environment.lives.subject.image),
        )

    async def _exits_before_rest(self) -> int | None:
        """Wait until the controller has asked for nothing new for a while; its exit code if it exits before, else None."""
        lives, seen = self._environment.lives, self._seen

        def rests_or_exits(now: float) -> bool | float:
            due = seen.news_at + DOCTOR_REST_SECONDS
            return lives.running is None or now >= due or min(due, now + POLL_SECONDS)

        await self._environment.bus.until(rests_or_exits, limit_seconds=DOCTOR_REST_LIMIT_SECONDS)
        return lives.program.exit_code if lives.program is not None else None

    def _log_from_here(self) -> Log:
        """What the controller is going to write."""
        return Log.opened(self._environment.lives.log)

    def _lines(self, log: Log) -> tuple[str, ...]:
        """What it wrote, without secrets."""
        text = "\n".join(log.last_lines(_LINES))
        masked = logs.masked(text.encode(), self._environment.lives.secrets).decode(errors="replace")
        return tuple(in_short(line) for line in masked.split("\n")) if masked else ()
