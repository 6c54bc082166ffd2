"""Which primary a write was for, and how long a primary had to wait."""

import pytest

from staleproof.checks.facts.attribution import first_effects, seconds_to_effect, waits
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, Workload

SETS = "replicasets.apps"


def names() -> Script:
    return Script(names=("w", "v"))


def two() -> Script:
    return names().applied("w").applied("v")


EFFECTS: dict[str, tuple[Script, tuple[int, int | None], tuple[int, int | None]]] = {
    "a child belongs to its owner": (two().creates("v-a", owner="v"), (5, None), (7, 8)),
    "a write to the primary is for it": (two().updates("v", status=1), (5, None), (7, 8)),
    "also when it is refused": (two().refused("update", "v", "Conflict", resource=WIDGETS), (5, None), (7, 8)),
    "reads and bookkeeping are no effects": (
        two().gets("v", WIDGETS).asks("update", "leases.coordination.k8s.io", "v"),
        (5, None),
        (7, None),
    ),
    "nor is what came before it was shown": (
        names().hold(WIDGETS).applied("w").applied("v").creates("v-a", owner="v").let_go(WIDGETS),
        (15, None),
        (16, None),
    ),
    "a list shows a primary as well": (
        names().ended(WIDGETS, fault=None).applied("w").applied("v").lists(WIDGETS),
        (8, None),
        (8, None),
    ),
}


@pytest.mark.parametrize(("script", "w", "v"), EFFECTS.values(), ids=EFFECTS)
def test_first_effects(script: Script, w: tuple[int, int | None], v: tuple[int, int | None]) -> None:
    found = first_effects(Trial(script.unfinished()))

    assert [(name, each.shown, each.first) for name, each in found.items()] == [(f"{WIDGETS}/w", *w), (f"{WIDGETS}/v", *v)]


def test_a_grandchild_belongs_to_the_owner_at_the_top() -> None:
    script = two().creates("w-set", resource=SETS).made("w-map", "configmaps", owner="w").creates("w-a", owner="w-set")
    made = object_history(Trial(script.unfinished()))

    assert made.root_of(script.uid("w-a")) == script.uid("w", WIDGETS)
    assert made.root_of("unknown") == "unknown"


def test_a_primary_that_is_unknown_or_the_controllers_is_left_out() -> None:
    script = Script(names=("w",)).applied("v").creates("w", resource=WIDGETS, owner="v", generated="")

    assert first_effects(Trial(script.unfinished())) == {}


def slow(script: Script) -> Script:
    return script.applied("w").passes(3.0).creates("w-a")


def fast(script: Script) -> Script:
    return script.applied("w").passes(2.0).creates("w-a")


def idle(script: Script) -> Script:
    return script.applied("w")


@pytest.mark.parametrize(("workload", "seconds"), [(slow, 3.1), (fast, 2.1), (idle, None)])
def test_how_long_a_primary_waits(workload: Workload, seconds: float | None) -> None:
    found = seconds_to_effect(Trial(workload(names()).ends()), f"{WIDGETS}/w")

    assert found == (seconds and pytest.approx(seconds))


def waiting(*other_names: str) -> Script:
    """Its create for `w`, at 8, is hidden from it."""
    return Script(names=("w", *other_names)).applied("w").hold().creates("w-a")


def own_child_only() -> Script:
    script = names().hold().hold(WIDGETS).applied("v").creates("v-a", owner="v")
    return script.let_go(WIDGETS).let_go()


def listed_together() -> Script:
    script = waiting("v", "u").ended(WIDGETS, fault=None).applied("v").applied("u")
    return script.lists(WIDGETS).let_go()


WAITS: dict[str, tuple[Script, list[tuple[str, int, list[int], int]]]] = {
    "until it was shown": (waiting("v").applied("v").let_go(), [("v", 13, [8], 15)]),
    "until the settling": (waiting("v").applied("v").settled().let_go(), [("v", 13, [8], 14)]),
    "until another life": (waiting("v").applied("v").restarted(), [("v", 13, [8], 14)]),
    "without an end": (waiting("v").applied("v"), []),
    "shown after the settling": (waiting("v").settled().applied("v").let_go(), []),
    "both of two": (waiting("v", "u").applied("v").applied("u").let_go(), [("v", 13, [8], 17), ("u", 15, [8], 17)]),
    "one of two that a list shows": (listed_together(), [("u", 16, [8], 18)]),
    "a write of another user's": (names().applied("w").hold().made("x", owner="w").applied("v").let_go(), []),
    "a write for itself": (own_child_only(), []),
    "a delete": (names().applied("w").creates("w-a").hold().deletes("w-a").applied("v").let_go(), [("v", 17, [12], 19)]),
}


@pytest.mark.parametrize(("script", "expected"), WAITS.values(), ids=WAITS)
def test_waits(script: Script, expected: list[tuple[str, int, list[int], int]]) -> None:
    found = waits(Trial(script.unfinished()))

    rows = [(each.primary.rpartition("/")[2], each.shown, [event.index for event in each.hidden], each.until) for each in found]
    assert rows == expected
