"""Causes, echoes, writes and bookmarks, and how long nothing had happened before each."""

import pytest

from staleproof.checks.facts.stimuli import Sleep, bookmark_writes, sleep_after, stimuli, went_on_with_bookmark
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script

LEASES = "leases.coordination.k8s.io"
KINDS: dict[str, tuple[Script, list[str]]] = {
    "what is shown and answered is a cause, a request for a write is none": (
        Script().step(1, "apply").applied("w").lists(WIDGETS).updates("w").bookmark().watches("configmaps"),
        ["cause", "cause", "cause", "write", "cause", "bookmark", "echo"],
    ),
    "what was shown before is an echo": (
        Script().applied("w").shows("w", WIDGETS).applied("w", spec=2),
        ["cause", "echo", "cause"],
    ),
    "but not in another life": (Script().applied("w").restarted().shows("w", WIDGETS), ["cause", *["echo"] * 3, "cause"]),
    "reads": (Script().asks("get", "pods", "x"), []),
    "writes of bookkeeping": (Script().asks("update", LEASES, "l").asks("create", "events"), []),
    "events of bookkeeping": (Script().watches(LEASES).applied("l", LEASES), []),
    "lists of bookkeeping": (Script().lists(LEASES), []),
    "a bookmark that ends the initial events shows something": (Script().initial_end(1), ["cause"]),
}


@pytest.mark.parametrize(("script", "kinds"), KINDS.values(), ids=KINDS)
def test_kinds(script: Script, kinds: list[str]) -> None:
    assert [each.kind for each in stimuli(Trial(script.unfinished())) if each.index >= 4] == kinds


def test_rest_is_counted_from_the_last_that_was_no_bookmark() -> None:
    script = Script().applied("w").passes(3.0).bookmark().passes(1.0).updates("w")

    assert [round(each.rested, 1) for each in stimuli(Trial(script.unfinished()))[-3:]] == [3.1, 4.2, 0.1]


def test_nothing_happens_in_an_empty_trial() -> None:
    script = Script()
    script.entries.clear()

    assert stimuli(Trial(script.unfinished())) == []


SLEEPS: dict[str, tuple[Script, tuple[float, str, bool]]] = {
    "it wrote at last": (Script().applied("w").passes(5.0).updates("w"), (5.1, "Asked", True)),
    "something woke it before": (
        Script().applied("w").passes(2.0).applied("w", spec=2).passes(1.0).updates("w"),
        (2.2, "Asked", True),
    ),
    "bookmarks wake no controller": (Script().applied("w").passes(2.0).bookmark().passes(1.0).updates("w"), (3.2, "Asked", True)),
    "it never wrote": (Script().applied("w").passes(5.0).released(), (5.1, "Released", False)),
}


@pytest.mark.parametrize(("script", "expected"), SLEEPS.values(), ids=SLEEPS)
def test_a_sleep_lasts_until_something_happens(script: Script, expected: tuple[float, str, bool]) -> None:
    last = len(script.entries) - 1
    found = sleep_after(Trial(script.unfinished()), 5, last)

    assert (round(found.seconds, 1), type(script.entries[found.until]).__name__, found.wrote) == expected
    assert isinstance(found, Sleep)


# --- bookmarks

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
