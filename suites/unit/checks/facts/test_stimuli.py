"""Causes, echoes, writes and bookmarks, and how long nothing had happened before each."""

import pytest

from staleproof.checks.facts.stimuli import Sleep, sleep_after, stimuli
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
    "bookmarks wake nobody": (Script().applied("w").passes(2.0).bookmark().passes(1.0).updates("w"), (3.2, "Asked", True)),
    "it never wrote": (Script().applied("w").passes(5.0).released(), (5.1, "Released", False)),
}


@pytest.mark.parametrize(("script", "expected"), SLEEPS.values(), ids=SLEEPS)
def test_a_sleep_lasts_until_something_happens(script: Script, expected: tuple[float, str, bool]) -> None:
    last = len(script.entries) - 1
    found = sleep_after(Trial(script.unfinished()), 5, last)

    assert (round(found.seconds, 1), type(script.entries[found.until]).__name__, found.wrote) == expected
    assert isinstance(found, Sleep)
