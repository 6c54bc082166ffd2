"""Watches through the proxy carry the same bytes as without it, however they are asked for and whenever clients come and go."""

import itertools
import re

import pytest

from staleproof.core.fault import Expire, HoldStream, SeverStream
from staleproof.core.history.entry import Closed, Delivered, Opened, Withheld

from .proxy_client import WATCH_LIST, until
from .proxy_stage import ProxyStage, numbered
from .stage import text

REVISION = re.compile(rb'"resourceVersion":"\d+"')


@pytest.mark.parametrize("query", ["", WATCH_LIST])
async def test_a_watch_without_faults_is_the_same_byte_for_byte(stage: ProxyStage, query: str) -> None:
    await stage.create("first")
    start = await stage.revision()
    direct, proxied = await stage.watch(start, direct=True, query=query), await stage.watch(start, query=query)
    for watch in (direct, proxied):
        await watch.until(2 * bool(query))  # the initial events and the bookmark that ends them
    await stage.create("small")
    await stage.create("large", data=text(900_000))
    for number in range(20):
        await stage.change("small", data={"n": str(number)})
    await stage.delete("large")
    count = 23 + bool(query)
    await until(lambda: len(direct.changes) == len(proxied.changes) == count)
    await stage.all_recorded()
    assert proxied.changes == direct.changes
    # The bookmark that ends the initial events says how far the API server had come, and it keeps a lease of its own.
    assert [REVISION.sub(b"", line) for line in proxied.lines[:2]] == [REVISION.sub(b"", line) for line in direct.lines[:2]]
    assert [entry.revision for entry in stage.of(Delivered)][:2] == [int(revision) for revision in proxied.revisions[:2]]
    assert len([entry for entry in stage.of(Delivered) if entry.type != "BOOKMARK"]) == len(direct.changes)
    assert stage.of(Withheld) == []


@pytest.mark.parametrize(
    "target",
    [
        "/namespaces/{}/configmaps?watch&resourceVersion={}",
        "/namespaces/{}/configmaps?watch=&resourceVersion={}",
        "/namespaces/{}/configmaps?watch=no&resourceVersion={}",
        "/namespaces/{}/configmaps/?watch=True&resourceVersion={}",
        "/namespaces/{}/configmaps?watch=1&fieldSelector=metadata.name%3Dsample&resourceVersion={}",
        "/watch/namespaces/{}/configmaps?resourceVersion={}",
        "/watch/namespaces/{}/configmaps/sample?resourceVersion={}",
    ],
)
async def test_every_form_of_a_watch_is_recognized(stage: ProxyStage, target: str) -> None:
    """See apimachinery pkg/runtime/conversion.go; the prefix is deprecated and still served."""
    start = await stage.revision()
    watch = await stage.watch_at("/api/v1" + target.format(stage.namespace, start))
    await stage.play(HoldStream(resource="configmaps"))
    await stage.create("sample")
    await until(lambda: len(stage.of(Withheld)) == 1)
    assert watch.lines == []
    await stage.proxy.release()
    await watch.until(1)
    assert watch.events == [("ADDED", "sample")]


async def test_a_client_that_leaves_during_a_hold_frees_the_stream(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(HoldStream(resource="configmaps"))
    await stage.create_each(*numbered("held", 3))
    await until(lambda: len(stage.of(Withheld)) == 3)
    assert [(stream["resource"], stream["held"]) for stream in await stage.streams()] == [("configmaps", 3)]
    watch.connection.abort()
    await until(lambda: len(stage.of(Closed)) == 1)
    assert [(entry.how, entry.discarded) for entry in stage.of(Closed)] == [("client", 3)]
    assert await stage.streams() == []


async def test_one_connection_carries_many_watches_however_each_ends(stage: ProxyStage) -> None:
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
    await stage.all_recorded()
    assert len(stage.of(Closed)) == 30
    assert len(stage.of(Opened)) == 30 + len([entry for entry in stage.of(Opened) if entry.since is not None])
