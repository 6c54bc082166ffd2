"""The event bus: entries reach the activity fold and the recorder, and waiting is for conditions."""

import asyncio
import time
from pathlib import Path

import pytest

from staleproof.core.history.entry import Answered, Asked, Broke, Ended, Entry, Opened, Released, RequestId, StreamId
from staleproof.core.history.history import Header
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest
from staleproof.drive.trial.event_bus import Condition, EventBus
from staleproof.drive.trial.recorder import Recorder

LIMIT_SECONDS = 60.0
TINY_SECONDS = 0.01


def asked(at: float) -> Asked:
    return Asked(at=at, request=RequestId(1), client="c", verb="create", resource="pods", namespace="mine")


def test_entries_go_to_the_fold_always_and_to_the_recorder_while_there_is_one(tmp_path: Path) -> None:
    bus = EventBus()
    bus.take(Opened(at=1.0, stream=StreamId(1), client="c", resource="pods"))
    header = Header(plan=Plan(scenario="mine", steps=(Rest(seconds=1.0),)), namespace="mine")
    bus.recorder = Recorder(tmp_path / "history.jsonl", header, (), began=100.0)
    bus.take(asked(101.0))
    history, bus.recorder = bus.recorder.finish(), None
    bus.take(Ended(at=102.0))
    assert list(bus.activity.watches.streams) == [1]
    assert bus.activity.idle_since(103.0) is None
    assert history.entries == (asked(1.0),)


def test_listeners_hear_everything_in_order_for_as_long_as_they_listen() -> None:
    bus = EventBus()
    first, second = list[Entry](), list[Entry]()
    bus.listeners.append(first.append)
    bus.take(Released(at=1.0))
    bus.listeners.append(second.append)
    bus.take(Ended(at=2.0))
    bus.listeners.remove(first.append)
    bus.take(Ended(at=3.0))
    assert first == [Released(at=1.0), Ended(at=2.0)]
    assert second == [Ended(at=2.0), Ended(at=3.0)]


@pytest.mark.parametrize(
    ("condition", "limit", "found"),
    [(lambda now: True, 0.0, True), (lambda now: False, TINY_SECONDS, False), (lambda now: now + 60.0, TINY_SECONDS, False)],
)
async def test_a_wait_ends_when_the_condition_holds_or_at_the_limit(condition: Condition, limit: float, found: object) -> None:
    assert await EventBus().until(condition, limit_seconds=limit) is found


async def test_news_are_looked_at_at_once() -> None:
    """Only news can change the answer here, so the wait would else last until the limit."""
    bus, asks = EventBus(), []

    def seen(now: float) -> bool:
        asks.append(now)
        return bool(bus.activity.watches.streams)

    async with asyncio.timeout(LIMIT_SECONDS), asyncio.TaskGroup() as group:
        waiting = group.create_task(bus.until(seen, limit_seconds=10 * LIMIT_SECONDS))
        while not asks:
            await asyncio.sleep(0)
        bus.take(Released(at=time.monotonic()))
        while len(asks) < 2:
            await asyncio.sleep(0)
        bus.take(Opened(at=time.monotonic(), stream=StreamId(1), client="c", resource="pods"))
    assert waiting.result() is True
    assert len(asks) == 3


async def test_a_condition_is_asked_again_when_it_said() -> None:
    answers = iter([0.0, TINY_SECONDS])
    asks = []

    def third(now: float) -> bool | float:
        asks.append(now)
        later = next(answers, None)
        return True if later is None else now + later

    assert await EventBus().until(third, limit_seconds=LIMIT_SECONDS) is True
    assert asks[2] - asks[1] >= TINY_SECONDS


def broke(where: str, why: str = "gone") -> Broke:
    return Broke(at=1.0, where=where, why=why)


async def test_a_proxy_that_is_gone_ends_every_wait() -> None:
    bus = EventBus()
    async with asyncio.timeout(LIMIT_SECONDS), asyncio.TaskGroup() as group:
        waiting = group.create_task(bus.until(lambda now: False, limit_seconds=10 * LIMIT_SECONDS))
        await asyncio.sleep(0)
        bus.take(broke("proxy", "first"))
        bus.take(broke("proxy", "second"))
    assert waiting.result() is False
    assert (bus.dead, bus.flaws) == ("first", [])
    assert await bus.until(lambda now: False, limit_seconds=10 * LIMIT_SECONDS) is False


def test_what_broke_between_trials_or_in_a_watch_outlives_the_trial(tmp_path: Path) -> None:
    """Anything else is in the history of the trial that it spoils, and the next one can begin."""
    bus = EventBus()
    bus.take(broke("truth", "between"))
    header = Header(plan=Plan(scenario="mine", steps=(Rest(seconds=1.0),)), namespace="mine")
    bus.recorder = Recorder(tmp_path / "history.jsonl", header, (), began=0.0)
    for where in ("truth", "watch"):
        bus.take(broke(where, "within"))
    history, bus.recorder = bus.recorder.finish(), None
    assert bus.flaws == [broke("truth", "between"), broke("watch", "within")]
    assert bus.dead == ""
    assert history.entries == (broke("truth", "within"), broke("watch", "within"))


async def test_idle_is_to_have_done_nothing_for_so_long() -> None:
    bus = EventBus()
    assert await bus.until_idle(TINY_SECONDS, limit_seconds=0.0)
    bus.activity.touch(time.monotonic())
    assert await bus.until_idle(TINY_SECONDS, limit_seconds=LIMIT_SECONDS)
    bus.activity.touch(time.monotonic())
    assert not await bus.until_idle(LIMIT_SECONDS, limit_seconds=TINY_SECONDS)


async def test_a_request_without_an_answer_is_not_idle() -> None:
    bus, began = EventBus(), time.monotonic() - LIMIT_SECONDS
    bus.take(asked(began))
    assert not await bus.until_idle(TINY_SECONDS, limit_seconds=TINY_SECONDS)
    bus.take(Answered(at=began + 1, request=RequestId(1), outcome="ok"))
    assert await bus.until_idle(TINY_SECONDS, limit_seconds=0.0)


def test_where_a_further_program_looks_says_nothing_of_where_the_controller_does() -> None:
    bus = EventBus({"poller": "secret"})
    for number, (client, namespace) in enumerate({"controller": "here", "poller": ""}.items(), 1):
        bus.take(Opened(at=0.0, stream=StreamId(number), client=client, resource="widgets", namespace=namespace))
    assert bus.whereabouts.only("widgets", ["here", "there"]) == "here"
