"""Which generation the controller had been shown, and by what."""

import pytest

from staleproof.checks.facts.shown_generations import Generations, shown_generations
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, trial


def held() -> Script:
    """The second generation is hidden."""
    return trial().wants(1).hold(WIDGETS).wants(2)


CASES = {
    "a frame fills the caches": (trial().wants(1), 1, 1),
    "one that is held does not": (held(), 1, 1),
    "until it is let go": (held().let_go(WIDGETS), 2, 2),
    "a list fills them, too": (held().lists(WIDGETS), 2, 2),
    "a live read tells without filling them": (held().gets("w", WIDGETS), 1, 2),
    "so does the answer to an own write": (held().says(1), 1, 2),
    "a new life has been shown nothing": (trial().wants(1).restarted(), 0, 0),
    "and reads live": (trial().wants(1).restarted().gets("w", WIDGETS), 0, 1),
}


@pytest.mark.parametrize(("script", "cached", "known"), CASES.values(), ids=CASES)
def test_what_had_been_shown_in_the_end(script: Script, cached: int, known: int) -> None:
    shown, end = shown_generations(Trial(script.unfinished())), len(script.entries)

    assert (shown.cached.before(end, "ns-uid-1"), shown.known.before(end, "ns-uid-1")) == (cached, known)


def test_since_when_and_from_when() -> None:
    levels = Generations()
    levels.show(2, "u", 1)
    levels.show(5, "u", 3)
    levels.show(6, "u", 2)
    levels.forget(8)
    levels.show(9, "u", 2)

    assert [levels.before(index, "u") for index in (2, 3, 6, 7, 9, 10)] == [0, 1, 3, 3, 0, 2]
    assert [levels.reached("u", g, before=8) for g in (1, 2, 3, 4)] == [2, 5, 5, None]
    assert [levels.reached("u", g, before=20) for g in (1, 2, 3)] == [9, 9, None]
    assert [levels.rises("u", 2, after=after) for after in (0, 6, 10)] == [5, 9, None]
