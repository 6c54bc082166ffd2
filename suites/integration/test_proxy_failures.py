"""Failures: a hook of the proxy raises, or the API server goes away."""

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from staleproof.core.history.entry import Answered, Broke, Closed, Entry
from staleproof.drive.cluster.control_plane import ControlPlane
from staleproof.drive.proxy.launch import proxy

from .planted_proxy import planted_proxy
from .proxy_client import LIMIT_SECONDS, until
from .proxy_stage import ProxyStage, Scene, named, on_stage

BROKEN = 3
BROKEN_HOOK = """
from staleproof.proxy_addons.proxy_state import ProxyState

def broken(self, *_):
    raise LookupError("planted")

ProxyState.requested = broken  # called by the hook for every write, before it is forwarded
"""


async def test_a_broken_hook_stops_the_proxy_and_forwards_nothing(stage: ProxyStage, tmp_path: Path) -> None:
    async with planted_proxy(stage, tmp_path, BROKEN_HOOK) as other:
        client = await other.connection()
        with pytest.raises(asyncio.IncompleteReadError):
            await client.call("POST", other.path, named("unseen"))
        async with asyncio.timeout(LIMIT_SECONDS):
            assert await other.proxy.process.wait() == BROKEN
        await until(lambda: other.of(Broke) != [])
        assert "planted" in other.of(Broke)[0].why
        assert await other.stored("unseen") is None


async def test_streams_end_when_the_api_server_goes_away(stage: ProxyStage, tmp_path: Path) -> None:
    recorded: list[Entry] = []
    async with forwarder(stage.plane) as (address, cut):
        plane = dataclasses.replace(stage.plane, server=address)
        async with (
            proxy(plane, tmp_path / "proxy", recorded.append, log=tmp_path / "proxy.log") as running,
            on_stage(Scene(plane, stage.api, running, recorded)) as other,
        ):
            held = await other.watch()
            await other.create("passes")
            await held.until(1)
            await cut()
            assert await held.ended() == "cut"
            assert await (await other.connection()).ask("GET", other.path) == 502
            assert await (await other.connection()).ask("GET", f"{other.path}?watch=1") == 502
            await until(lambda: len(other.of(Answered)) == 1)
            assert [entry.how for entry in other.of(Closed)] == ["cut"]
            assert [(entry.outcome, entry.code) for entry in other.of(Answered)] == [("unknown", 0)]
            assert other.of(Broke) == []
            assert running.process.running


@asynccontextmanager
async def forwarder(plane: ControlPlane) -> AsyncIterator[tuple[str, Callable[[], Awaitable[None]]]]:
    """A TCP hop in front of kube-apiserver, and a function that cuts it for good."""
    writers: list[asyncio.StreamWriter] = []
    _, _, port = plane.server.rpartition(":")

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up = await asyncio.open_connection("127.0.0.1", int(port))
        writers.extend((writer, up))
        await asyncio.gather(copy(reader, up), copy(up_reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)

    async def cut() -> None:
        server.close()
        for writer in writers:
            writer.transport.abort()

    try:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", cut
    finally:
        await cut()
