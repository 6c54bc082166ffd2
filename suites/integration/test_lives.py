"""Faults about the controller's process, on a real controller: killed at a write, restarted, kept down, paused.

The controller is the honest one with deterministic names: whatever is done to its process, the pods that the Widget wants are there
in the end, and no others.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from staleproof.checks.ends.exits import deaths, lost_its_lease
from staleproof.checks.trial import Trial
from staleproof.core.fault import AnyFault, Kill, Pause, Refuse, Restart, Window
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Broke,
    Committed,
    Continued,
    Entry,
    Exited,
    FaultClosed,
    FaultFired,
    FaultMissed,
    Settled,
    Started,
    StepBegan,
    Stopped,
)
from staleproof.core.history.history import History
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Delete, Patch, Rest, Touch
from staleproof.drive.cluster.api import ApiError
from staleproof.drive.cluster.manifests import resource_type
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.supervision import supervisor_wait
from staleproof.drive.trial.workload import is_unserved

from .environments import WIDGET, Player, fixture, of, target

TARGET = target(WIDGET)
UNSERVED_WEBHOOK: Manifest = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "unserved"},
    "webhooks": [
        {
            "name": "widgets.example.com",
            "clientConfig": {"url": "https://127.0.0.1:1/validate"},
            "rules": [{"apiGroups": ["staleproof.dev"], "apiVersions": ["*"], "operations": ["*"], "resources": ["widgets"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
    ],
}
SCALED = 5


Run = Callable[..., Awaitable[History]]


@pytest.fixture
def run(player: Player) -> Run:
    """A Widget is made, touched and scaled, under these faults."""
    steps = (Apply(object=WIDGET), Touch(target=TARGET), Patch(target=TARGET, patch={"spec": {"replicas": SCALED}}))

    async def run(*faults: AnyFault) -> History:
        return await player.settle(Plan(scenario="lives", steps=steps, faults=faults), pods=SCALED)

    return run


def names_created(history: History) -> list[str]:
    return sorted(entry.name for entry in of(history, Committed) if entry.resource == "pods" and entry.type == "ADDED")


def is_well(history: History) -> None:
    """The trial settled, and nothing was made twice."""
    assert [entry.ok for entry in of(history, Settled)] == [True]
    assert len(names_created(history)) == len(set(names_created(history))) == SCALED


@pytest.mark.parametrize(("moment", "committed"), [("before", 1), ("after", 2)])
async def test_a_kill_at_a_write_leaves_it_done_or_undone(run: Run, moment: Any, committed: int) -> None:  # noqa: ANN401  # a Literal
    history = await run(Kill(resource="pods", verb="create", nth=2, moment=moment))
    is_well(history)
    (stopped,) = of(history, Stopped)
    _, again = of(history, Started)
    assert again.life == stopped.life + 1
    assert again.pid
    creates = [entry for entry in of(history, Asked) if entry.resource == "pods" and entry.verb == "create"]
    assert len(creates) >= SCALED + (moment == "before")  # what was not done was asked for again
    made = {entry.uid: entry.at for entry in of(history, Committed) if entry.resource == "pods" and entry.type == "ADDED"}
    first = {entry.request for entry in creates if entry.at <= stopped.at}
    by_then = {entry.uid for entry in of(history, Answered) if entry.request in first and entry.uid}
    assert len(by_then) == committed
    assert by_then <= made.keys()
    assert {uid for uid, at in made.items() if at <= stopped.at} <= by_then  # a commit may be heard of later


@pytest.mark.parametrize("gently", [False, True])
async def test_a_restart_ends_one_life_and_begins_the_next_before_the_step_is_done(run: Run, gently: bool) -> None:  # noqa: FBT001
    history = await run(Restart(window=Window(from_step=2), gently=gently))
    is_well(history)
    (stopped,), (_, started) = of(history, Stopped), of(history, Started)
    second = of(history, StepBegan)[1]
    assert stopped.at <= started.at <= second.at
    assert [entry.on for entry in of(history, FaultFired)] == [f"the controller was {'stopped' if gently else 'killed'}"]


async def test_a_controller_that_stays_down_does_nothing_until_the_fault_closes(run: Run) -> None:
    history = await run(Restart(window=Window(from_step=2), stays_down=True))
    is_well(history)
    (stopped,), (_, started) = of(history, Stopped), of(history, Started)
    third = of(history, StepBegan)[2]
    (closed,) = of(history, FaultClosed)
    assert stopped.at < third.at < closed.at <= started.at
    assert not [entry for entry in of(history, Asked) if stopped.at < entry.at <= closed.at]


async def test_a_paused_controller_does_nothing_and_goes_on_in_the_same_life(run: Run) -> None:
    history = await run(Pause(window=Window(from_step=2)))
    is_well(history)
    (stopped,), (continued,) = of(history, Stopped), of(history, Continued)
    assert stopped.paused
    assert stopped.life == continued.life
    assert len(of(history, Started)) == 1
    (closed,) = of(history, FaultClosed)
    assert stopped.at < closed.at <= continued.at
    assert not [entry for entry in of(history, Asked) if stopped.at < entry.at <= closed.at]


async def test_a_controller_that_cannot_connect_for_a_while_recovers(run: Run) -> None:
    history = await run(Refuse(window=Window(from_step=2, seconds=1.0)))
    is_well(history)
    assert of(history, FaultFired)


async def test_a_kill_at_a_write_that_never_comes_is_reported_as_missed(run: Run) -> None:
    history = await run(Kill(resource="pods", verb="create", nth=50))
    is_well(history)
    (missed,) = of(history, FaultMissed)
    assert "number 50" in missed.why
    assert not of(history, Stopped)


async def test_a_leader_that_exits_because_it_lost_its_lease_is_started_again(player: Player) -> None:
    await player.use(fixture("correct", "leader_that_exits"))
    steps = (Apply(object=WIDGET), Rest(seconds=5.0), Patch(target=TARGET, patch={"spec": {"replicas": SCALED}}))
    plan = Plan(scenario="lives", steps=steps, faults=(Pause(window=Window(from_step=2, until_step=3)),))
    history = await player.settle(plan, pods=SCALED)
    is_well(history)
    (exited,), (_, again) = of(history, Exited), of(history, Started)
    assert lost_its_lease(exited)
    assert exited.unrenewed is not None
    assert exited.at <= again.at


async def test_a_controller_that_exits_at_every_start_stays_down_ever_longer(player: Player) -> None:
    await player.use(fixture("mutants", "crash_loops"))
    plan = Plan(scenario="lives", steps=(Apply(object=WIDGET),), faults=(Kill(resource="pods", nth=1),))
    history = await player.play(plan, converged=lambda live: "never", deadline_seconds=4.0)
    exits = of(history, Exited)
    assert len(exits) >= 3
    assert all(entry.code == 2 and any("panic: widget" in line for line in entry.log) for entry in exits)
    waits = [start.at - exited.at for exited, start in zip(exits, of(history, Started)[2:], strict=False)]
    assert all(wait >= supervisor_wait(number) - 0.001 for number, wait in enumerate(waits, 1))  # a start takes time, too
    assert len(deaths(Trial(history))) == len(exits)


async def test_a_step_on_a_primary_that_goes_late_is_not_done_and_no_plan_is_to_blame(player: Player) -> None:
    """Without any fault: its finalizer is taken off while the user rests."""
    environment = player.environment
    await player.use(fixture("deterministic"))
    kept = {**WIDGET, "metadata": {**WIDGET["metadata"], "finalizers": ["example.com/late"]}}
    kind, let_go = await resource_type(kept, environment.api), asyncio.Event()

    def see(entry: Entry) -> None:
        if isinstance(entry, StepBegan) and entry.step == 3:  # it rests
            let_go.set()

    environment.bus.listeners.append(see)
    async with asyncio.TaskGroup() as group:
        steps = (Apply(object=kept), Delete(target=TARGET), Rest(seconds=5.0), Touch(target=TARGET))
        trial = group.create_task(player.play(Plan(scenario="lives", steps=steps)))
        await let_go.wait()
        assert environment.bus.recorder is not None
        namespace = environment.bus.recorder.header.namespace
        await environment.api.merge(kind, namespace, WIDGET["metadata"]["name"], {"metadata": {"finalizers": None}})
    environment.bus.listeners.remove(see)
    (broke,) = of(trial.result(), Broke)
    assert broke.why.startswith("step 4 (touch Widget/sample): the API server answered 404")


async def _until_asked_at_webhooks(environment: Environment) -> None:
    """The API server knows a new webhook from a watch of its own, and so some time after it was made."""
    kind = await resource_type(WIDGET, environment.api)
    tried = WIDGET | {"metadata": {"name": "tried"}}
    while True:
        try:
            await environment.api.call("POST", kind.path("default"), tried, dryRun="All")
        except ApiError as err:
            if is_unserved(err):
                return
            raise


async def test_a_step_waits_for_a_webhook_that_is_not_served_yet(player: Player) -> None:
    """As when the controller that serves it is being started again."""
    environment, began = player.environment, asyncio.Event()
    await player.use(fixture("deterministic"))
    await environment.controller_ready()
    kind = await resource_type(UNSERVED_WEBHOOK, environment.api)
    await environment.api.call("POST", kind.path(), UNSERVED_WEBHOOK)
    await _until_asked_at_webhooks(environment)

    def see(entry: Entry) -> None:
        if isinstance(entry, StepBegan):
            began.set()

    environment.bus.listeners.append(see)
    async with asyncio.TaskGroup() as group:
        plan = Plan(scenario="lives", steps=(Apply(object=WIDGET),))
        trial = group.create_task(player.settle(plan, pods=3))
        await began.wait()
        await environment.bus.until(lambda now: False, limit_seconds=1.0)
        await environment.api.delete(kind, "", UNSERVED_WEBHOOK["metadata"]["name"])
    history = trial.result()
    environment.bus.listeners.remove(see)
    (step,) = of(history, StepBegan)
    applied = next(entry for entry in of(history, Committed) if entry.resource == "widgets.staleproof.dev")
    assert applied.at - step.at >= 1.0
    assert not of(history, Broke)
