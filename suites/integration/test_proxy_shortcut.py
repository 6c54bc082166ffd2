"""The short way of requests that no fault concerns: no client can tell it from the long one, and each request has the right one."""

import asyncio
import json
from typing import Any

import msgspec
import pytest

from staleproof.core.fault import Reject
from staleproof.core.history.entry import Answered, Asked, Listed

from .proxy_client import MERGE, until
from .proxy_stage import ProxyStage, named
from .proxy_upstream import says, sized
from .proxy_wilderness import Play

ELSEWHERE = Reject(resource="configmaps", nth=1000)
"""It never happens, but all requests about ConfigMaps have to be looked at."""
OTHERS = Reject(resource="secrets")


async def conversation(stage: ProxyStage, name: str) -> list[tuple[int, Any]]:
    """The answers that a client gets about one object, from its creation to its end."""
    client = await stage.connection()
    one = f"{stage.path}/{name}"
    return [
        await client.call("POST", stage.path, named(name)),
        await client.call("POST", stage.path, named(name)),
        await client.call("GET", one),
        await client.call("GET", f"{stage.path}?fieldSelector=metadata.name%3D{name}"),
        await client.call("PUT", one, named(name, data={"a": "b"})),
        await client.call("PATCH", one, {"data": {"a": "c"}}, Content_Type=MERGE),
        await client.call("GET", f"{one}/nothing"),
        await client.call("DELETE", one, {"preconditions": {"uid": "wrong"}}),
        await client.call("DELETE", one),
        await client.call("GET", one),
    ]


def recorded(stage: ProxyStage, name: str) -> list[dict[str, Any]]:
    """The entries without what differs from one object to the next."""
    differs = {"at", "request", "uid", "revision"}
    found = [msgspec.to_builtins(entry) for entry in stage.entries if isinstance(entry, Asked | Answered | Listed)]
    plain = [{key: value for key, value in entry.items() if key not in differs} for entry in found]
    return msgspec.json.decode(msgspec.json.encode(plain).replace(name.encode(), b"NAME"))  # type: ignore[no-any-return]


async def test_both_ways_answer_the_same_and_record_the_same(stage: ProxyStage) -> None:
    answers, entries = [], []
    for name, fault in (("short", OTHERS), ("long", ELSEWHERE)):
        await stage.play(fault)
        stage.tape.clear()
        said = await conversation(stage, name)
        await stage.all_recorded()
        answers.append([(status, body.get("kind"), body.get("reason")) for status, body in said])
        entries.append([{k: v for k, v in entry.items() if k != "items"} for entry in recorded(stage, name)])
    assert answers[0] == answers[1]
    assert entries[0] == entries[1]
    assert len(entries[0]) == 2 * len(answers[0])


async def test_a_connection_obeys_the_plan_of_the_moment(stage: ProxyStage) -> None:
    client = await stage.connection()
    for _ in range(2):
        assert await client.ask("GET", stage.path) == 200
        await client.body()
        await stage.play(Reject(resource="configmaps", verb="list", code=503))
        assert await client.ask("GET", stage.path) == 503
        await client.body()
        assert "0 fired" in await stage.healed()
        await stage.play()
        assert await client.ask("GET", stage.path) == 200
        await client.body()


async def test_bytes_may_come_as_they_like(play: Play) -> None:
    path = play.expect(says(sized(b"{}")))
    client = await play.connection()
    head = f"GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer unknown\r\nConnection: keep-alive\r\n\r\n".encode()
    for at in range(0, len(head), 40):
        client.writer.write(head[at : at + 40])  # a TLS record each
    assert (await client.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 OK")
    assert b"connection: keep-alive" not in play.upstream.requests[-1].head.lower(), "it did not take the short way"


async def test_two_requests_at_once_are_answered_in_order(stage: ProxyStage) -> None:
    await stage.create_each("a", "b")
    client = await stage.connection()
    for name in "ab":
        await client.send("GET", f"{stage.path}/{name}")
    for name in "ab":
        assert await client.status() == 200
        assert json.loads(await client.body())["metadata"]["name"] == name
    await stage.all_recorded()
    assert [entry.name for entry in stage.of(Asked)] == ["a", "b"]


async def test_a_client_that_leaves_before_the_answer_was_told_nothing(play: Play) -> None:
    goes_on = asyncio.Event()

    async def waits(writer: asyncio.StreamWriter) -> None:
        await goes_on.wait()
        writer.write(sized(b"{}"))

    path = play.expect(waits)
    client = await play.connection()
    client.writer.write(f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{{}}".encode())
    await until(lambda: play.tape.of(Asked) != [])
    client.abort()
    other = await play.connection()
    assert await other.ask("GET", "/version") == 404  # by then the proxy has seen the other one leave
    goes_on.set()
    await until(lambda: play.tape.of(Answered) != [])
    assert [(entry.outcome, entry.code) for entry in play.tape.of(Answered)] == [("unknown", 0)]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_an_api_server_that_closes_between_requests_is_connected_again(play: Play, method: str) -> None:
    client = await play.connection()
    answer = sized(b"{}").replace(b"Connection: close\r\n", b"")  # it says nothing, and closes all the same
    path = play.expect(says(answer))
    for _ in range(3):
        assert (await client.call(method, path, b"{}" if method == "POST" else None))[0] == 200
        await play.proxy.fence()  # by the time of its answer the proxy has seen the end of that connection
