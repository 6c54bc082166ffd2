"""The operator of buckets that reconciles offline, on a real API server and a small bucket server, and its twins."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from staleproof.core.external import Delete, Seen
from staleproof.drive.cluster.api import JSON, Api
from staleproof.drive.external.relay import relay
from staleproof.drive.external.relayed import Relayed, behind
from staleproof.drive.external.s3 import S3
from staleproof.drive.process.address import free_port
from staleproof.drive.process.process import Command

from .stage import CONFIG_MAPS
from .widget_stage import ControllerStage, fixture
from .widget_stage import kubeconfig as kubeconfig

S3_BUCKETS = "s3buckets.staleproof.dev"
OBVIOUS_SECONDS = 3.0
TAGS = {"team": "storage", "tier": "standard"}
pytestmark = pytest.mark.live


class BucketStage(ControllerStage):
    resources = (S3_BUCKETS, CONFIG_MAPS)

    def __init__(self, api: Api, kubeconfig: Path, folder: Path, system: Relayed) -> None:
        super().__init__(api, kubeconfig, folder)
        self.system, self.env = system, {**self.env, "EXTERNAL_URL": system.url}

    @asynccontextmanager
    async def kept(self, name: str) -> AsyncIterator[None]:
        """The sample, which this controller has done its work for."""
        async with self.running(*fixture("buckets", name, "--namespace", self.namespace)):
            await self.create_sample("s3bucket-sample.yaml")
            await self.until_reported(generation=1)
            yield

    async def tags(self) -> dict[str, Any] | None:
        """The bucket's; None: there is none."""
        return next((dict(each.fields["tags"]) for each in await self.system.read_state() if each.name == self.bucket), None)

    @property
    def bucket(self) -> str:
        return f"{self.namespace}.sample"

    async def notice(self) -> str:
        found = await self.stored("sample-bucket")
        return str(found["data"]["notice"]) if found else ""

    async def status(self) -> tuple[str, int | None]:
        """Ready, and of which generation."""
        found = await self.stored("sample", S3_BUCKETS)
        status: JSON = found.get("status", {}) if found else {}
        return (next((each["status"] for each in status.get("conditions", ())), ""), status.get("observedGeneration"))

    async def until_reported(self, *, generation: int, ready: str = "True") -> None:
        async with asyncio.timeout(60):
            while await self.status() != (ready, generation):
                await asyncio.sleep(0.02)

    async def calls(self) -> int:
        return sum((await self.system.count_calls()).values())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Relayed]:
    folder, port = tmp_path_factory.mktemp("buckets"), free_port()
    seen, ends = list[Seen](), list[str]()
    argv = (sys.executable, "-m", "staleproof.fixtures.external.buckets", f"--port={port}", f"--folder={folder}")
    server = S3("store", f"http://127.0.0.1:{port}", Command(name="buckets", argv=argv, log=folder / "buckets.log"))
    await server.start()
    try:
        async with relay([behind(server)], folder / "private", seen.append, ends.append, log=folder / "relay.log") as before:
            yield Relayed(server, before)
    finally:
        await server.stop()


@pytest_asyncio.fixture(loop_scope="module")
async def stage(api: Api, kubeconfig: Path, tmp_path: Path, system: Relayed) -> AsyncIterator[BucketStage]:
    yield await BucketStage(api, kubeconfig, tmp_path, system).begin()
    await system.start()


async def test_a_bucket_follows_its_object_and_goes_with_it(stage: BucketStage) -> None:
    async with stage.kept("offline"):
        assert await stage.tags() == TAGS
        await stage.change_spec(tags={"team": "other"})
        await stage.until_reported(generation=2)
        assert await stage.tags() == TAGS | {"team": "other"}
        await stage.delete("sample", S3_BUCKETS)
        async with asyncio.timeout(60):
            while await stage.stored("sample", S3_BUCKETS):
                await asyncio.sleep(0.02)
        assert await stage.tags() is None


@pytest.mark.parametrize(("name", "asks"), [("offline", False), ("asks_always", True)])
async def test_a_touch_and_a_restart_and_a_change_of_the_other_part_call_for_nothing(
    stage: BucketStage, name: str, *, asks: bool
) -> None:
    async with stage.kept(name):
        before = await stage.calls()
        await stage.change("sample", S3_BUCKETS, metadata={"annotations": {"touched": "yes"}})
        await stage.change_spec(notice="Be quick.")
        await stage.until_reported(generation=2)
        assert await stage.notice() == "Be quick."
    async with stage.running(*fixture("buckets", name, "--namespace", stage.namespace)):
        await stage.change_spec(notice="Be quiet.")
        await stage.until_reported(generation=3)
        assert (await stage.calls() > before) is asks


async def test_it_does_not_repair_what_it_does_not_look_at(stage: BucketStage) -> None:
    async with stage.kept("offline"):
        await stage.system.drift(Delete(kind="buckets", name=stage.bucket))
        await stage.change("sample", S3_BUCKETS, metadata={"annotations": {"touched": "yes"}})
        await asyncio.sleep(OBVIOUS_SECONDS)
        assert await stage.tags() is None


@pytest.mark.parametrize(("name", "waits"), [("offline", False), ("first_error", True)])
async def test_while_the_store_is_down_the_config_map_follows(stage: BucketStage, name: str, *, waits: bool) -> None:
    async with stage.kept(name):
        await stage.system.stop()
        await stage.change_spec(notice="Be quick.", tags={"team": "other"})
        await stage.until_reported(generation=1, ready="False")
        await asyncio.sleep(OBVIOUS_SECONDS)
        assert (await stage.notice() == "Be kind.") is waits
        await stage.system.start()
        await stage.until_reported(generation=2)
        assert (await stage.tags(), await stage.notice()) == (TAGS | {"team": "other"}, "Be quick.")


@pytest.mark.parametrize(("name", "early"), [("offline", False), ("early_generation", True)])
async def test_the_generation_counts_as_observed_when_the_store_has_done_it(stage: BucketStage, name: str, *, early: bool) -> None:
    async with stage.kept(name):
        await stage.system.slow(1.0)
        await stage.change_spec(tags={"team": "other"})
        seen = []
        while await stage.tags() == TAGS:
            seen.append(await stage.status())
            await asyncio.sleep(0.01)
        await stage.system.slow(0)
        await stage.until_reported(generation=2)
    assert (("True", 2) in seen) is early
