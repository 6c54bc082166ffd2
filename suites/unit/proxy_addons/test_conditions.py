"""Requests that wait: woken by what ends their wait, and by nothing else."""

import asyncio

# mypy reads harness/ only; ruff bans leaves elsewhere.
from staleproof.proxy_addons.conditions import Waits  # type: ignore[import-not-found]  # noqa: TID251


async def _waiting(waits: Waits, over: list[str], name: str, done: list[str], *, seconds: float | None = None) -> None:
    await waits.until(lambda: name in over, seconds=seconds)
    done.append(name)


def test_only_those_whose_wait_is_over_go_on() -> None:
    async def body() -> None:
        waits, over, done = Waits(), list[str](), list[str]()
        async with asyncio.TaskGroup() as group:
            for name in ("a", "b"):
                group.create_task(_waiting(waits, over, name, done))
            await asyncio.sleep(0)
            waits.stir()
            await waits.settled()
            assert done == []
            over.append("b")
            waits.stir()
            waits.stir()  # twice is no error
            await waits.settled()
            assert done == ["b"]
            over.append("a")
            waits.stir()

    asyncio.run(body())


def test_what_is_over_before_it_begins_does_not_wait() -> None:
    done: list[str] = []
    asyncio.run(_waiting(Waits(), ["a"], "a", done))
    assert done == ["a"]


def test_a_wait_ends_by_itself_when_its_time_is_over() -> None:
    done: list[str] = []
    asyncio.run(_waiting(Waits(), [], "a", done, seconds=0.01))
    assert done == ["a"]


def test_a_wait_that_is_cancelled_is_forgotten() -> None:
    async def body() -> None:
        waits = Waits()
        task = asyncio.get_running_loop().create_task(_waiting(waits, [], "a", []))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        waits.stir()
        await waits.settled()
        assert task.cancelled()

    asyncio.run(body())
