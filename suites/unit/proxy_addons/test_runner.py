"""What becomes of the faults when the last runner has gone, and only then."""

import asyncio
from collections.abc import Callable

import pytest
from staleproof.proxy_addons.journal import Journal  # type: ignore[import-not-found]  # noqa: TID251

# The leaf under test; mypy does not follow the mapping of folders.
from staleproof.proxy_addons.proxy_state import Board  # type: ignore[import-not-found]  # noqa: TID251
from staleproof.proxy_addons.runner import Runner  # type: ignore[import-not-found]  # noqa: TID251

from staleproof.core.fault import HoldStream


def played(body: Callable[[Board, list[str]], None]) -> None:
    """With a board in an event loop, and a list that says when it stopped the proxy."""

    async def inside() -> None:
        stops: list[str] = []
        body(Board(Journal(), lambda: stops.append("stop"), None), stops)  # a hold never asks for connections

    asyncio.run(inside())


def told(board: Board) -> list[str]:
    return [type(entry).__name__ for entry in board.journal._entries]


def test_healing_waits_for_the_last_runner() -> None:
    def body(board: Board, stops: list[str]) -> None:
        runner = Runner(board, "heal")
        number = board.add(HoldStream(resource="pods"))
        with runner.connected():
            with runner.connected():
                pass
            assert board.schedule.is_open(number)
        assert not board.schedule.is_open(number)
        assert told(board) == ["FaultOpened", "Broke", "FaultClosed", "FaultMissed"]
        assert stops == []

    played(body)


def test_a_runner_that_has_cleaned_up_spoils_nothing() -> None:
    def body(board: Board, stops: list[str]) -> None:
        with Runner(board, "heal").connected():
            board.remove(board.add(HoldStream(resource="pods")))
        assert "Broke" not in told(board)

    played(body)


def test_the_proxy_ends_if_that_is_wanted() -> None:
    def body(board: Board, stops: list[str]) -> None:
        with Runner(board, "exit").connected():
            assert stops == []
        assert stops == ["stop"]
        assert told(board) == ["Broke"]

    played(body)


def test_nothing_happens_if_that_is_wanted() -> None:
    def body(board: Board, stops: list[str]) -> None:
        number = board.add(HoldStream(resource="pods"))
        with pytest.raises(LookupError), Runner(board, "nothing").connected():
            raise LookupError
        assert board.schedule.is_open(number)
        assert (told(board), stops) == (["FaultOpened"], [])

    played(body)
