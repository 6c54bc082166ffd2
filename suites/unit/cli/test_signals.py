"""What runs in an event loop, interrupted by a signal."""

import asyncio
import signal
import threading

import pytest

from staleproof.cli.signals import run_interruptibly


def test_what_ends_by_itself_gives_its_result() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    assert run_interruptibly(work()) == "done"


def test_errors_are_raised() -> None:
    async def work() -> None:
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        run_interruptibly(work())


def test_what_is_interrupted_stops_first() -> None:
    events: list[str] = []

    async def work() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            events.append("stopped")

    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(work())
    assert events == ["stopped"]
