"""An earlier state in answer to a read, on the wire: wherever Kubernetes allows it, in every form, and nowhere else."""

from typing import Any

import pytest

from staleproof.core.fault import HoldStream, PastSnapshot, StaleRead, Window
from staleproof.core.history.entry import Answered, Broke, Delivered, FaultFired, FaultRefused, Listed, Withheld

from .proxy_client import Watching, until
from .proxy_stage import ProxyStage

LATER = Window(from_step=2)
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
PARTIAL_LIST = PARTIAL.replace("Metadata;", "MetadataList;")


async def past(stage: ProxyStage, fault: PastSnapshot | StaleRead) -> str:
    """Step 1 began with `a` and `b` (with a label); since then `a` has changed, `b` is gone, `c` is new. The revision at step 1."""
    for name, labels in (("a", {}), ("b", {"tier": "one"})):
        await stage.create(name, metadata={"labels": labels}, data={"age": "old"})
    then = await stage.play(fault, contract="hostile" if isinstance(fault, StaleRead) else "legal")
    await stage.change("a", data={"age": "new"}, metadata={"labels": {"tier": "one"}})
    await stage.delete("b")
    await stage.create("c")
    await stage.step(2)
    return then


def names(found: dict[str, Any]) -> list[str]:
    items = found["items"] if "items" in found else [row["object"] for row in found["rows"]]
    return [item["metadata"]["name"] for item in items]


@pytest.mark.parametrize(
    ("query", "accept", "kind", "expected"),
    [
        ("", "application/json", "ConfigMapList", ["a", "b"]),
        ("&limit=1", "application/json", "ConfigMapList", ["a", "b"]),  # as the watch cache does it
        ("&labelSelector=tier%3Done", "application/json", "ConfigMapList", ["b"]),
        ("&labelSelector=tier%21%3Done", "application/json", "ConfigMapList", ["a"]),
        ("&fieldSelector=metadata.name%3Db", "application/json", "ConfigMapList", ["b"]),
        ("&resourceVersionMatch=NotOlderThan", "application/json", "ConfigMapList", ["a", "b"]),
        ("", PARTIAL_LIST, "PartialObjectMetadataList", ["a", "b"]),
        ("&labelSelector=tier%3Done", PARTIAL_LIST, "PartialObjectMetadataList", ["b"]),
        ("", TABLE, "Table", ["a", "b"]),
        ("", "application/vnd.kubernetes.protobuf,application/json", "ConfigMapList", ["a", "b"]),
    ],
)
async def test_a_list_from_the_past(query: str, accept: str, kind: str, expected: list[str], stage: ProxyStage) -> None:
    then = await past(stage, PastSnapshot(window=LATER))
    client = await stage.connection()
    status, found = await client.call("GET", f"{stage.path}?resourceVersion=0{query}", Accept=accept)
    assert (status, found["kind"], found["metadata"]["resourceVersion"]) == (200, kind, then)
    assert names(found) == expected
    if "data" in found.get("items", [{}])[0]:
        assert {item["data"]["age"] for item in found["items"]} == {"old"}
    assert "remainingItemCount" not in found["metadata"]
    assert await stage.healed() == ["0 fired"]
    (listed,) = stage.of(Listed)
    assert (listed.revision, listed.fault, [item.name for item in listed.items]) == (int(then), 0, expected)


async def test_the_watch_that_goes_on_from_the_past_is_held(stage: ProxyStage) -> None:
    then = await past(stage, PastSnapshot(window=LATER))
    client = await stage.connection()
    _, found = await client.call("GET", f"{stage.path}?resourceVersion=0")
    now = await stage.revision()
    watch = await stage.watch(found["metadata"]["resourceVersion"], on=client, query="&allowWatchBookmarks=true")
    other = await stage.watch(now)  # a client that has seen now is not led back
    await stage.create("d")
    await other.until(1)
    await until(lambda: len(stage.of(Withheld)) == 4)
    assert watch.lines == []
    assert await stage.healed() == ["0 fired"]
    await watch.until(4)
    assert watch.events == [("MODIFIED", "a"), ("DELETED", "b"), ("ADDED", "c"), ("ADDED", "d")]
    assert int(then) < int(now)


async def test_a_watch_from_the_past_that_is_not_held_catches_up_at_once(stage: ProxyStage) -> None:
    then = await past(stage, PastSnapshot(window=LATER, hold=False))
    client = await stage.connection()
    await client.call("GET", f"{stage.path}?resourceVersion=0")
    watch = await stage.watch(then, on=client)
    await watch.until(3)
    assert watch.events == [("MODIFIED", "a"), ("DELETED", "b"), ("ADDED", "c")]
    assert await stage.healed() == ["0 fired"]
    assert stage.of(Withheld) == []


@pytest.mark.parametrize("query", ["&resourceVersion=0", ""])
async def test_a_watch_that_begins_in_the_past(query: str, stage: ProxyStage) -> None:
    await past(stage, PastSnapshot(window=LATER))
    watch = await stage.watch_at(f"{stage.path}?watch=1{query}")
    await watch.until(2)
    await until(lambda: len(stage.of(Withheld)) == 3)
    assert watch.events == [("ADDED", "a"), ("ADDED", "b")]
    assert [(frame["object"]["kind"], frame["object"]["data"]) for frame in watch.frames] == [("ConfigMap", {"age": "old"})] * 2
    assert await stage.healed() == ["0 fired"]
    await watch.until(5)
    assert watch.events[2:] == [("MODIFIED", "a"), ("DELETED", "b"), ("ADDED", "c")]
    await stage.create("d")
    await watch.until(6)
    await stage.all_recorded()
    assert [entry.name for entry in stage.of(Delivered)] == ["a", "b", "a", "b", "c", "d"]
    assert ["without resourceVersion" in entry.on for entry in stage.of(FaultFired)] == [not query]  # told apart: row 24b
    assert stage.of(Broke) == []


@pytest.mark.parametrize(("query", "accept"), [("&labelSelector=tier%3Done", "application/json"), ("", PARTIAL)])
async def test_a_watch_from_the_past_with_a_selector_or_of_metadata(query: str, accept: str, stage: ProxyStage) -> None:
    """`a` gets its label later: only then is it ADDED to a watch that selects the label."""
    await past(stage, PastSnapshot(window=LATER))
    watch = await stage.watch_at(f"{stage.path}?watch=1&resourceVersion=0{query}", Accept=accept)
    first = [("ADDED", "b")] if query else [("ADDED", "a"), ("ADDED", "b")]
    await watch.until(len(first))
    assert watch.events == first
    assert await stage.healed() == ["0 fired"]
    then = [("ADDED", "a"), ("DELETED", "b")] if query else [("MODIFIED", "a"), ("DELETED", "b"), ("ADDED", "c")]
    await watch.until(len(first) + len(then))
    assert watch.events == [*first, *then]
    kind = "PartialObjectMetadata" if accept == PARTIAL else "ConfigMap"
    assert {frame["object"]["kind"] for frame in watch.frames} == {kind}


async def test_a_watch_of_tables_from_the_past(stage: ProxyStage) -> None:
    await past(stage, PastSnapshot(window=LATER))
    watch = await stage.watch_at(f"{stage.path}?watch=1&resourceVersion=0", Accept=TABLE)
    await watch.until(2)
    assert [name for frame in watch.frames for name in names(frame["object"])] == ["a", "b"]
    assert await stage.healed() == ["0 fired"]
    await watch.until(5)
    assert [(frame["type"], *names(frame["object"])) for frame in watch.frames[2:]] == [
        ("MODIFIED", "a"),
        ("DELETED", "b"),
        ("ADDED", "c"),
    ]
    assert {frame["object"]["kind"] for frame in watch.frames} == {"Table"}


async def test_a_watch_that_wants_no_initial_events_gets_none(stage: ProxyStage) -> None:
    await past(stage, PastSnapshot(window=LATER))
    query = "&resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"
    watch = await stage.watch_at(f"{stage.path}?watch=1{query}")
    await stage.create("live")
    await watch.until(1)
    assert watch.events == [("ADDED", "live")]
    assert await stage.healed() == ["0 refused"]
    assert "asks for no state" in stage.of(FaultRefused)[0].why


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("?", "25"),
        ("?limit=1", "25"),
        ("?resourceVersion={now}", "23"),
        ("?resourceVersion={now}&resourceVersionMatch=Exact", "23"),
        ("?limit=1&continue={token}", "27"),
        ("?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "25"),
    ],
)
async def test_a_read_that_excludes_the_past_is_answered_with_the_present(query: str, row: str, stage: ProxyStage) -> None:
    await past(stage, PastSnapshot(window=LATER))
    page = await stage.api.call("GET", f"{stage.path}?limit=1")
    target = stage.path + query.format(now=await stage.revision(), token=page["metadata"]["continue"])
    client = await stage.connection()
    if "watch" in query:
        assert await client.ask("GET", target) == 200
        watch = Watching(client, stage.group)
        await watch.until(3)
        assert watch.events[:2] == [("ADDED", "a"), ("ADDED", "c")]
    else:
        status, found = await client.call("GET", target)
        assert (status, set(names(found)) <= {"a", "c"}) == (200, True)
    assert await stage.healed() == [f"0 refused {row}"]


async def test_one_fault_may_be_refused_and_fire_later(stage: ProxyStage) -> None:
    await past(stage, PastSnapshot(window=LATER))
    client = await stage.connection()
    assert names((await client.call("GET", stage.path))[1]) == ["a", "c"]
    assert names((await client.call("GET", stage.path))[1]) == ["a", "c"]
    assert names((await client.call("GET", f"{stage.path}?resourceVersion=0"))[1]) == ["a", "b"]
    assert await stage.healed() == ["0 fired", "0 refused 25"]


async def test_a_past_whose_revision_is_unknown_cannot_be_shown(stage: ProxyStage) -> None:
    await stage.create("a")
    await stage.proxy.install((PastSnapshot(window=LATER),), "")
    await stage.proxy.begin_step(1)  # without the API server's revision
    await stage.proxy.begin_step(2)
    client = await stage.connection()
    assert (await client.call("GET", f"{stage.path}?resourceVersion=0"))[0] == 200
    assert await stage.healed() == ["0 refused"]
    assert "revision at the beginning of step 1 is not known" in stage.of(FaultRefused)[0].why


async def test_a_past_together_with_a_hold_of_everything(stage: ProxyStage) -> None:
    await past(stage, PastSnapshot(window=LATER, hold=False))
    async with stage.control() as session:
        hold = {"fault": {"fault": "Hold", "resource": "configmaps"}}
        async with session.post("/v1/faults", json=hold) as response:
            assert (await response.json())["fault"] == 1
    watch = await stage.watch("0")
    await until(lambda: len(stage.of(Withheld)) == 5)
    assert watch.lines == []
    assert await stage.healed() == ["0 fired", "1 fired"]
    await watch.until(5)
    assert watch.events == [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b"), ("ADDED", "c")]


# --- what no API server does -----------------------------------------------------------------------------------------------------


async def test_a_stale_answer_to_a_consistent_read_is_hostile(stage: ProxyStage) -> None:
    then = await past(stage, StaleRead(resource="configmaps", window=LATER))
    client = await stage.connection()
    _, found = await client.call("GET", stage.path)
    assert (names(found), found["metadata"]["resourceVersion"]) == (["a", "b"], then)
    direct = await stage.stored("a")
    _, single = await client.call("GET", f"{stage.path}/a")
    assert (single["kind"], single["apiVersion"], single["data"]) == ("ConfigMap", "v1", {"age": "old"})
    assert direct is not None
    assert direct["data"] == {"age": "new"}
    assert (await client.call("GET", f"{stage.path}/b"))[0] == 200  # long deleted
    status, said = await client.call("GET", f"{stage.path}/c")  # long there
    assert (status, said["kind"], said["reason"]) == (404, "Status", "NotFound")
    assert names((await client.call("GET", f"{stage.path}?resourceVersion=0"))[1]) == ["a", "c"]  # asks for any state
    assert await stage.healed() == ["0 fired"]
    assert [(entry.code, entry.fault) for entry in stage.of(Answered)] == [(200, 0), (200, 0), (404, 0)]
    assert [entry.fault for entry in stage.of(Listed)] == [0, None]


@pytest.mark.parametrize(("accept", "kind"), [(TABLE, "Table"), (PARTIAL, "PartialObjectMetadata")])
async def test_a_stale_answer_has_the_form_that_was_asked_for(accept: str, kind: str, stage: ProxyStage) -> None:
    await past(stage, StaleRead(resource="configmaps", window=LATER))
    client = await stage.connection()
    _, found = await client.call("GET", f"{stage.path}/b", Accept=accept)
    assert (found["kind"], found["apiVersion"]) == (kind, "meta.k8s.io/v1")
    assert (names(found) if kind == "Table" else [found["metadata"]["name"]]) == ["b"]
    assert await stage.healed() == ["0 fired"]


async def test_streams_opened_before_the_plan_are_not_from_the_past(stage: ProxyStage) -> None:
    """They show what happens, although the plan begins with a state of the past."""
    carried = await stage.watch()
    await stage.play(PastSnapshot(), HoldStream(resource="secrets"))
    await stage.create("a")
    await carried.until(1)
    assert await stage.healed() == ["0 missed", "1 missed"]
