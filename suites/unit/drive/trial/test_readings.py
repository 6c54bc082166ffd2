"""When the controller's metrics are read in a trial: when asked for, once a life answers, every second while a fault is open."""

import asyncio
import math
import time

import pytest
from staleproof.fixtures.controllers.machinery.exposition import serve  # noqa: TID251
from staleproof.fixtures.controllers.machinery.metrics import Metrics as Served  # noqa: TID251

from staleproof.core.history.entry import (
    Continued,
    Entry,
    Exited,
    FaultClosed,
    FaultIndex,
    FaultOpened,
    Metrics,
    Released,
    Started,
    Stopped,
)
from staleproof.core.times import METRICS_SECONDS
from staleproof.drive.process.address import free_port
from staleproof.drive.subject.metrics import Endpoint
from staleproof.drive.trial.event_bus import EventBus
from staleproof.drive.trial.readings import Readings

pytestmark = pytest.mark.io

LIMIT_SECONDS = 60.0


class Trial:
    """A bus whose metrics are kept, and readings of one source."""

    def __init__(self, source: Endpoint | None) -> None:
        self.bus, self.taken = EventBus(), list[Metrics]()
        self.readings = Readings(source, self.bus)
        self.bus.listeners += [self.readings.see, self._keep]

    def _keep(self, entry: Entry) -> None:
        if isinstance(entry, Metrics):
            self.taken.append(entry)


async def test_one_is_taken_when_it_is_asked_for_and_one_that_fails_is_none(source: Endpoint) -> None:
    good, bad, none = Trial(source), Trial(Endpoint(f"http://127.0.0.1:{free_port()}/")), Trial(None)
    for trial in (good, bad, none):
        await trial.readings.take()
        await trial.readings.take()
    assert [len(trial.taken) for trial in (good, bad, none)] == [2, 0, 0]


async def test_a_controller_that_says_nothing_does_not_say_that_it_works(source: Endpoint) -> None:
    for trial in (Trial(source), Trial(Endpoint(f"http://127.0.0.1:{free_port()}/")), Trial(None)):
        assert not await trial.readings.says_working()


async def test_a_new_life_is_read_once_it_answers(served: Served) -> None:
    """Nothing listens at first; then it is read, once."""
    port = free_port()
    trial = Trial(Endpoint(f"http://127.0.0.1:{port}/"))
    async with asyncio.timeout(LIMIT_SECONDS), asyncio.TaskGroup() as group:
        following = group.create_task(trial.readings.follow())
        trial.bus.take(Started(at=time.monotonic(), life=2))
        await trial.bus.until(lambda now: trial.readings._tried_at > 0 or now + 0.01, limit_seconds=LIMIT_SECONDS)
        assert not trial.taken
        serve(served, port)
        await trial.bus.until(lambda now: bool(trial.taken), limit_seconds=LIMIT_SECONDS)
        assert trial.readings._due(math.inf) is False
        following.cancel()


async def test_while_a_fault_is_open_it_is_read_every_second(source: Endpoint) -> None:
    trial = Trial(source)
    trial.bus.take(FaultOpened(at=1.0, fault=FaultIndex(0), why="step 1"))
    async with asyncio.timeout(LIMIT_SECONDS), asyncio.TaskGroup() as group:
        following = group.create_task(trial.readings.follow())
        await trial.bus.until(lambda now: len(trial.taken) >= 2, limit_seconds=LIMIT_SECONDS)
        following.cancel()
    first, second = trial.taken
    assert second.at - first.at >= METRICS_SECONDS - 0.001 - first.took


@pytest.mark.parametrize(
    ("entries", "due"),
    [
        ((), False),
        ((FaultOpened(at=1.0, fault=FaultIndex(0), why=""),), True),
        (
            (
                FaultOpened(at=1.0, fault=FaultIndex(0), why=""),
                FaultOpened(at=1.0, fault=FaultIndex(1), why=""),
                FaultClosed(at=2.0, fault=FaultIndex(0)),
            ),
            True,
        ),
        ((FaultOpened(at=1.0, fault=FaultIndex(0), why=""), FaultClosed(at=2.0, fault=FaultIndex(0))), False),
        ((FaultOpened(at=1.0, fault=FaultIndex(0), why=""), Released(at=2.0)), False),
        ((Started(at=1.0, life=2),), True),
        ((Started(at=1.0, life=2), Exited(at=2.0, life=2, code=1)), False),
        ((FaultOpened(at=1.0, fault=FaultIndex(0), why=""), Stopped(at=2.0, life=1)), False),
        ((FaultOpened(at=1.0, fault=FaultIndex(0), why=""), Stopped(at=2.0, life=1, paused=True), Continued(at=3.0, life=1)), True),
    ],
)
def test_when_a_reading_is_due(entries: tuple[Entry, ...], due: bool, source: Endpoint) -> None:  # noqa: FBT001
    trial = Trial(source)
    for entry in entries:
        trial.bus.take(entry)
    assert (trial.readings._due(math.inf) is True) is due


async def test_one_that_does_not_run_is_not_asked(source: Endpoint) -> None:
    trial = Trial(source)
    trial.bus.take(Stopped(at=1.0, life=1))
    await trial.readings.take()
    assert trial.taken == []
