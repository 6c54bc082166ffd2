"""The real proxy process in front of a real kube-apiserver, driven through its control API, watched by raw clients.

One control plane and one proxy serve the whole file; every test has a namespace of its own. Tests that end a proxy start another.
"""

import asyncio
import contextlib
import dataclasses
import itertools
import json
import socket
import ssl
import struct
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import aiohttp
import msgspec
import pytest

from staleproof.core.entry import (
    Answered,
    Asked,
    Broke,
    Closed,
    Delivered,
    Dropped,
    Entry,
    FaultFired,
    FaultOpened,
    Listed,
    Opened,
    Withheld,
)
from staleproof.core.fault import AnyFault, DelayStream, DropBookmarks, Expire, HideOwnWrite, HoldStream, OwnWrite, SeverStream
from staleproof.drive.api import Api, connect
from staleproof.drive.control_plane import CONTROLLER, RUNNER, ControlPlane, ControlPlaneOptions, Silent, control_plane
from staleproof.drive.control_plane.plane import write_private
from staleproof.drive.process import Command, Process
from staleproof.drive.proxy import Proxy, proxy

LIMIT_SECONDS = 60.0
BROKEN = 3
E = TypeVar("E", bound=Entry)
JSON = dict[str, Any]


def trusting(ca_file: Path) -> ssl.SSLContext:
    tls = ssl.create_default_context(cafile=str(ca_file))
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return tls


class Connection:
    """One raw HTTP/1.1 connection over TLS that is kept open."""

    def __init__(self, server: str, ca_file: Path, token: str) -> None:
        self._host, _, port = server.removeprefix("https://").partition(":")
        self._port, self._tls, self._token = int(port), trusting(ca_file), token

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(
            self._host, self._port, ssl=self._tls, server_hostname=self._host, limit=1 << 26
        )

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> int:
        """Send a request and read the head of the answer; the status."""
        data = b"" if body is None else msgspec.json.encode(body)
        fields = {"Host": self._host, "Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()} | {"Content-Length": str(len(data))}
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())])
        self.writer.write(head.encode() + b"\r\n\r\n" + data)
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        lines = answer.split("\r\n")
        self.fields = {name: value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        return int(lines[0].split()[1])

    async def chunk(self) -> bytes:
        """Empty at the last chunk."""
        size = int(await self.reader.readuntil(b"\r\n"), 16)
        data = await self.reader.readexactly(size)
        await self.reader.readexactly(2)
        return data

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, JSON]:
        status = await self.ask(method, path, body, **headers)
        if "content-length" in self.fields:
            data = await self.reader.readexactly(int(self.fields["content-length"]))
        else:
            data = b""
            while piece := await self.chunk():
                data += piece
        return status, cast(JSON, json.loads(data))

    def abort(self) -> None:
        self.writer.transport.abort()


class Watching:
    """A watch whose frames are collected as they come. `ending`: clean, cut or reset, once it has ended."""

    def __init__(self, connection: Connection, group: asyncio.TaskGroup) -> None:
        self.connection = connection
        self.lines: list[bytes] = []
        self.ending = ""
        self._rest = b""
        self._task = group.create_task(self._collect())

    async def _collect(self) -> None:
        try:
            while data := await self.connection.chunk():
                *lines, self._rest = (self._rest + data).split(b"\n")
                self.lines += lines
            self.ending = "clean"
        except ConnectionResetError:
            self.ending = "reset"
        except (OSError, asyncio.IncompleteReadError):
            self.ending = "cut"

    @property
    def events(self) -> list[tuple[str, str]]:
        """Type and name of each frame."""
        frames = [json.loads(line) for line in self.lines]
        return [(frame["type"], frame["object"].get("metadata", {}).get("name", "")) for frame in frames]

    async def until(self, count: int) -> None:
        await until(lambda: len(self.lines) >= count or self.ending != "")
        assert len(self.lines) >= count, (self.ending, self.events)

    async def ended(self) -> str:
        await until(lambda: self.ending != "")
        return self.ending


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        while not condition():
            await asyncio.sleep(0.005)


class Stage:
    """Everything that a test needs, in its own namespace."""

    _numbers = itertools.count(1)

    def __init__(self, plane: ControlPlane, api: Api, running: Proxy, recorded: list[Entry], group: asyncio.TaskGroup) -> None:
        self.plane, self.api, self.proxy, self.group = plane, api, running, group
        self.namespace = f"test-{next(self._numbers)}"
        self.path = f"/api/v1/namespaces/{self.namespace}/configmaps"
        self._recorded, self._from = recorded, len(recorded)
        self._connections: list[Connection] = []

    async def begin(self) -> None:
        await self.proxy.install((), "")
        await self.api.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        self._from = len(self._recorded)

    async def end(self) -> None:
        for connection in self._connections:
            connection.abort()
        await self.proxy.install((), "")

    def of(self, kind: type[E]) -> list[E]:
        """The entries of this kind that this test has caused."""
        return [entry for entry in self._recorded[self._from :] if isinstance(entry, kind)]

    @property
    def entries(self) -> list[Entry]:
        return self._recorded[self._from :]

    async def connection(self, *, direct: bool = False, token: str = "") -> Connection:
        token = token or self.plane.tokens[CONTROLLER]
        server, ca_file = (self.plane.server, self.plane.ca_file) if direct else (self.proxy.server, self.proxy.ca_file)
        made = Connection(server, ca_file, token)
        await made.open()
        self._connections.append(made)
        return made

    async def watch(self, start: str, *, direct: bool = False, query: str = "", on: Connection | None = None) -> Watching:
        connection = on or await self.connection(direct=direct)
        status = await connection.ask("GET", f"{self.path}?watch=1&resourceVersion={start}{query}")
        assert status == 200
        return Watching(connection, self.group)

    async def create(self, name: str, *, size: int = 0) -> str:
        """Directly, so that it is no write of the controller; its resourceVersion."""
        made = await self.api.call("POST", self.path, {"metadata": {"name": name}, "data": {"text": "x" * size}})
        return str(made["metadata"]["resourceVersion"])

    async def revision(self) -> str:
        """The collection's resourceVersion, asked for directly."""
        return str((await self.api.call("GET", self.path))["metadata"]["resourceVersion"])

    async def told(self) -> None:
        """Return once every entry of what has happened so far is here: no command returns earlier."""
        await self.proxy.expire("nothing.example")

    async def play(self, *faults: AnyFault) -> None:
        """Install the faults and begin step 1."""
        await self.proxy.install(faults, "")
        await self.proxy.begin_step(1)


class Theatre:
    """The one event loop, in which the control plane and the proxy live from the first test to the last."""

    def __init__(self, folder: Path) -> None:
        self._runner = asyncio.Runner()
        self._folder = folder
        self._leave = asyncio.Event()

    def open(self) -> None:
        self._runner.run(self._open())

    async def _open(self) -> None:
        ready = asyncio.Event()
        self._home = asyncio.get_running_loop().create_task(self._live(ready))
        waiting = asyncio.get_running_loop().create_task(ready.wait())
        await asyncio.wait({self._home, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._home.done():
            await self._home

    async def _live(self, ready: asyncio.Event) -> None:
        recorded: list[Entry] = []
        async with control_plane(ControlPlaneOptions(), self._folder / "control-plane", Silent()) as plane:
            headers = {"Authorization": f"Bearer {plane.tokens[RUNNER]}"}
            async with (
                connect(plane.server, trusting(plane.ca_file), headers) as api,
                proxy(plane, self._folder / "proxy", recorded.append, log=self._folder / "proxy.log") as running,
            ):
                self._plane, self._api, self.proxy, self._recorded = plane, api, running, recorded
                ready.set()
                await self._leave.wait()

    def play(self, body: Callable[[Stage], Awaitable[None]]) -> None:
        async def inside() -> None:
            async with asyncio.timeout(2 * LIMIT_SECONDS), asyncio.TaskGroup() as group:
                stage = Stage(self._plane, self._api, self.proxy, self._recorded, group)
                await stage.begin()
                try:
                    await body(stage)
                finally:
                    await stage.end()
            assert self.proxy.process.running, self.proxy.process.account()

        self._runner.run(inside())

    def close(self) -> None:
        async def leave() -> None:
            self._leave.set()
            await self._home

        self._runner.run(leave())
        self._runner.close()


@pytest.fixture(scope="module")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    made = Theatre(tmp_path_factory.mktemp("theatre"))
    made.open()
    yield made
    made.close()


# --- without a fault -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["", "&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"])
def test_a_watch_without_faults_is_the_same_byte_for_byte(theatre: Theatre, query: str) -> None:
    async def body(stage: Stage) -> None:
        await stage.create("first")
        start = await stage.revision()
        direct, proxied = await stage.watch(start, direct=True, query=query), await stage.watch(start, query=query)
        await stage.create("small")
        await stage.create("large", size=900_000)
        for number in range(20):
            await stage.api.call(
                "PATCH", f"{stage.path}/small", {"data": {"n": str(number)}}, content_type="application/merge-patch+json"
            )
        await stage.api.call("DELETE", f"{stage.path}/large")
        count = 23 + 2 * bool(query)
        await direct.until(count)
        await proxied.until(count)
        await stage.told()
        assert proxied.lines == direct.lines
        assert [entry.type for entry in stage.of(Delivered)] == [kind for kind, _ in direct.events]
        assert stage.of(Withheld) == []

    theatre.play(body)


def test_protobuf_is_answered_with_json_and_parameters_are_kept(theatre: Theatre) -> None:
    protobuf = "application/vnd.kubernetes.protobuf"

    async def body(stage: Stage) -> None:
        await stage.create("sample")
        start = await stage.revision()
        client = await stage.connection()
        status, found = await client.call("GET", f"{stage.path}/sample", Accept=f"{protobuf},application/json")
        assert (status, found["kind"], client.fields["content-type"]) == (200, "ConfigMap", "application/json")
        _, table = await client.call("GET", stage.path, Accept="application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
        assert (table["kind"], len(table["rows"])) == ("Table", 1)
        partial = f"{protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
        _, found = await client.call("GET", f"{stage.path}/sample", Accept=partial)
        assert (found["kind"], found["metadata"]["name"]) == ("PartialObjectMetadata", "sample")
        status = await client.ask("GET", f"{stage.path}?watch=1&resourceVersion={start}", Accept=partial)
        watch = Watching(client, stage.group)
        await stage.create("other")
        await watch.until(1)
        assert (status, json.loads(watch.lines[0])["object"]["kind"]) == (200, "PartialObjectMetadata")
        await stage.told()
        # The items of a Table are its rows.
        assert [[item.name for item in entry.items] for entry in stage.of(Listed)] == [["sample"]]

    theatre.play(body)


def test_requests_are_recorded_with_their_answers(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        client = await stage.connection()
        _, made = await client.call("POST", stage.path, {"metadata": {"generateName": "sample-"}})
        meta = made["metadata"]
        await client.call("GET", f"{stage.path}/{meta['name']}")
        await client.call("GET", f"{stage.path}?labelSelector=a%3Db")
        await client.call("GET", f"{stage.path}?limit=1")
        wrong = {"preconditions": {"uid": "another", "resourceVersion": "1"}}
        assert (await client.call("DELETE", f"{stage.path}/{meta['name']}", wrong))[0] == 409
        right = {"preconditions": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}}
        assert (await client.call("DELETE", f"{stage.path}/{meta['name']}", right))[0] == 200
        await until(lambda: len(stage.of(Answered)) == 4 and len(stage.of(Listed)) == 2)
        asked, answered = stage.of(Asked), {entry.request: entry for entry in stage.of(Answered)}
        assert [entry.verb for entry in asked] == ["create", "get", "list", "list", "delete", "delete"]
        assert {(entry.client, entry.resource, entry.namespace) for entry in asked} == {
            ("controller", "configmaps", stage.namespace)
        }
        assert [(entry.precondition_uid, entry.precondition_revision) for entry in asked[4:]] == [
            ("another", "1"),
            (meta["uid"], meta["resourceVersion"]),
        ]
        created = answered[asked[0].request]
        assert (created.outcome, created.code, created.name, created.uid) == ("ok", 201, meta["name"], meta["uid"])
        assert created.revision == int(meta["resourceVersion"])
        assert [(answered[entry.request].outcome, answered[entry.request].code) for entry in asked[4:]] == [
            ("fail", 409),
            ("ok", 200),
        ]
        assert answered[asked[4].request].reason == "Conflict"
        selected, whole = stage.of(Listed)
        assert (selected.selector, selected.items, selected.request) == ("a=b", (), asked[2].request)
        assert [(item.name, item.uid, item.revision) for item in whole.items] == [(created.name, created.uid, created.revision)]

    theatre.play(body)


def test_clients_are_told_apart_by_their_tokens(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        for token in (stage.plane.tokens[CONTROLLER], stage.plane.tokens[RUNNER], "nobody's"):
            client = await stage.connection(token=token)
            await client.call("GET", stage.path)
        await until(lambda: len(stage.of(Asked)) == 3 and len(stage.of(Answered)) == 1)
        assert [entry.client for entry in stage.of(Asked)] == ["controller", RUNNER, "unknown"]
        assert [entry.code for entry in stage.of(Answered)] == [401]

    theatre.play(body)


# --- faults --------------------------------------------------------------------------------------------------------------------


def test_a_hold_keeps_everything_until_the_release_and_then_in_order(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await stage.watch(await stage.revision())
        await stage.create("before")
        await watch.until(1)
        await stage.play(HoldStream(resource="configmaps"))
        names = [f"held-{number}" for number in range(5)]
        for name in names:
            await stage.create(name)
        await until(lambda: len(stage.of(Withheld)) == 5)
        await (await stage.connection()).call("GET", stage.path)  # what left before this answer has arrived
        assert [name for _, name in watch.events] == ["before"]
        await stage.proxy.release()
        await watch.until(6)
        assert [name for _, name in watch.events] == ["before", *names]
        await stage.told()
        assert [entry.name for entry in stage.of(Delivered)] == ["before", *names]
        assert [entry.fault for entry in stage.of(FaultFired)] == [0]

    theatre.play(body)


def test_a_release_by_relist_answers_410_until_the_client_lists(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        start = await stage.revision()
        watch = await stage.watch(start)
        await stage.play(HoldStream(resource="configmaps", release="relist"))
        await stage.create("held")
        await until(lambda: len(stage.of(Withheld)) == 1)
        await stage.proxy.release()
        assert await watch.ended() == "clean"
        for _ in range(3):
            (line,) = watch.lines
            status = json.loads(line)["object"]
            assert (json.loads(line)["type"], status["code"], status["reason"]) == ("ERROR", 410, "Expired")
            watch = await stage.watch(start, on=watch.connection)
            assert await watch.ended() == "clean"
        client = watch.connection
        _, found = await client.call("GET", stage.path)
        watch = await stage.watch(found["metadata"]["resourceVersion"], on=client)
        await stage.create("after")
        await watch.until(1)
        assert watch.events == [("ADDED", "after")]
        await stage.told()
        assert [entry.how for entry in stage.of(Closed)] == ["expired"] * 4
        assert stage.of(Closed)[0].discarded == 1

    theatre.play(body)


def test_an_expire_that_is_commanded_ends_every_stream_of_the_resource(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watches = [await stage.watch(await stage.revision()) for _ in range(3)]
        assert await stage.proxy.expire("configmaps") == 3
        assert await stage.proxy.expire("pods") == 0
        for watch in watches:
            assert await watch.ended() == "clean"
            assert json.loads(watch.lines[-1])["object"]["code"] == 410

    theatre.play(body)


def test_an_own_write_is_hidden_from_the_moment_before_it_happens(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await stage.watch(await stage.revision())
        await stage.play(HideOwnWrite(resource="configmaps", write=OwnWrite("create", 2)))
        client = await stage.connection()
        await client.call("POST", stage.path, {"metadata": {"name": "seen"}})
        await watch.until(1)
        for number in range(10):
            await client.call("POST", stage.path, {"metadata": {"name": f"hidden-{number}"}})
        await until(lambda: len(stage.of(Withheld)) == 10)
        await client.call("GET", stage.path)
        assert watch.events == [("ADDED", "seen")]
        await stage.told()
        # The fault opens after the request has come and before it is answered, thus before it was forwarded.
        kinds = [type(entry) for entry in stage.entries if isinstance(entry, Asked | FaultOpened | Answered)]
        assert kinds[:5] == [Asked, Answered, Asked, FaultOpened, Answered]
        await stage.proxy.release()
        await watch.until(11)

    theatre.play(body)


def test_a_delay_keeps_each_frame_for_its_time(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await stage.watch(await stage.revision())
        await stage.play(DelayStream(resource="configmaps", by_seconds=0.2))
        for number in range(5):
            await stage.create(f"late-{number}")
        await watch.until(5)
        await until(lambda: len(stage.of(Delivered)) == 5)
        waited = [left.at - came.at for came, left in zip(stage.of(Withheld), stage.of(Delivered), strict=True)]
        assert min(waited) >= 0.2
        assert [name for _, name in watch.events] == [f"late-{number}" for number in range(5)]

    theatre.play(body)


def test_a_clean_end_leaves_the_connection_usable(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        start = await stage.revision()
        watch = await stage.watch(start)
        await stage.play(SeverStream(resource="configmaps", how="clean", nth=2))
        await stage.create("passes")
        await stage.create("severs")
        assert await watch.ended() == "clean"
        assert watch.events == [("ADDED", "passes")]
        assert (await watch.connection.call("GET", stage.path))[0] == 200
        await stage.told()
        assert [(entry.how, entry.fault) for entry in stage.of(Closed)] == [("clean", 0)]

    theatre.play(body)


def test_a_reset_is_a_reset_on_the_wire(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await stage.watch(await stage.revision())
        other = await stage.connection()
        await stage.play(SeverStream(resource="configmaps", how="reset"))
        assert await watch.ended() == "reset"
        await until(lambda: len(stage.of(Closed)) == 1)
        assert [(entry.how, entry.fault) for entry in stage.of(Closed)] == [("reset", 0)]
        assert (await other.call("GET", stage.path))[0] == 200

    theatre.play(body)


def test_bookmarks_are_dropped_and_nothing_else(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        start = await stage.revision()
        await stage.play(DropBookmarks(resource="configmaps"))
        # The API server sends a bookmark about two seconds before the time is over.
        query = "&allowWatchBookmarks=true&timeoutSeconds=4"
        direct, proxied = await stage.watch(start, direct=True, query=query), await stage.watch(start, query=query)
        await stage.create("sample")
        assert [await direct.ended(), await proxied.ended()] == ["clean", "clean"]
        assert "BOOKMARK" in [kind for kind, _ in direct.events]
        assert proxied.events == [("ADDED", "sample")]
        await stage.told()
        assert [(entry.type, entry.fault) for entry in stage.of(Dropped)][:1] == [("BOOKMARK", 0)]
        assert [entry.fault for entry in stage.of(FaultFired)] == [0]

    theatre.play(body)


# --- clients that come and go --------------------------------------------------------------------------------------------------


def test_a_slow_reader_does_not_stop_the_draining_of_upstream(theatre: Theatre) -> None:
    count, size = 80, 500_000  # more than all socket buffers together

    async def body(stage: Stage) -> None:
        start = await stage.revision()
        client = await stage.connection()
        await client.ask("GET", f"{stage.path}?watch=1&resourceVersion={start}")
        cast(asyncio.ReadTransport, client.writer.transport).pause_reading()
        for number in range(count):
            await stage.create(f"large-{number}", size=size)
        await until(lambda: len(stage.of(Delivered)) == count)  # it all came to the proxy, though nobody reads
        cast(asyncio.ReadTransport, client.writer.transport).resume_reading()
        watch = Watching(client, stage.group)
        await watch.until(count)
        assert [name for _, name in watch.events] == [f"large-{number}" for number in range(count)]

    theatre.play(body)


def test_a_client_that_leaves_during_a_hold_frees_the_stream(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await stage.watch(await stage.revision())
        await stage.play(HoldStream(resource="configmaps"))
        for number in range(3):
            await stage.create(f"held-{number}")
        await until(lambda: len(stage.of(Withheld)) == 3)
        assert await open_streams(stage) == [("configmaps", 3)]
        watch.connection.abort()
        await until(lambda: len(stage.of(Closed)) == 1)
        assert [(entry.how, entry.discarded) for entry in stage.of(Closed)] == [("client", 3)]
        assert await open_streams(stage) == []

    theatre.play(body)


def test_many_watches_on_one_connection_whatever_becomes_of_each(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await stage.create("sample")
        start = await stage.revision()
        client = await stage.connection()
        for turn in itertools.islice(itertools.cycle(["refused", "severed", "finished", "expired", "read"]), 50):
            if turn == "refused":
                status, answer = await client.call("GET", f"{stage.path}?watch=1&sendInitialEvents=true")
                assert (status, answer["reason"]) == (422, "Invalid")  # without resourceVersionMatch
            elif turn == "finished":
                watch = await stage.watch(start, on=client, query="&timeoutSeconds=1")
                assert (await watch.ended(), watch.events) == ("clean", [])
            elif turn == "read":
                await client.call("GET", stage.path)
            else:
                fault = SeverStream(resource="configmaps") if turn == "severed" else Expire(resource="configmaps")
                watch = await stage.watch(start, on=client)
                await stage.play(fault)
                assert await watch.ended() == "clean"
                assert len(watch.lines) == (turn == "expired")
        await stage.told()
        assert len(stage.of(Closed)) == 30
        assert len(stage.of(Opened)) == 30 + len([entry for entry in stage.of(Opened) if entry.since is not None])

    theatre.play(body)


def test_a_commonplace_network_failure_stops_nothing(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        host, port = "127.0.0.1", int(stage.proxy.server.rpartition(":")[2])
        control = int(control_url(stage).rpartition(":")[2].partition("/")[0])
        for target in (port, control):
            for data in (
                b"",
                b"\0" * 64,
                b"GET / HTTP/1.1\r\n",
                b"nonsense\r\n\r\n",
                b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            ):
                for reset in (False, True):
                    poke(host, target, data, reset=reset)
        with pytest.raises(ssl.SSLError):  # a client that does not trust the proxy's CA
            await asyncio.open_connection(host, port, ssl=ssl.create_default_context())
        for data in (
            b"nonsense\r\n\r\n",
            b"GET /api HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            b"POST /api HTTP/1.1\r\nContent-Length: 9\r\n\r\n1",
        ):
            client = await stage.connection()
            client.writer.write(data)
            await client.writer.drain()
            client.abort()
        for _ in range(20):  # clients that leave between a request and its answer
            client = await stage.connection()
            client.writer.write(f"GET {stage.path}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            reset_on_close(client)
            client.abort()
        head = f"GET /v1/entries HTTP/1.1\r\nHost: x\r\nAuthorization: {control_headers(stage)['Authorization']}\r\n\r\n"
        for reset in (False, True):  # readers that leave before they have been given anything
            poke(host, control, head.encode(), reset=reset)
        async with control_session(stage) as session, session.get("/v1/entries"):
            pass  # and one that leaves later
        assert (await (await stage.connection()).call("GET", stage.path))[0] == 200
        await until(lambda: len(stage.of(Listed)) == 1)
        await stage.told()
        assert stage.of(Broke) == []

    theatre.play(body)


# --- the control API -----------------------------------------------------------------------------------------------------------


def test_a_wrong_token_changes_nothing(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await stage.watch(await stage.revision())
        async with control_session(stage, token="wrong") as session:
            for method, path in (("PUT", "/v1/plan"), ("POST", "/v1/step"), ("POST", "/v1/expire"), ("GET", "/v1/entries")):
                async with session.request(method, path, json={"resource": "configmaps", "step": 1}) as response:
                    assert response.status == 401
                    assert "token" in (await response.json())["error"]
        await stage.create("sample")
        await watch.until(1)
        assert watch.ending == ""

    theatre.play(body)


def test_a_command_that_makes_no_sense_is_refused(theatre: Theatre) -> None:
    bad = [
        ("PUT", "/v1/plan", b"{"),
        ("PUT", "/v1/plan", b'{"faults": [{"fault": "Nonsense"}]}'),
        ("PUT", "/v1/plan", b'{"fault": []}'),
        ("PUT", "/v1/plan", b"\xff\xfe"),
        ("POST", "/v1/step", b'{"step": "one"}'),
        ("POST", "/v1/expire", b"{}"),
        ("GET", "/v1/entries?after=x", b""),
        ("GET", "/v1/entries?after=-1", b""),
    ]

    async def body(stage: Stage) -> None:
        async with control_session(stage) as session:
            for method, path, data in bad:
                async with session.request(method, path, data=data) as response:
                    assert (path, data, response.status) == (path, data, 400)
                    assert (await response.json())["error"]
        await stage.told()
        assert stage.of(Broke) == []

    theatre.play(body)


# --- when something is broken --------------------------------------------------------------------------------------------------

PLANTED = """
import staleproof.proxy_addons.__main__ as product
from staleproof.proxy_addons.recorder import Recorder

def broken(self, number, request, flow):
    raise LookupError("planted")

Recorder._asked = broken
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
                other = Stage(plane, stage.api, running, recorded, stage.group)
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


def test_a_watch_over_websocket_passes_and_is_told(theatre: Theatre) -> None:
    """An upgraded connection is passed on untouched; a watch in it cannot be held, and the trial must know that."""

    async def body(stage: Stage) -> None:
        start = await stage.revision()
        tls, token = trusting(stage.proxy.ca_file), stage.plane.tokens[CONTROLLER]
        url = f"{stage.proxy.server.replace('https', 'wss')}{stage.path}?watch=1&resourceVersion={start}"
        async with (
            aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session,
            session.ws_connect(url, ssl=tls, origin=stage.proxy.server) as socket_,
        ):
            await stage.create("sample")
            frame = json.loads(await socket_.receive_str(timeout=LIMIT_SECONDS))
            assert (frame["type"], frame["object"]["metadata"]["name"]) == ("ADDED", "sample")
        await until(lambda: len(stage.of(Broke)) == 1)
        assert "WebSocket" in stage.of(Broke)[0].why

    theatre.play(body)


def test_exec_and_followed_logs_pass_untouched(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        more = asyncio.Event()
        async with kubelet(stage.proxy.ca_file.with_name("mitmproxy-ca.pem"), more) as port:
            pod = await pod_on(stage, port)
            client = await stage.connection()
            upgrade = {"Upgrade": "SPDY/3.1", "Connection": "Upgrade", "X_Stream_Protocol_Version": "v4.channel.k8s.io"}
            assert await client.ask("POST", f"{pod}/exec?command=cat&stdin=true&stdout=true", **upgrade) == 101
            sent = bytes(range(256)) * 1000
            client.writer.write(sent)
            assert await client.reader.readexactly(len(sent)) == sent
            log = await stage.connection()
            assert await log.ask("GET", f"{pod}/log?follow=true") == 200
            assert await log.chunk() == b"first\n"  # while the log goes on
            more.set()
            assert [await log.chunk(), await log.chunk()] == [b"second\n", b""]
        await stage.told()
        assert [entry for entry in stage.entries if isinstance(entry, Asked | Broke)] == []

    theatre.play(body)


# --- tools ---------------------------------------------------------------------------------------------------------------------


def control_url(stage: Stage) -> str:
    return stage.proxy._control


def control_session(stage: Stage, *, token: str = "") -> aiohttp.ClientSession:
    headers = {"Authorization": f"Bearer {token}"} if token else control_headers(stage)
    return aiohttp.ClientSession(control_url(stage).removesuffix("/v1"), headers=headers)


def control_headers(stage: Stage) -> dict[str, str]:
    return dict(stage.proxy._session.headers)


async def open_streams(stage: Stage) -> list[tuple[str, int]]:
    async with control_session(stage) as session, session.get("/v1/healthz") as response:
        return [(stream["resource"], stream["held"]) for stream in (await response.json())["streams"]]


def poke(host: str, port: int, data: bytes, *, reset: bool) -> None:
    with socket.create_connection((host, port)) as connection:
        connection.sendall(data)
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reset_on_close(connection: Connection) -> None:
    plain = connection.writer.get_extra_info("socket")
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


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


@asynccontextmanager
async def kubelet(certificate: Path, more: asyncio.Event) -> AsyncIterator[int]:
    """What kube-apiserver needs behind exec and log: an echo, and a log whose second line comes when it is told to."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        with contextlib.suppress(OSError):
            if b" /exec/" in head:
                writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
                while data := await reader.read(65536):
                    writer.write(data)
            else:
                writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst\n\r\n")
                await more.wait()
                writer.write(b"7\r\nsecond\n\r\n0\r\n\r\n")
        writer.close()

    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def pod_on(stage: Stage, port: int) -> str:
    """The path of a pod on a node whose kubelet listens on this port."""
    node = f"node-{stage.namespace}"
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
    }
    await stage.api.call("POST", "/api/v1/nodes", {"metadata": {"name": node}})
    await stage.api.call("PATCH", f"/api/v1/nodes/{node}/status", {"status": status}, content_type="application/merge-patch+json")
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "sample"}]}
    path = f"/api/v1/namespaces/{stage.namespace}/pods"
    await stage.api.call("POST", path, {"metadata": {"name": "sample"}, "spec": spec})
    return f"{path}/sample"
