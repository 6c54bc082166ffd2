"""Requests that wait: woken by what ends their wait, and by nothing else."""

import asyncio

# The leaf under test.
from staleproof.proxy_addons.conditions import Conditions  # noqa: TID251


async def _waiting(conditions: Conditions, met: list[str], name: str, done: list[str], *, seconds: float | None = None) -> None:
    await conditions.until(lambda: name in met, seconds=seconds)
    done.append(name)


async def test_only_those_whose_condition_is_met_go_on() -> None:
    conditions, met, done = Conditions(), list[str](), list[str]()
    async with asyncio.TaskGroup() as group:
        for name in ("a", "b"):
            group.create_task(_waiting(conditions, met, name, done))
        await asyncio.sleep(0)
        conditions.recheck()
        await conditions.settled()
        assert done == []
        met.append("b")
        conditions.recheck()
        conditions.recheck()  # twice is no error
        await conditions.settled()
        assert done == ["b"]
        met.append("a")
        conditions.recheck()


async def test_what_is_met_before_it_begins_does_not_wait() -> None:
    done: list[str] = []
    await _waiting(Conditions(), ["a"], "a", done)
    assert done == ["a"]


async def test_a_wait_ends_by_itself_when_its_time_is_over() -> None:
    done: list[str] = []
    await _waiting(Conditions(), [], "a", done, seconds=0.01)
    assert done == ["a"]


async def test_a_wait_that_is_cancelled_is_forgotten() -> None:
    conditions = Conditions()
    task = asyncio.get_running_loop().create_task(_waiting(conditions, [], "a", []))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    conditions.recheck()
    await conditions.settled()
    assert task.cancelled()
