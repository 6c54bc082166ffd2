"""Looks for what is missing: as few as will do."""

import math

from staleproof.drive.trial.looks import Looks


class Finder:
    """Finds what it is given, one after the other, and counts how often it looked."""

    def __init__(self, *found: str) -> None:
        self._found = list(found)
        self.times = 0

    def __call__(self) -> str:
        self.times += 1
        return self._found.pop(0)


def test_one_state_is_looked_at_once() -> None:
    find = Finder("pod w-a is missing")
    looks = Looks(find, "still busy")
    assert [looks.find_nothing(1.0, now) for now in (5.0, 6.0, 7.0)] == [False] * 3
    assert find.times == 1
    assert looks.in_the_end(1.0) == "pod w-a is missing"
    assert find.times == 1


def test_another_state_is_looked_at_as_soon_as_that_may_be() -> None:
    now = 0.0  # the clock has gone on since, so that a look has taken long
    find = Finder("pod w-a is missing", "")
    looks = Looks(find, "still busy")
    assert looks.find_nothing(1.0, now) is False
    due = looks.find_nothing(2.0, now)
    assert due is not True
    assert due > now
    assert find.times == 1
    assert looks.find_nothing(2.0, math.inf) is True
    assert find.times == 2


def test_what_was_written_since_the_last_look_is_looked_at_when_the_time_is_over() -> None:
    find = Finder("pod w-a is missing", "")
    looks = Looks(find, "still busy")
    looks.find_nothing(1.0, 5.0)
    assert looks.in_the_end(2.0) == ""


def test_where_there_was_no_rest_nothing_is_looked_for() -> None:
    find = Finder()
    assert Looks(find, "still busy").in_the_end(2.0) == "still busy"
    assert Looks(find, "still busy").in_the_end(None) == "still busy"
