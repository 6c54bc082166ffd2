"""Volume: many watches, many objects, large objects, and readers that do not keep up."""

import asyncio
from functools import partial
from typing import cast

import pytest

from staleproof.core.history.entry import Answered, Closed, Delivered, Listed, Opened

from .proxy_client import Watching, until
from .proxy_stage import ProxyStage, numbered
from .stage import text

STREAMS = 100
OBJECTS, PAGE, WRITERS = 5_000, 500, 32
LARGEST = 1 << 20  # kube-apiserver refuses a ConfigMap whose values are more together


async def test_a_slow_reader_does_not_stop_the_draining_of_upstream(stage: ProxyStage) -> None:
    count, size, ahead = 80, 500_000, 8  # more than all socket buffers together
    start = await stage.revision()
    client = await stage.connection()
    await client.ask("GET", f"{stage.path}?watch=1&resourceVersion={start}")
    cast(asyncio.ReadTransport, client.writer.transport).pause_reading()
    names = numbered("large", count)
    for made in range(0, count, ahead):  # the API server itself ends a watch that is far behind
        await stage.create_each(*names[made : made + ahead], data=text(size))
        await until(partial(has_it, stage, made + ahead))  # the proxy has it all, although the client does not read
    cast(asyncio.ReadTransport, client.writer.transport).resume_reading()
    watch = Watching(client, stage.group)
    await watch.until(count)
    assert watch.names == names


def has_it(stage: ProxyStage, count: int) -> bool:
    return len(stage.of(Delivered)) == count


async def test_100_watches_are_all_shown_the_same(stage: ProxyStage) -> None:
    start = await stage.revision()
    direct = await stage.watch(start, direct=True)
    async with asyncio.TaskGroup() as opening:
        opened = [opening.create_task(stage.watch(start)) for _ in range(STREAMS)]
    watches = [task.result() for task in opened]
    await stage.create_each(*numbered("object", 20), data=text(1_000))
    await direct.until(20)
    for watch in watches:
        await watch.until(20)
        assert watch.lines == direct.lines
    assert len(await stage.streams()) == STREAMS
    for watch in watches:
        watch.connection.abort()
    await until(lambda: len(stage.of(Closed)) == STREAMS)
    shown: dict[int, list[int | None]] = {entry.stream: [] for entry in stage.of(Opened)}
    for entry in stage.of(Delivered):
        shown[entry.stream].append(entry.revision)
    assert list(shown.values()) == [[int(revision) for revision in direct.revisions]] * STREAMS


@pytest.mark.live
async def test_5000_objects_are_listed_in_pages(stage: ProxyStage) -> None:
    names = (f"object-{number:04}" for number in range(OBJECTS))

    async def write() -> None:
        for name in names:
            await stage.create(name)

    async with asyncio.TaskGroup() as writing:
        for _ in range(WRITERS):
            writing.create_task(write())
    client = await stage.connection()
    found, more = [], ""
    while True:
        status, page = await client.call("GET", f"{stage.path}?limit={PAGE}{more}")
        assert status == 200
        found += [item["metadata"] for item in page["items"]]
        if "continue" not in page["metadata"]:
            break
        more = f"&continue={page['metadata']['continue']}"
    await stage.all_recorded()
    pages = stage.of(Listed)
    assert [(len(entry.items), entry.more) for entry in pages] == [(PAGE, True)] * 9 + [(PAGE, False)]
    assert {entry.revision for entry in pages} == {int(page["metadata"]["resourceVersion"])}
    assert [(item.name, item.uid, item.revision) for entry in pages for item in entry.items] == [
        (meta["name"], meta["uid"], int(meta["resourceVersion"])) for meta in found
    ]
    assert [meta["name"] for meta in found] == numbered("object", OBJECTS)


async def test_an_object_of_1_mib_is_written_read_listed_and_watched(stage: ProxyStage) -> None:
    watch = await stage.watch()
    client, data = await stage.connection(), text(LARGEST)
    status, made = await client.call("POST", stage.path, {"metadata": {"name": "large"}, "data": data})
    assert (status, made["data"]) == (201, data)
    larger = {"metadata": {"name": "large"}, "data": text(LARGEST + 1)}
    assert (await client.call("PUT", f"{stage.path}/large", larger))[0] == 422
    status, read = await client.call("GET", f"{stage.path}/large")
    assert (status, read) == (200, made)
    status, found = await client.call("GET", stage.path)
    assert (status, found["items"][0]["data"]) == (200, data)
    await watch.until(1)
    assert watch.frames[0]["object"]["data"] == data
    again = await stage.watch_at(f"{stage.path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan")
    await again.until(1)
    assert again.frames[0]["object"]["data"] == data
    await stage.all_recorded()
    uid, revision = made["metadata"]["uid"], int(made["metadata"]["resourceVersion"])
    assert [(entry.code, entry.uid, entry.revision) for entry in stage.of(Answered) if entry.outcome == "ok"] == [
        (201, uid, revision),
        (200, uid, revision),
    ]
    assert [(entry.uid, entry.revision) for entry in stage.of(Delivered)] == [(uid, revision)] * 2
