"""What each fault does on the wire, and what is recorded of it."""

import json

from staleproof.core.fault import DelayStream, DropBookmarks, HideOwnWrite, HoldStream, OwnWrite, SeverStream
from staleproof.core.history.entry import Answered, Asked, Closed, Delivered, Dropped, FaultFired, FaultOpened, Withheld

from .proxy_client import limited, until
from .proxy_stage import ProxyStage, named, numbered


async def test_a_hold_keeps_everything_until_the_release_and_then_in_order(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.create("before")
    await watch.until(1)
    await stage.play(HoldStream(resource="configmaps"))
    names = numbered("held", 5)
    for name in names:
        await stage.create(name)
    await until(lambda: len(stage.of(Withheld)) == 5)
    await (await stage.connection()).call("GET", stage.path)  # what left before this answer has arrived
    assert watch.names == ["before"]
    await stage.proxy.release()
    await watch.until(6)
    assert watch.names == ["before", *names]
    await stage.all_recorded()
    assert [entry.name for entry in stage.of(Delivered)] == ["before", *names]
    assert [entry.fault for entry in stage.of(FaultFired)] == [0]


async def test_a_release_by_relist_answers_410_until_the_client_lists(stage: ProxyStage) -> None:
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
    await stage.all_recorded()
    assert [entry.how for entry in stage.of(Closed)] == ["expired"] * 4
    assert stage.of(Closed)[0].discarded == 1


async def test_an_expire_command_ends_every_stream_of_the_resource(stage: ProxyStage) -> None:
    """And none of another."""
    secrets = f"/api/v1/namespaces/{stage.namespace}/secrets"
    watches = [await stage.watch() for _ in range(3)]
    other = await stage.watch_at(f"{secrets}?watch=1&resourceVersion={await stage.revision()}")
    assert await stage.proxy.expire("configmaps") == 3
    assert await stage.proxy.expire("pods") == 0
    for watch in watches:
        assert await watch.ended() == "clean"
        assert json.loads(watch.lines[-1])["object"]["code"] == 410
    assert other.ending == ""


async def test_an_own_write_is_hidden_from_the_moment_before_it_happens(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(HideOwnWrite(resource="configmaps", write=OwnWrite("create", 2)))
    client = await stage.connection()
    await client.call("POST", stage.path, named("seen"))
    await watch.until(1)
    for name in numbered("hidden", 10):
        await client.call("POST", stage.path, named(name))
    await until(lambda: len(stage.of(Withheld)) == 10)
    await client.call("GET", stage.path)
    assert watch.events == [("ADDED", "seen")]
    await stage.all_recorded()
    # The fault opens between the request and its answer, and so before the request is forwarded.
    kinds = [type(entry) for entry in stage.entries if isinstance(entry, Asked | FaultOpened | Answered)]
    assert kinds[:5] == [Asked, Answered, Asked, FaultOpened, Answered]
    await stage.proxy.release()
    await watch.until(11)


async def test_a_delay_keeps_each_frame_for_its_time(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(DelayStream(resource="configmaps", by_seconds=0.2))
    await stage.create_each(*numbered("late", 5))
    await watch.until(5)
    await until(lambda: len(stage.of(Delivered)) == 5)
    waited = [left.at - came.at for came, left in zip(stage.of(Withheld), stage.of(Delivered), strict=True)]
    assert min(waited) >= 0.2
    assert watch.names == numbered("late", 5)


async def test_a_clean_end_leaves_the_connection_usable(stage: ProxyStage) -> None:
    start = await stage.revision()
    watch = await stage.watch(start)
    await stage.play(SeverStream(resource="configmaps", how="clean", nth=2))
    await stage.create_each("passes", "severs")
    assert await watch.ended() == "clean"
    assert watch.events == [("ADDED", "passes")]
    assert (await watch.connection.call("GET", stage.path))[0] == 200
    await stage.all_recorded()
    assert [(entry.how, entry.fault) for entry in stage.of(Closed)] == [("clean", 0)]


async def test_bookmarks_are_dropped_and_nothing_else(stage: ProxyStage) -> None:
    start = await stage.revision()
    await stage.create("sample")
    await stage.play(DropBookmarks(resource="configmaps"))
    # The API server sends a bookmark two seconds before the time is over, unless it is too busy: then the next watch gets one.
    query = "&allowWatchBookmarks=true&timeoutSeconds=4"
    shown: set[str] = set()
    async with limited():
        while "BOOKMARK" not in shown or not stage.of(Dropped):
            direct, proxied = await stage.watch(start, direct=True, query=query), await stage.watch(start, query=query)
            assert [await direct.ended(), await proxied.ended()] == ["clean", "clean"]
            assert proxied.events == [("ADDED", "sample")]
            shown |= {kind for kind, _ in direct.events}
            await stage.all_recorded()
    assert [(entry.type, entry.fault) for entry in stage.of(Dropped)][:1] == [("BOOKMARK", 0)]
    assert [entry.fault for entry in stage.of(FaultFired)] == [0]
