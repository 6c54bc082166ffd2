"""Faults about how a client gets to its data, on the wire: refused, hanging, expired, coalesced, without WatchList."""

import asyncio
import json
from typing import Any

import pytest

from staleproof.core.entry import Answered, Broke, Closed, FaultRefused, Listed, Opened, Refused, Resumed, Stalled, Withheld
from staleproof.core.fault import Coalesce, Expire, Hang, Refuse, RefuseWatchList, Window

from .fault_play import healed, is_reset, play, step, stored
from .proxy_client import Connection, until
from .proxy_stage import Stage, Theatre
from .proxy_stage import theatre as theatre

WATCH_LIST = "&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"


async def is_refused(stage: Stage) -> bool:
    try:
        await stage.connection()
    except ConnectionRefusedError:
        return True
    return False


async def gone(client: Connection, path: str) -> bool:
    """Whether the answer is the API server's 410."""
    status, said = await client.call("GET", path)
    return (status, said.get("kind"), said.get("code"), said.get("reason")) == (410, "Status", 410, "Expired")


# --- nobody there --------------------------------------------------------------------------------------------------------------


def test_a_refusing_server_cuts_who_is_connected_and_lets_nobody_in(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await stage.watch(await stage.revision())
        client = await stage.connection()
        await client.call("GET", stage.path)
        await play(stage, Refuse(window=Window(until_step=2)))
        assert await watch.ended() == "reset"
        assert await is_reset(client.reader.readexactly(1))
        assert [await is_refused(stage) for _ in range(3)] == [True] * 3
        await step(stage, 2)
        again = await stage.connection()
        assert (await again.call("GET", stage.path))[0] == 200
        assert await healed(stage) == ["0 fired"]
        assert [(entry.how, entry.fault) for entry in stage.of(Closed)] == [("reset", 0)]

    theatre.play(body)


def test_a_server_that_is_down_for_some_seconds_comes_back_by_itself(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await stage.connection()
        await play(stage, Refuse(window=Window(seconds=0.3)))
        assert await is_refused(stage)
        async with asyncio.timeout(30):
            while await is_refused(stage):
                await asyncio.sleep(0.01)
        assert await healed(stage) == ["0 fired"]

    theatre.play(body)


def test_many_refusals_one_after_the_other(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        for _ in range(10):
            await stage.connection()
            await play(stage, Refuse())
            assert await is_refused(stage)
            await stage.proxy.release()
            assert not await is_refused(stage)
        await stage.told()
        assert stage.of(Broke) == []

    theatre.play(body)


# --- no bytes and no close -----------------------------------------------------------------------------------------------------


def test_a_hang_is_silence_and_then_a_reset(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        start = await stage.revision()
        watch, elsewhere = await stage.watch(start), await stage.watch_at(f"/api/v1/secrets?watch=1&resourceVersion={start}")
        await play(stage, Hang(resource="configmaps"))
        clients = [await stage.connection() for _ in range(3)]
        await clients[0].send("GET", stage.path)
        await clients[1].send("POST", stage.path, {"metadata": {"name": "never"}})
        await clients[2].send("GET", f"{stage.path}?watch=1&resourceVersion={start}")
        await stage.create("held")
        await until(lambda: len(stage.of(Stalled)) == 3 and len(stage.of(Withheld)) == 1)
        assert watch.events == []
        waiting = [stage.group.create_task(is_reset(client.status())) for client in clients]
        assert await healed(stage) == ["0 fired"]
        assert await asyncio.gather(*waiting) == [True] * 3
        assert await watch.ended() == "reset"
        assert await stored(stage, "never") is None
        assert sorted(entry.verb for entry in stage.of(Resumed)) == ["create", "list", "watch"]
        assert [(entry.outcome, entry.executed, entry.fault) for entry in stage.of(Answered)] == [("unknown", False, 0)] * 2
        assert [(entry.code, entry.fault) for entry in stage.of(Refused)] == [(0, 0)]
        assert [(entry.how, entry.fault, entry.discarded) for entry in stage.of(Closed)] == [("reset", 0, 1)]
        assert elsewhere.ending == ""

    theatre.play(body)


# --- history that is gone ------------------------------------------------------------------------------------------------------


def test_an_expired_watch_is_answered_410_over_http_until_the_client_lists(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        start = await stage.revision()
        watch = await stage.watch(start)
        await play(stage, Expire(resource="configmaps", at="watch"))
        assert (await watch.ended(), watch.lines) == ("clean", [])
        client = watch.connection
        for _ in range(2):
            assert await gone(client, f"{stage.path}?watch=1&resourceVersion={start}")
        fresh = await stage.watch("0")  # asks for no history
        _, found = await client.call("GET", stage.path)
        again = await stage.watch(found["metadata"]["resourceVersion"], on=client)
        await stage.create("after")
        await again.until(1)
        await fresh.until(1)
        assert await healed(stage) == ["0 fired"]
        assert [entry.how for entry in stage.of(Closed)] == ["gone"]
        assert [entry.code for entry in stage.of(Refused)] == [410, 410]

    theatre.play(body)


def test_an_expiry_in_place_of_the_nth_frame(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        watch = await stage.watch(await stage.revision())
        await play(stage, Expire(resource="configmaps", nth=2))
        first = await stage.create("first")
        second = await stage.create("second")
        assert await watch.ended() == "clean"
        assert watch.frames[1]["type"] == "ERROR"
        status: dict[str, Any] = watch.frames[1]["object"]
        assert (status["kind"], status["code"], status["reason"], status["status"]) == ("Status", 410, "Expired", "Failure")
        assert status["message"].startswith("too old resource version: ")
        again = await stage.watch(first)
        assert (await again.ended(), again.frames[0]["object"]["code"]) == ("clean", 410)
        await again.connection.call("GET", stage.path)
        await (await stage.watch(first)).until(1)
        assert await healed(stage) == ["0 fired"]
        assert int(second) > int(first)

    theatre.play(body)


def test_a_list_of_old_history_is_gone_and_no_other(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        for name in ("a", "b"):
            await stage.create(name)
        client = await stage.connection()
        _, page = await client.call("GET", f"{stage.path}?limit=1")
        revision, token = page["metadata"]["resourceVersion"], page["metadata"]["continue"]
        await play(stage, Expire(resource="configmaps", at="list"))
        for query in ("", "?resourceVersion=", "?resourceVersion=0", "?limit=1"):
            assert (await client.call("GET", f"{stage.path}{query}"))[0] == 200
        await stage.told()
        assert [(entry.fault, entry.row) for entry in stage.of(FaultRefused)] == [(0, "12")]
        assert await gone(client, f"{stage.path}?resourceVersion={revision}&resourceVersionMatch=Exact&limit=5")
        assert await gone(client, f"{stage.path}?resourceVersion={revision}")
        assert await gone(client, f"{stage.path}?limit=1&continue={token}")
        assert await healed(stage) == ["0 fired", "0 refused 12"]
        assert [(entry.code, entry.executed, entry.fault) for entry in stage.of(Answered)] == [(410, False, 0)] * 3
        assert len(stage.of(Listed)) == 5

    theatre.play(body)


# --- what lay between ----------------------------------------------------------------------------------------------------------


def test_coalescing_leaves_only_the_last_state_to_be_seen(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await stage.create("stays")
        start = await stage.revision()
        watch = await stage.watch(start)
        await play(stage, Coalesce(resource="configmaps", window=Window(until_step=2)))
        assert (await watch.ended(), watch.lines) == ("clean", [])
        resuming, listing = watch.connection, await stage.connection()
        await resuming.send("GET", f"{stage.path}?watch=1&resourceVersion={start}")
        await listing.send("GET", stage.path)
        await until(lambda: len(stage.of(Stalled)) == 2)
        await stage.create("passing")
        await stage.api.call("DELETE", f"{stage.path}/passing")
        await stage.create("comes")
        await step(stage, 2)
        assert await resuming.status() == 410
        assert json.loads(await resuming.body())["reason"] == "Expired"
        assert await listing.status() == 200
        names = [item["metadata"]["name"] for item in json.loads(await listing.body())["items"]]
        assert names == ["comes", "stays"]
        assert await healed(stage) == ["0 fired"]
        assert sorted(entry.verb for entry in stage.of(Resumed)) == ["list", "watch"]

    theatre.play(body)


# --- no WatchList --------------------------------------------------------------------------------------------------------------


def test_every_watch_list_is_refused_and_nothing_else(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await stage.create("sample")
        await play(stage, RefuseWatchList())
        client = await stage.connection()
        leases = f"/apis/coordination.k8s.io/v1/namespaces/{stage.namespace}/leases"
        for path in (stage.path, leases):
            status, said = await client.call("GET", f"{path}?watch=1{WATCH_LIST}")
            assert (status, said["kind"], said["reason"]) == (422, "Status", "Invalid")
            assert "sendInitialEvents" in said["message"]
        status, found = await client.call("GET", f"{stage.path}?resourceVersion=0")
        watch = await stage.watch(found["metadata"]["resourceVersion"], on=client)
        await stage.create("other")
        await watch.until(1)
        assert await healed(stage) == ["0 fired"]
        assert [(entry.code, entry.watch_list, entry.fault) for entry in stage.of(Refused)] == [(422, True, 0)] * 2

    theatre.play(body)


def test_a_watch_list_that_an_error_event_refuses(theatre: Theatre) -> None:
    async def body(stage: Stage) -> None:
        await play(stage, RefuseWatchList(how="event"))
        client = await stage.connection()
        assert await client.ask("GET", f"{stage.path}?watch=1{WATCH_LIST}") == 200
        assert client.fields["content-type"] == "application/json"
        (line,) = (await client.body()).splitlines()
        event = json.loads(line)
        assert (event["type"], event["object"]["kind"], event["object"]["code"]) == ("ERROR", "Status", 500)
        plain = await stage.watch(await stage.revision(), on=client)  # the connection is usable
        await stage.create("sample")
        await plain.until(1)
        assert await healed(stage) == ["0 fired"]
        assert [(entry.code, entry.fault) for entry in stage.of(Refused)] == [(500, 0)]
        assert len([entry for entry in stage.of(Opened) if entry.since is None]) == 1

    theatre.play(body)


@pytest.mark.parametrize("how", ["clean", "truncated", "reset", "expired", "gone"])
def test_a_stream_that_is_ended_by_command(how: str, theatre: Theatre) -> None:
    """Whoever drives the faults by hand has the same ends at hand."""

    async def body(stage: Stage) -> None:
        start = await stage.revision()
        watch = await stage.watch(start)
        async with stage.control() as session, session.post("/v1/sever", json={"resource": "configmaps", "how": how}) as response:
            assert (await response.json())["streams"] == 1
        assert await watch.ended() == {"truncated": "cut", "reset": "reset"}.get(how, "clean")
        client = await stage.connection()
        assert await client.ask("GET", f"{stage.path}?watch=1&resourceVersion={start}") == (410 if how == "gone" else 200)
        await stage.told()
        assert stage.of(Closed)[0].how == how

    theatre.play(body)
