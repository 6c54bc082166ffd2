"""Looks for what is missing: as few as will do."""

import math

from staleproof.drive.trial.looks import Looks

LONG_AGO = 0.0
"""On the monotonic clock, so that a look which began then has taken long."""


class Finder:
    """Finds what it is given, one after the other, and counts how often it looked."""

    def __init__(self, *found: str) -> None:
        self._found = list(found)
        self.times = 0

    def __call__(self) -> str:
        self.times += 1
        return self._found.pop(0)


def test_after_a_look_that_took_long_the_next_one_waits() -> None:
    find = Finder("pod w-a is missing", "")
    looks = Looks(find, "still busy")
    assert looks.find_nothing(LONG_AGO) is False
    assert looks.found == "pod w-a is missing"
    due = looks.find_nothing(LONG_AGO)
    assert due is not True
    assert due > LONG_AGO
    assert find.times == 1
    assert looks.find_nothing(math.inf) is True
    assert find.times == 2


def test_a_look_that_was_put_off_is_made_when_the_time_is_over() -> None:
    looks = Looks(Finder("pod w-a is missing", ""), "still busy")
    looks.find_nothing(LONG_AGO)
    looks.find_nothing(LONG_AGO)
    assert looks.in_the_end() == ""


def test_without_a_rest_nothing_more_is_looked_for() -> None:
    find = Finder("pod w-a is missing")
    looks = Looks(find, "still busy")
    assert looks.in_the_end() == "still busy"
    looks.find_nothing(LONG_AGO)
    assert looks.in_the_end() == "pod w-a is missing"
    assert find.times == 1
