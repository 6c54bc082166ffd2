"""Entries reach every reader once, in order, under their number; what all have read is forgotten."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from staleproof.proxy_addons.journal import _KEPT, _KEPT_UNREAD, Journal  # noqa: TID251

# The leaf under test.
from staleproof.core.history.entry import Entry, FaultIndex, FaultOpened

LIMIT_SECONDS = 60.0


def filled(journal: Journal, count: int) -> None:
    for _ in range(count):
        journal.record(FaultOpened(at=0.0, fault=FaultIndex(journal.end), why=""))


async def take(lines: AsyncGenerator[bytes, None], count: int) -> list[int]:
    """The numbers of the next so many entries."""
    found: list[int] = []
    async with asyncio.timeout(LIMIT_SECONDS):
        while len(found) < count:
            batch = await anext(lines)
            assert batch.endswith(b"\n")
            entries = [msgspec.json.decode(line, type=Entry) for line in batch.splitlines()]
            found += [entry.fault for entry in entries if isinstance(entry, FaultOpened)]
    return found


async def test_a_reader_gets_what_was_there_and_what_comes() -> None:
    journal = Journal()
    filled(journal, 3)
    async with aclosing(journal.lines(1)) as lines:
        assert await take(lines, 2) == [1, 2]
        coming = asyncio.get_running_loop().create_task(take(lines, 2))
        await asyncio.sleep(0)
        filled(journal, 2)
        assert await coming == [3, 4]


async def test_what_was_read_is_forgotten_and_the_numbers_go_on() -> None:
    journal = Journal()
    async with aclosing(journal.lines(0)) as lines:
        for turn in range(10):
            filled(journal, _KEPT)
            assert await take(lines, _KEPT) == list(range(turn * _KEPT, (turn + 1) * _KEPT))
    assert journal.end == 10 * _KEPT
    assert journal.end - journal.first <= 3 * _KEPT
    async with aclosing(journal.lines(0)) as late:
        assert (await take(late, 1))[0] == journal.first


async def test_nothing_is_forgotten_before_the_slowest_reader_has_it() -> None:
    journal = Journal()
    async with aclosing(journal.lines(0)) as slow, aclosing(journal.lines(0)) as fast:
        filled(journal, 1)
        assert await take(slow, 1) == [0]
        filled(journal, 5 * _KEPT)
        assert len(await take(fast, 5 * _KEPT + 1)) == 5 * _KEPT + 1
        assert journal.first == 0
        assert await take(slow, 5 * _KEPT) == list(range(1, 5 * _KEPT + 1))


def test_a_first_reader_that_comes_late_misses_nothing() -> None:
    journal = Journal()
    filled(journal, 5 * _KEPT)
    assert (journal.first, journal.end) == (0, 5 * _KEPT)


async def test_memory_is_bounded_while_no_client_reads() -> None:
    journal = Journal()
    filled(journal, 3 * _KEPT_UNREAD)
    assert _KEPT_UNREAD <= journal.end - journal.first <= 2 * _KEPT_UNREAD
    async with aclosing(journal.lines(0)) as lines:
        assert (await take(lines, 1))[0] == journal.first


async def test_read_waits_for_the_readers_there_are() -> None:
    journal = Journal()
    filled(journal, 2)
    await journal.read()
    async with asyncio.timeout(LIMIT_SECONDS), aclosing(journal.lines(0)) as lines:
        reading = asyncio.get_running_loop().create_task(take(lines, 4))
        await asyncio.sleep(0)
        filled(journal, 1)
        await journal.read()
        assert not reading.done(), "it still waits for the fourth entry, and has taken what there is"
        reading.cancel()
        await asyncio.wait({reading})
