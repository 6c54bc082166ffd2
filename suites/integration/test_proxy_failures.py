"""Something is broken: the proxy itself, or the API server goes away."""

import asyncio
import contextlib
import dataclasses
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import msgspec
import pytest

from staleproof.core.entry import Answered, Broke, Closed, Entry
from staleproof.drive.cluster.control_plane import CONTROLLER, ControlPlane
from staleproof.drive.process.private import write_private
from staleproof.drive.process.process import Command, Process
from staleproof.drive.proxy.launch import proxy

from .proxy_client import LIMIT_SECONDS, Connection, until
from .proxy_stage import Stage, Theatre
from .proxy_stage import theatre as theatre

BROKEN = 3
PLANTED = """
import staleproof.proxy_addons.__main__ as product
from staleproof.proxy_addons.proxy_state import Board

def broken(self, *_):
    raise LookupError("planted")

Board.asked = broken  # what the hook tells of every write before it is forwarded
product.main()
"""


def test_a_broken_hook_stops_the_proxy_and_forwards_nothing(theatre: Theatre, tmp_path: Path) -> None:
    async def body(stage: Stage) -> None:
        script = tmp_path / "planted.py"
        script.write_text(PLANTED)
        async with bare_proxy(stage.plane, (sys.executable, "-O", str(script)), tmp_path) as bare:
            lines = stage.group.create_task(bare.all_lines())
            client = Connection(
                f"https://127.0.0.1:{bare.port}", tmp_path / "ca" / "mitmproxy-ca-cert.pem", stage.plane.tokens[CONTROLLER]
            )
            await client.open()
            with pytest.raises(asyncio.IncompleteReadError):
                await client.call("POST", stage.path, {"metadata": {"name": "unseen"}})
            client.abort()
            async with asyncio.timeout(LIMIT_SECONDS):
                assert await bare.process.wait() == BROKEN
            told = [entry for entry in map(msgspec.json.Decoder(Entry).decode, await lines) if isinstance(entry, Broke)]
            assert "planted" in told[0].why
        assert (await stage.api.call("GET", stage.path))["items"] == []

    theatre.play(body)


def test_upstream_that_dies_ends_the_streams_and_is_told(theatre: Theatre, tmp_path: Path) -> None:
    async def body(stage: Stage) -> None:
        recorded: list[Entry] = []
        async with forwarder(stage.plane) as (address, cut):
            plane = dataclasses.replace(stage.plane, server=address)
            async with proxy(plane, tmp_path / "proxy", recorded.append, log=tmp_path / "proxy.log") as running:
                other = Stage(dataclasses.replace(stage.scene, plane=plane, proxy=running, recorded=recorded), stage.group)
                await other.begin()
                held = await other.watch(await other.revision())
                await other.create("passes")
                await held.until(1)
                await cut()
                assert await held.ended() == "cut"
                client = await other.connection()
                assert await client.ask("GET", other.path) == 502
                watcher = await other.connection()
                assert await watcher.ask("GET", f"{other.path}?watch=1") == 502
                await until(lambda: len(other.of(Answered)) == 1)
                assert [entry.how for entry in other.of(Closed)] == ["cut"]
                assert [(entry.outcome, entry.code) for entry in other.of(Answered)] == [("unknown", 0)]
                assert other.of(Broke) == []
                client.abort()
                watcher.abort()
                assert running.process.running

    theatre.play(body)


@dataclasses.dataclass(frozen=True, slots=True)
class Bare:
    """A proxy process of our own making."""

    process: Process
    port: int
    control_port: int

    async def all_lines(self) -> list[bytes]:
        """Its entries to the end."""
        data = b""
        async with aiohttp.ClientSession(
            f"http://127.0.0.1:{self.control_port}", headers={"Authorization": "Bearer control"}
        ) as session:
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get("/v1/entries") as response:
                    async for chunk in response.content.iter_any():
                        data += chunk
        return data.splitlines()


@asynccontextmanager
async def bare_proxy(plane: ControlPlane, argv: tuple[str, ...], folder: Path) -> AsyncIterator[Bare]:
    ready = folder / "ready.json"
    config = {
        "upstream": plane.server,
        "upstreamCa": str(plane.ca_file),
        "confdir": str(folder / "ca"),
        "controlToken": "control",
        "ready": str(ready),
        "tokens": {plane.tokens[CONTROLLER]: "controller"},
    }
    write_private(folder / "config.json", json.dumps(config).encode())
    process = await Process.start(Command(name="proxy", argv=(*argv, str(folder / "config.json")), log=folder / "proxy.log"))

    async def written() -> bool:
        return ready.exists()

    try:
        await process.ready(written, limit_seconds=LIMIT_SECONDS)
        ports = json.loads(ready.read_bytes())
        yield Bare(process, ports["port"], ports["controlPort"])
    finally:
        await process.stop(grace_seconds=5.0)


@asynccontextmanager
async def forwarder(plane: ControlPlane) -> AsyncIterator[tuple[str, Callable[[], Awaitable[None]]]]:
    """A TCP hop before kube-apiserver, and how to cut it for good."""
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
