"""What an engine says of a container that has exited, and calls of an engine that are given up. Everything else is tried on a real
engine, in suites/integration."""

import asyncio
import threading
from typing import Any

import pytest

from staleproof.drive.process.container import _undivided, reason_of


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"ExitCode": 1, "OOMKilled": False, "Error": ""}, ""),
        ({"ExitCode": 137, "OOMKilled": True, "Error": ""}, "killed because its memory ran out"),
        ({"ExitCode": 127, "Error": "no such file"}, "no such file"),
        ({}, ""),
    ],
)
def test_what_is_known_of_an_exit_besides_its_code(state: dict[str, Any], reason: str) -> None:
    assert reason_of(state) == reason


class Engine:
    """Answers when it is let; `made` is what there is."""

    def __init__(self) -> None:
        self.answers, self.made, self.undone = threading.Event(), list[str](), threading.Event()

    def make(self, name: str) -> str:
        self.answers.wait()
        self.made.append(name)
        return name

    def remove(self, name: str) -> None:
        self.made.remove(name)
        self.undone.set()


async def cancelled(task: "asyncio.Task[str]", *, times: int) -> bool:
    """Whether a task has ended that was cancelled so often."""
    for _ in range(times):
        task.cancel()
        await asyncio.wait({task}, timeout=0.02)
    return task.done()


async def test_what_was_made_is_there() -> None:
    engine = Engine()
    engine.answers.set()
    assert await _undivided(engine.make, "box", engine.remove) == "box"
    assert engine.made == ["box"]


async def test_a_cancellation_waits_for_the_answer_and_undoes_what_was_made() -> None:
    engine = Engine()
    task = asyncio.ensure_future(_undivided(engine.make, "box", engine.remove))
    await asyncio.sleep(0)
    assert not await cancelled(task, times=1)
    engine.answers.set()
    await asyncio.wait({task})
    assert (task.cancelled(), engine.made, engine.undone.is_set()) == (True, [], True)


async def test_another_cancellation_does_not_wait_and_what_was_made_is_undone_all_the_same() -> None:
    engine = Engine()
    task = asyncio.ensure_future(_undivided(engine.make, "box", engine.remove))
    await asyncio.sleep(0)
    assert await cancelled(task, times=2)
    assert not engine.undone.is_set()
    engine.answers.set()
    assert await asyncio.to_thread(engine.undone.wait, 60)
    assert engine.made == []
