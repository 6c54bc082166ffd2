"""Primaries that have to be in one namespace, which trials have in turn, and a primary that takes seconds to go."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from staleproof.core.fault import HoldStream, Restart, Window
from staleproof.core.history.entry import Asked, Broke, Committed, FaultFired, Listed, Opened, Settled
from staleproof.core.history.history import History
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Apply, Delete, Recreate, Step, Touch
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.trial.environment import EnvironmentOptions, environment

from .environments import CRDS, WIDGET, Player, fixture, of, target

HOME, WIDGETS, PODS, LEDGER = "widgets-system", "widgets.staleproof.dev", "pods", "widgets-ledger"
SECRET: Manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "needed"}, "stringData": {"a": "b"}}
STAYS = {("configmaps", LEDGER), ("secrets", "needed")}
"""What is not a trial's."""
RESIDENT = fixture("resident", "careful", f"--namespace={HOME}")


def plan(*steps: Step, **more: Any) -> Plan:  # noqa: ANN401  # fields of Plan
    return Plan(scenario="scope", steps=steps, **more)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def player(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Player]:
    folder = tmp_path_factory.mktemp("environment")
    (folder / "trials").mkdir()
    options = EnvironmentOptions(subject=RESIDENT, manifests=CRDS)
    async with environment(options, folder / "environment", Silent()) as made:
        yield Player(made, folder / "trials")


def there(player: Player) -> set[tuple[str, str]]:
    """Resource and name of all that is in the shared namespace."""
    own = ("configmaps", "secrets", PODS, WIDGETS)
    return {
        (resource, name) for resource, namespace, name in player.environment.truth.objects if namespace == HOME and resource in own
    }


async def are_all_there_is(player: Player, expected: set[tuple[str, str]]) -> bool:
    """Whether the shared namespace comes to hold these alone: what was deleted is seen to be gone a little later."""
    return await player.environment.bus.until(lambda now: there(player) == expected, limit_seconds=30.0)


def made(history: History, resource: str) -> list[str]:
    mine = (entry for entry in of(history, Committed) if entry.namespace == history.header.namespace)
    return [entry.name for entry in mine if entry.resource == resource and entry.type == "ADDED"]


@pytest.mark.asyncio(loop_scope="module")
async def test_trials_have_in_turn_the_namespace_that_the_controller_watches(player: Player) -> None:
    steps = Apply(object=WIDGET), Touch(target=target(WIDGET))
    with player.seeing() as seen:
        first = await player.play(plan(*steps, before=(SECRET,)))
    second = await player.play(plan(*steps, before=(SECRET,)))

    marked = f"{WIDGET['metadata']['name']}{first.header.mark}"
    assert {(each.namespace, each.name) for each in of(seen, Committed) if each.resource == WIDGETS} == {(HOME, marked)}
    assert first.header.mark != second.header.mark
    for history in (first, second):
        assert made(history, WIDGETS) == ["sample"]
        assert len(made(history, PODS)) == WIDGET["spec"]["replicas"]
        assert of(history, Settled)[-1].ok
        assert history.header.mark not in str(history.entries)
        assert LEDGER not in str(of(history, Committed))
        streams = [entry for entry in of(history, Opened) if entry.resource in (WIDGETS, PODS)]
        assert {entry.namespace for entry in streams} == {history.header.namespace}
    assert await are_all_there_is(player, STAYS), there(player)
    ledger = player.environment.truth.objects["configmaps", HOME, LEDGER]
    assert len(ledger["data"]) == 2


@pytest.mark.asyncio(loop_scope="module")
async def test_faults_and_others_reach_what_is_there(player: Player) -> None:
    hold = HoldStream(resource=PODS, window=Window(2, 3))
    steps = (Apply(object=WIDGET), Recreate(resource=PODS, foreign=True), Touch(target=target(WIDGET)))
    history = await player.play(plan(*steps, faults=(hold,)))

    assert not of(history, Broke)
    assert of(history, FaultFired)
    assert "somebody-else" in made(history, "configmaps")
    assert {entry.namespace for entry in of(history, Asked) if entry.resource == WIDGETS} == {history.header.namespace}
    assert all(item.namespace == history.header.namespace for entry in of(history, Listed) for item in entry.items)
    assert await are_all_there_is(player, STAYS), there(player)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_controller_that_looks_everywhere_has_a_namespace_for_each_trial_unless_one_is_named(player: Player) -> None:
    await player.use(fixture("resident", "careful"))
    for name in ("", "named-system"):
        player.environment.options = replace(player.environment.options, namespace=name)
        with player.seeing() as seen:
            history = await player.play(plan(Apply(object=WIDGET)))
        assert made(history, WIDGETS) == ["sample"]
        assert {each.namespace for each in of(seen, Committed) if each.resource == WIDGETS} == {name or history.header.namespace}
        assert bool(history.header.mark) == bool(name)
    player.environment.options = replace(player.environment.options, namespace="")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_recreation_waits_until_the_predecessor_is_gone(player: Player) -> None:
    await player.use(fixture("slow_to_part", "mindful", LOOP_SECONDS="12"))
    goes, comes = Delete(target=target(WIDGET)), Apply(object=WIDGET)
    history = await player.play(plan(comes, goes, comes))

    assert not of(history, Broke)
    assert made(history, WIDGETS) == ["sample", "sample"]
    assert len(made(history, PODS)) == 2 * WIDGET["spec"]["replicas"]


@pytest.mark.asyncio(loop_scope="module")
async def test_the_faults_of_a_recreation_open_when_the_predecessor_is_gone(player: Player) -> None:
    await player.use(fixture("slow_to_part", "mindful", LOOP_SECONDS="4"))
    goes, comes = Delete(target=target(WIDGET)), Apply(object=WIDGET)
    down = Restart(stays_down=True, window=Window(3, 4))
    history = await player.play(plan(comes, goes, comes, Touch(target=target(WIDGET)), faults=(down,)))

    assert not of(history, Broke)
    assert made(history, WIDGETS) == ["sample", "sample"]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_step_is_not_done_to_a_predecessor_that_does_not_go(player: Player) -> None:
    await player.use(fixture("slow_to_part", "mindful", LOOP_SECONDS="1000"))
    player.environment.lives.keeps_primaries = True  # three minutes have been waited for already
    goes, comes = Delete(target=target(WIDGET)), Apply(object=WIDGET)
    history = await player.play(plan(comes, goes, comes, settle=Settle(begins_seconds=30.0)))  # its finalizer is there first

    [broke] = of(history, Broke)
    assert "its predecessor was deleted and is still there after 10 s, kept by the finalizer staleproof.dev/clean-up" in broke.why
    assert made(history, WIDGETS) == ["sample"]
