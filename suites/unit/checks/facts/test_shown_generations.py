"""Which generation the controller had been shown, and by what."""

import pytest

from staleproof.checks.facts.shown_generations import shown_generations
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
    script = held().wants(3).let_go(WIDGETS)
    third = len(script.entries) - 1
    script.restarted()
    start = len(script.entries)
    found = shown_generations(Trial(script.gets("w", WIDGETS).lists(WIDGETS).unfinished()))
    end, uid = len(script.entries), "ns-uid-1"

    assert [found.cached.before(index, uid) for index in (third - 1, third, third + 1, start, end)] == [1, 2, 3, 0, 3]
    assert [found.cached.reached(uid, generation, before=third + 1) for generation in (2, 3, 4)] == [third - 1, third, None]
    assert [found.cached.reached(uid, 3, before=end), found.known.reached(uid, 3, before=end)] == [end - 1, start + 1]
    assert [found.cached.rises(uid, 3, after=after) for after in (0, third + 1, end)] == [third, end - 1, None]
