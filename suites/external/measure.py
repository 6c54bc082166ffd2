"""Runs one controller at a time on a real API server and a real PostgreSQL server, leaves it in peace, then changes roles behind
its back, and measures. There are no faults."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from staleproof.drive.cluster.api import Api
from staleproof.drive.cluster.control_plane import CONTROLLER, ControlPlaneOptions, Silent, control_plane
from staleproof.drive.programs.go_program import GoProgram, ensure_go_program

from ..integration.account_stage import AccountStage, Roles, accounts, roles_behind_a_relay
from ..integration.stage import direct_api
from ..integration.widget_stage import ROOT, define
from .ways import Cost, Repair, Way

OBJECTS = 10
QUIET_SECONDS = 12.0
"""A few periods of those that poll, and one of those that hear of changes."""
REPAIRS = 6
_LOOK_SECONDS = 0.02
_LIMIT_SECONDS = 60.0
_SHARE = 0.37
"""Of a period, from one repair to the next change. Where all objects have one turn, repairs take what is left of the period."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What all controllers are measured on."""

    api: Api
    kubeconfig: Path
    system: Roles
    folder: Path


@asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="staleproof-tradeoff-")))
        plane = await stack.enter_async_context(control_plane(ControlPlaneOptions(), folder / "control-plane", Silent()))
        api = await stack.enter_async_context(direct_api(plane))
        plane.write_kubeconfig(kubeconfig := folder / "controller.kubeconfig", user=CONTROLLER)
        await define(api, "account-crd.yaml")
        yield Bench(api, kubeconfig, await stack.enter_async_context(roles_behind_a_relay(folder)), folder)


async def cost(way: Way, on: Bench) -> Cost:
    """AssertionError when the controller does not do its work."""
    stage = await AccountStage(on.api, on.kubeconfig, Path(tempfile.mkdtemp(dir=on.folder)), on.system).begin()
    names = [f"sample-{number}" for number in range(OBJECTS)]
    async with stage.keeping(*await _command(way.controller), every_seconds=way.every_seconds):
        for name in names:
            await stage.create_sample("account-sample.yaml", name=name)
        for name in names:
            await _until_right(stage, way, name)
        await asyncio.sleep(way.every_seconds)
        before, began = await stage.calls(), time.monotonic()
        await asyncio.sleep(QUIET_SECONDS)
        calls, quiet = await stage.calls() - before, time.monotonic() - began
        repairs = []
        for number in range(REPAIRS):
            await asyncio.sleep(way.every_seconds * _SHARE)
            repairs.append(await _repair(stage, way, names[number], is_gone=number % 2 == 0))
    return Cost(way, OBJECTS, calls, quiet, tuple(repairs))


async def _command(controller: str) -> tuple[str, ...]:
    if controller != "go-account":
        return accounts(controller)
    return (str(await ensure_go_program(GoProgram(controller, ROOT / "fixtures" / controller), Silent())),)


async def _repair(stage: AccountStage, way: Way, name: str, *, is_gone: bool) -> Repair:
    """Change or remove what the controller keeps, and wait until it is right again."""
    if way.controller == "in_cluster":
        await (stage.delete(_child(name)) if is_gone else stage.change(_child(name), data={"attributes": "SUPERUSER"}))
    else:
        await (stage.drop_role if is_gone else stage.change_role)(name, tell=way.is_announced)
    began = time.monotonic()
    noticed = await _until_right(stage, way, name)
    now = time.monotonic()
    return Repair(now - began, (noticed or now) - began)


async def _until_right(stage: AccountStage, way: Way, name: str) -> float | None:
    """When its status said first that it is not; None: it never did."""
    noticed = None
    async with asyncio.timeout(_LIMIT_SECONDS):
        while not await _is_right(stage, way, name):
            if noticed is None and (await stage.reported(name))[0] != "True":
                noticed = time.monotonic()
            await asyncio.sleep(_LOOK_SECONDS)
    return noticed


async def _is_right(stage: AccountStage, way: Way, name: str) -> bool:
    """Whether what the controller keeps is as it should be, whatever its status says."""
    if way.controller == "in_cluster":
        child = await stage.stored(_child(name))
        return child is not None and "NOSUPERUSER" in child["data"]["attributes"]
    role = await stage.role(name)
    return role is not None and role["connectionLimit"] != AccountStage.OTHER_LIMIT


def _child(name: str) -> str:
    return f"{name}-role"
