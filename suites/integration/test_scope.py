"""A cluster-scoped primary, with a cluster-scoped child and one in another namespace: every trial has its own, and cleans up."""

from collections.abc import AsyncIterator, Sequence
from copy import deepcopy
from typing import Any

import pytest
import pytest_asyncio
import yaml

from staleproof.core.fault import HoldStream, Window
from staleproof.core.history.entry import Asked, Committed, FaultFired
from staleproof.core.history.history import History
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Delete, Edit, Patch, Recreate, Step, Touch
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.trial.environment import EnvironmentOptions, environment

from .environments import LIMIT_SECONDS, MANIFESTS, Player, fixture, of, target

TENANT: Manifest = yaml.safe_load((MANIFESTS / "tenant-sample.yaml").read_text())
ROLES, CONFIG_MAPS, TENANTS = "clusterroles.rbac.authorization.k8s.io", "configmaps", "tenants.staleproof.dev"
OURS = (TENANTS, ROLES, CONFIG_MAPS)


def crd() -> Manifest:
    """It insists on the name `only`, or on another beginning."""
    made: Manifest = yaml.safe_load((MANIFESTS / "tenant-crd.yaml").read_text())
    rule = {"rule": "self.metadata.name == 'only' || !self.metadata.name.startsWith('only')"}
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] = [rule]
    return made


def called(name: str) -> Manifest:
    made = deepcopy(TENANT)
    made["metadata"]["name"] = name
    return made


def plan(*steps: Step, **more: Any) -> Plan:  # noqa: ANN401  # fields of Plan
    return Plan(scenario="scope", steps=steps, **more)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def player(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Player]:
    folder = tmp_path_factory.mktemp("environment")
    (folder / "trials").mkdir()
    options = EnvironmentOptions(subject=fixture("tenant", "thorough"), manifests=(crd(),))
    async with environment(options, folder / "environment", Silent()) as made:
        yield Player(made, folder / "trials")


def names(history: History, *, what: str = "ADDED") -> set[str]:
    """Of the trial's own objects."""
    mine = (entry for entry in of(history, Committed) if entry.namespace == history.header.namespace and entry.type == what)
    return {entry.name for entry in mine if entry.resource in OURS}


async def left(player: Player, beginnings: Sequence[str] = ("sample", "only")) -> list[str]:
    """What there is of Tenants in the end."""

    def there() -> list[str]:
        objects = player.environment.truth.objects
        return [name for resource, _, name in objects if resource in OURS and name.startswith(tuple(beginnings))]

    await player.environment.bus.until(lambda now: not there(), limit_seconds=LIMIT_SECONDS)
    return there()


@pytest.mark.asyncio(loop_scope="module")
async def test_a_trial_has_names_of_its_own_which_its_history_leaves_out(player: Player) -> None:
    with player.seeing() as seen:
        first = await player.play(plan(Apply(object=TENANT), Patch(target=target(TENANT), patch={"spec": {"motd": "Be brave."}})))
    second = await player.play(plan(Apply(object=TENANT)))

    assert first.header.mark != second.header.mark
    assert {entry.name for entry in of(seen, Committed) if entry.resource == TENANTS} == {f"sample{first.header.mark}"}
    assert names(first) == names(second) == {"sample", "sample-members", "default/sample-motd"}
    assert first.header.mark not in str(first.entries)
    [changed] = [entry.object for entry in of(first, Committed) if entry.name == "default/sample-motd" and entry.type == "MODIFIED"]
    assert changed["data"] == {"motd": "Be brave."}
    assert changed["metadata"]["namespace"] == "default"
    creates = [entry for entry in of(first, Asked) if entry.verb == "create"]
    assert {(entry.resource, entry.namespace) for entry in creates} == {
        (each, first.header.namespace) for each in (ROLES, CONFIG_MAPS)
    }
    assert await left(player) == []


@pytest.mark.asyncio(loop_scope="module")
async def test_a_name_that_must_be_this_one_is_free_again_after_each_trial(player: Player) -> None:
    for _ in range(2):
        history = await player.play(
            plan(Apply(object=called("only")), Delete(target=target(called("only"))), Apply(object=called("only")))
        )
        assert not history.header.mark
        made = [entry for entry in of(history, Committed) if entry.resource == TENANTS and entry.type == "ADDED"]
        assert [entry.name for entry in made] == ["only", "only"]
        assert names(history, what="DELETED") >= {"only", "only-members", "default/only-motd"}
    assert await left(player) == []


@pytest.mark.asyncio(loop_scope="module")
async def test_what_others_do_to_a_child_elsewhere_is_done_there(player: Player) -> None:
    edit = Edit(resource=CONFIG_MAPS, patch={"data": {"motd": "Be loud."}})
    history = await player.play(plan(Apply(object=TENANT), edit, Recreate(resource=CONFIG_MAPS), Touch(target=target(TENANT))))

    data = [entry.object["data"]["motd"] for entry in of(history, Committed) if entry.name == "default/sample-motd"]
    assert data[:3] == ["Be kind.", "Be loud.", "Be kind."]
    assert sum(entry.type == "ADDED" for entry in of(history, Committed) if entry.name == "default/sample-motd") == 2
    assert await left(player) == []


@pytest.mark.parametrize("resource", [TENANTS, ROLES, CONFIG_MAPS])
@pytest.mark.asyncio(loop_scope="module")
async def test_a_fault_about_one_object_finds_it_by_the_name_in_the_plan(player: Player, resource: str) -> None:
    name = "sample" if resource == TENANTS else ""
    hold = HoldStream(resource=resource, name=name, window=Window(1, 2))
    history = await player.play(plan(Apply(object=TENANT), Touch(target=target(TENANT)), faults=(hold,)))

    [fired] = of(history, FaultFired)
    assert history.header.mark not in fired.on
    assert names(history) == {"sample", "sample-members", "default/sample-motd"}
    assert await left(player) == []
