"""What the controller did when bookmarks came."""

import pytest

from staleproof.checks.facts.bookmarks import bookmark_writes, went_on_with_bookmark
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script

CLOSED = 8


def resting() -> Script:
    """Its last stimulus is the answer at 7, and the position in question 8."""
    return Script().applied("w").asks("update", WIDGETS, "w").passes(3.0).closes()


def echoing() -> Script:
    """Between the two it is shown the same again."""
    return Script().applied("w").shows("w", WIDGETS).passes(3.0)


WENT_ON: dict[str, tuple[Script, tuple[int, int, int] | None]] = {
    "with a bookmark": (resting().bookmark().updates("w"), (7, 9, 10)),
    "with the second": (resting().bookmark().bookmark().updates("w"), (7, 10, 11)),
    "with something else": (resting().bookmark().applied("w", spec=2).updates("w"), None),
    "without one": (resting().updates("w"), None),
    "not at all": (resting().bookmark(), None),
    "with a bookmark behind an echo": (resting().shows("w", WIDGETS).bookmark().updates("w"), None),
    "behind an echo as there was before": (
        echoing().shows("w", WIDGETS).closes().shows("w", WIDGETS).bookmark().updates("w"),
        (5, 10, 11),
    ),
    "nothing was before": (Script().opens().opens().opens().opens().closes().bookmark().asks("update", WIDGETS, "w"), None),
}


@pytest.mark.parametrize(("script", "expected"), WENT_ON.values(), ids=WENT_ON)
def test_it_went_on(script: Script, expected: tuple[int, int, int] | None) -> None:
    found = went_on_with_bookmark(Trial(script.unfinished()), CLOSED)

    assert (found and tuple(each.index for each in found)) == expected


def writing(times: int = 2, *, after: float = 0.0) -> Script:
    """At rest, it writes after each bookmark."""
    script = Script().applied("w")
    for _ in range(times):
        script.passes(4.0).bookmark().passes(after).asks("update", WIDGETS, "w")
    return script


PAIRS: dict[str, tuple[Script, list[tuple[int, int]]]] = {
    "after each": (writing(), [(6, 7), (9, 10)]),
    "late": (writing(after=3.0), []),
    "but for the last": (writing().passes(4.0).bookmark(), []),
    "but for the last, which came when it was not at rest": (writing().bookmark(), [(6, 7), (9, 10)]),
    "but something else came first": (writing().passes(4.0).bookmark().applied("w", spec=2), []),
    "and at rest without one": (writing().passes(4.0).asks("update", WIDGETS, "w"), []),
    "and after the settling": (writing().settled().passes(4.0).asks("update", WIDGETS, "w"), [(6, 7), (9, 10)]),
}


@pytest.mark.parametrize(("script", "expected"), PAIRS.values(), ids=PAIRS)
def test_it_wrote_at_rest(script: Script, expected: list[tuple[int, int]]) -> None:
    assert bookmark_writes(Trial(script.unfinished()), 2.0) == expected
