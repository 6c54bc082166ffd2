"""Which streams a fault concerns, and when: namespace, name, stream, steps, seconds; and what it says without an occasion."""

from staleproof.core.fault import HoldStream, SeverStream, Window
from staleproof.core.history.entry import FaultClosed, Withheld

from .proxy_client import until
from .proxy_stage import ProxyStage, named


async def test_a_fault_of_one_namespace_leaves_the_others_alone(stage: ProxyStage) -> None:
    start = await stage.revision()
    everywhere = await stage.watch_at(f"/api/v1/configmaps?watch=1&resourceVersion={start}")
    here, default = "configmaps", "/api/v1/namespaces/default/configmaps"
    elsewhere = await stage.watch_at(f"{default}?watch=1&resourceVersion={start}")
    await stage.play(HoldStream(resource=here, namespace=stage.namespace))
    name = f"of-{stage.namespace}"
    await stage.api.call("POST", default, named(name))
    await everywhere.until(1)
    await stage.create("held")
    await until(lambda: len(stage.of(Withheld)) == 1)
    await stage.api.call("DELETE", f"{default}/{name}")
    await elsewhere.until(2)
    await until(lambda: len(stage.of(Withheld)) == 2)  # behind what is held: a stream stays in order
    assert len(everywhere.lines) == 1
    assert await stage.healed() == ["0 fired"]
    await everywhere.until(3)
    assert everywhere.names == [name, "held", name]


async def test_a_hold_of_one_object_holds_what_comes_behind_it(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(HoldStream(resource="configmaps", name="b"))
    await stage.create_each("a", "b", "c")
    await watch.until(1)
    await until(lambda: len(stage.of(Withheld)) == 2)
    assert watch.events == [("ADDED", "a")]
    assert await stage.healed() == ["0 fired"]
    await watch.until(3)
    assert watch.names == ["a", "b", "c"]


async def test_a_fault_of_the_nth_stream_leaves_the_others_alone(stage: ProxyStage) -> None:
    start = await stage.revision()
    carried = await stage.watch(start)
    await stage.play(HoldStream(resource="configmaps", stream=2))
    second, third = await stage.watch(start), await stage.watch(start)
    await stage.create("sample")
    await carried.until(1)
    await third.until(1)
    await until(lambda: len(stage.of(Withheld)) == 1)
    assert second.events == []
    assert await stage.healed() == ["0 fired"]
    await second.until(1)


async def test_a_fault_is_open_from_step_to_step(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(HoldStream(resource="configmaps", window=Window(from_step=2, until_step=4)))
    await stage.create("step-1")
    await watch.until(1)
    await stage.step(2)
    await stage.create("step-2")
    await stage.step(3)
    await stage.create("step-3")
    await until(lambda: len(stage.of(Withheld)) == 2)
    assert len(watch.lines) == 1
    await stage.step(4)
    await watch.until(3)
    await stage.create("step-4")
    await watch.until(4)
    assert await stage.healed() == ["0 fired"]


async def test_a_fault_closes_when_its_seconds_are_over(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(HoldStream(resource="configmaps", window=Window(seconds=5.0)))
    await stage.create("held")
    await watch.until(1)
    await until(lambda: len(stage.of(FaultClosed)) == 1)
    await stage.create("free")
    await watch.until(2)
    assert await stage.healed() == ["0 fired"]
    assert [entry.name for entry in stage.of(Withheld)] == ["held"]


async def test_a_fault_without_an_occasion_says_so(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(
        HoldStream(resource="secrets"),
        HoldStream(resource="configmaps", name="missing"),
        HoldStream(resource="configmaps", window=Window(from_step=7)),
        SeverStream(resource="configmaps", nth=5),
    )
    await stage.create("sample")
    await stage.change("sample", data={"a": "b"})
    await watch.until(2)
    assert await stage.healed() == ["0 missed", "1 missed", "2 missed", "3 missed"]
    async with stage.control() as session, session.get("/v1/faults") as response:
        faults = (await response.json())["faults"]
    assert {fault["outcome"] for fault in faults} == {"not fired"}
    assert "step 7 never began" in faults[2]["why"]
    assert "2 events of configmaps came" in faults[3]["why"]
