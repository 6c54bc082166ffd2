"""Faults about how a client gets at its data, on the wire: refused, hanging, expired, coalesced, without WatchList."""

import asyncio
import json
from typing import Any

import pytest

from staleproof.core.fault import Coalesce, Expire, Hang, Refuse, RefuseWatchList, Window
from staleproof.core.history.entry import Answered, Broke, Closed, FaultRefused, Listed, Opened, Refused, Resumed, Stalled, Withheld

from .proxy_client import WATCH_LIST, Connection, Watching, is_reset, limited, until
from .proxy_stage import ProxyStage, named
from .stage import revision_of


async def is_refused(stage: ProxyStage) -> bool:
    try:
        await stage.connection()
    except ConnectionRefusedError:
        return True
    return False


async def gone(client: Connection, path: str) -> bool:
    """Whether the answer is 410, as the API server words it."""
    status, said = await client.call("GET", path)
    return (status, said.get("kind"), said.get("code"), said.get("reason")) == (410, "Status", 410, "Expired")


# --- nothing listens -----------------------------------------------------------------------------------------------------------


async def test_a_refusing_server_cuts_connected_clients_and_lets_none_in(stage: ProxyStage) -> None:
    watch = await stage.watch()
    client = await stage.connection()
    await client.call("GET", stage.path)
    await stage.play(Refuse(window=Window(until_step=2)))
    assert await watch.ended() == "reset"
    assert await is_reset(client.reader.readexactly(1))
    assert [await is_refused(stage) for _ in range(3)] == [True] * 3
    await stage.step(2)
    again = await stage.connection()
    assert (await again.call("GET", stage.path))[0] == 200
    assert await stage.healed() == ["0 fired"]
    assert [(entry.how, entry.fault) for entry in stage.of(Closed)] == [("reset", 0)]


async def test_a_server_that_is_down_for_some_seconds_comes_back_by_itself(stage: ProxyStage) -> None:
    await stage.connection()
    await stage.play(Refuse(window=Window(seconds=5.0)))
    assert await is_refused(stage)
    async with limited():
        while await is_refused(stage):
            await asyncio.sleep(0.01)
    assert await stage.healed() == ["0 fired"]


async def test_many_refusals_one_after_the_other(stage: ProxyStage) -> None:
    for _ in range(10):
        await stage.connection()
        await stage.play(Refuse())
        assert await is_refused(stage)
        await stage.proxy.release()
        assert not await is_refused(stage)
    await stage.all_recorded()
    assert stage.of(Broke) == []


# --- no bytes and no close -----------------------------------------------------------------------------------------------------


async def test_a_hang_is_silence_and_then_a_reset(stage: ProxyStage) -> None:
    start = await stage.revision()
    watch, elsewhere = await stage.watch(start), await stage.watch_at(f"/api/v1/secrets?watch=1&resourceVersion={start}")
    await stage.play(Hang(resource="configmaps"))
    clients = [await stage.connection() for _ in range(3)]
    await clients[0].send("GET", stage.path)
    await clients[1].send("POST", stage.path, named("never"))
    await clients[2].send("GET", f"{stage.path}?watch=1&resourceVersion={start}")
    await stage.create("held")
    await until(lambda: len(stage.of(Stalled)) == 3 and len(stage.of(Withheld)) == 1)
    assert watch.events == []
    waiting = [stage.group.create_task(is_reset(client.status())) for client in clients]
    assert await stage.healed() == ["0 fired"]
    assert await asyncio.gather(*waiting) == [True] * 3
    assert await watch.ended() == "reset"
    await until(lambda: len(stage.of(Answered)) == 2 and stage.of(Refused) != [] and stage.of(Closed) != [])  # behind the resets
    assert await stage.stored("never") is None
    assert sorted(entry.verb for entry in stage.of(Resumed)) == ["create", "list", "watch"]
    assert [(entry.outcome, entry.executed, entry.fault) for entry in stage.of(Answered)] == [("unknown", False, 0)] * 2
    assert [(entry.code, entry.fault) for entry in stage.of(Refused)] == [(0, 0)]
    assert [(entry.how, entry.fault, entry.discarded) for entry in stage.of(Closed)] == [("reset", 0, 1)]
    assert elsewhere.ending == ""


# --- history that is gone ------------------------------------------------------------------------------------------------------


async def test_an_expired_watch_is_answered_410_over_http_until_the_client_lists(stage: ProxyStage) -> None:
    start = await stage.revision()
    watch = await stage.watch(start)
    await stage.play(Expire(resource="configmaps", at="watch"))
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
    assert await stage.healed() == ["0 fired"]
    assert [entry.how for entry in stage.of(Closed)] == ["gone"]
    assert [entry.code for entry in stage.of(Refused)] == [410, 410]


async def test_a_resumption_is_answered_410_as_an_event_until_the_client_lists(stage: ProxyStage) -> None:
    """The API server's own form (legality row 11)."""
    start = await stage.revision()
    watch = await stage.watch(start)
    await stage.play(Expire(resource="configmaps", at="resume"))
    assert (await watch.ended(), watch.lines) == ("clean", [])
    for _ in range(2):
        again = await stage.watch(start, on=watch.connection)
        assert (await again.ended(), [frame["object"]["code"] for frame in again.frames]) == ("clean", [410])
    _, found = await watch.connection.call("GET", stage.path)
    after = await stage.watch(found["metadata"]["resourceVersion"], on=watch.connection)
    await stage.create("after")
    await after.until(1)
    assert await stage.healed() == ["0 fired"]
    assert [entry.how for entry in stage.of(Closed)] == ["lapsed", "expired", "expired"]
    assert stage.of(Refused) == []


async def test_an_expiry_replaces_the_nth_frame(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(Expire(resource="configmaps", nth=2))
    first = revision_of(await stage.create("first"))
    second = revision_of(await stage.create("second"))
    assert await watch.ended() == "clean"
    assert watch.frames[1]["type"] == "ERROR"
    status: dict[str, Any] = watch.frames[1]["object"]
    assert (status["kind"], status["code"], status["reason"], status["status"]) == ("Status", 410, "Expired", "Failure")
    assert status["message"].startswith("too old resource version: ")
    again = await stage.watch(first)
    assert (await again.ended(), again.frames[0]["object"]["code"]) == ("clean", 410)
    await again.connection.call("GET", stage.path)
    await (await stage.watch(first)).until(1)
    assert await stage.healed() == ["0 fired"]
    assert int(second) > int(first)


async def test_only_lists_of_old_history_are_answered_410(stage: ProxyStage) -> None:
    await stage.create_each("a", "b")
    client = await stage.connection()
    _, page = await client.call("GET", f"{stage.path}?limit=1")
    revision, token = page["metadata"]["resourceVersion"], page["metadata"]["continue"]
    await stage.play(Expire(resource="configmaps", at="list"))
    for query in ("", "?resourceVersion=", "?resourceVersion=0", "?limit=1"):
        assert (await client.call("GET", f"{stage.path}{query}"))[0] == 200
    await stage.all_recorded()
    assert [(entry.fault, entry.row) for entry in stage.of(FaultRefused)] == [(0, "12")]
    assert await gone(client, f"{stage.path}?resourceVersion={revision}&resourceVersionMatch=Exact&limit=5")
    assert await gone(client, f"{stage.path}?resourceVersion={revision}&limit=5")
    assert await gone(client, f"{stage.path}?limit=1&continue={token}")
    assert (await client.call("GET", f"{stage.path}?resourceVersion={revision}"))[0] == 200  # a newer state will do (row 11d)
    assert await stage.healed() == ["0 fired", "0 refused 12"]
    assert [(entry.code, entry.executed, entry.fault) for entry in stage.of(Answered)] == [(410, False, 0)] * 3
    assert len(stage.of(Listed)) == 6


# --- states in between ---------------------------------------------------------------------------------------------------------


async def test_coalescing_leaves_only_the_last_state_to_be_seen(stage: ProxyStage) -> None:
    await stage.create("stays")
    start = await stage.revision()
    watch = await stage.watch(start)
    await stage.play(Coalesce(resource="configmaps", window=Window(until_step=2)))
    assert (await watch.ended(), watch.lines) == ("clean", [])
    resuming, listing = watch.connection, await stage.connection()
    await resuming.send("GET", f"{stage.path}?watch=1&resourceVersion={start}")
    await listing.send("GET", stage.path)
    await until(lambda: len(stage.of(Stalled)) == 2)
    await stage.create("passing")
    await stage.delete("passing")
    await stage.create("comes")
    await stage.step(2)
    assert await resuming.status() == 200
    again = Watching(resuming, stage.group)
    assert (await again.ended(), [frame["object"]["reason"] for frame in again.frames]) == ("clean", ["Expired"])
    assert await listing.status() == 200
    names = [item["metadata"]["name"] for item in json.loads(await listing.body())["items"]]
    assert names == ["comes", "stays"]
    assert await stage.healed() == ["0 fired"]
    assert sorted(entry.verb for entry in stage.of(Resumed)) == ["list", "watch"]


# --- no WatchList --------------------------------------------------------------------------------------------------------------


async def test_every_watch_list_is_refused_and_nothing_else(stage: ProxyStage) -> None:
    await stage.create("sample")
    await stage.play(RefuseWatchList())
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
    assert await stage.healed() == ["0 fired"]
    assert [(entry.code, entry.watch_list, entry.fault) for entry in stage.of(Refused)] == [(422, True, 0)] * 2


async def test_a_watch_list_is_refused_by_an_error_event(stage: ProxyStage) -> None:
    await stage.play(RefuseWatchList(how="event"))
    client = await stage.connection()
    assert await client.ask("GET", f"{stage.path}?watch=1{WATCH_LIST}") == 200
    assert client.fields["content-type"] == "application/json"
    (line,) = (await client.body()).splitlines()
    event = json.loads(line)
    assert (event["type"], event["object"]["kind"], event["object"]["code"]) == ("ERROR", "Status", 500)
    plain = await stage.watch(on=client)  # the connection is usable
    await stage.create("sample")
    await plain.until(1)
    assert await stage.healed() == ["0 fired"]
    assert [(entry.code, entry.fault) for entry in stage.of(Refused)] == [(500, 0)]
    assert len([entry for entry in stage.of(Opened) if entry.since is None]) == 1


@pytest.mark.parametrize("how", ["clean", "truncated", "reset", "expired", "lapsed", "gone"])
async def test_a_command_ends_streams_in_every_way(how: str, stage: ProxyStage) -> None:
    """A user who drives the faults by hand can end streams in the same ways as a plan."""
    start = await stage.revision()
    watch = await stage.watch(start)
    async with stage.control() as session, session.post("/v1/sever", json={"resource": "configmaps", "how": how}) as response:
        assert (await response.json())["streams"] == 1
    assert await watch.ended() == {"truncated": "cut", "reset": "reset"}.get(how, "clean")
    client = await stage.connection()
    assert await client.ask("GET", f"{stage.path}?watch=1&resourceVersion={start}") == (410 if how == "gone" else 200)
    await stage.all_recorded()
    assert stage.of(Closed)[0].how == how
