"""The doctor's time is limited: a step that does not end is ended, and none begins later."""

import asyncio
import time

from staleproof.assess.doctor.check import Check, not_asked
from staleproof.assess.doctor.doctor import _within


async def test_a_step_that_does_not_end_is_ended() -> None:
    ended = []

    async def hangs() -> list[Check]:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)
        return []

    (check,) = await _within(time.monotonic() + 0.05, "restarts", hangs)
    assert (check.name, check.is_open, ended) == ("restarts", True, [True])


async def test_none_begins_when_the_time_is_over() -> None:
    begun = []

    async def begins() -> list[Check]:
        begun.append(True)
        return []

    (check,) = await _within(time.monotonic(), "metrics", begins)
    assert (check.is_open, begun) == (True, [])


async def test_what_ends_in_time_is_reported() -> None:
    expected = not_asked("metrics", "no URL")

    async def answers() -> list[Check]:
        return [expected]

    assert await _within(time.monotonic() + 60, "metrics", answers) == [expected]
