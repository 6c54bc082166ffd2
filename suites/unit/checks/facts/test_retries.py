"""Attempts that a fault rejected, by what they were about, and what was tried again."""

import pytest

from staleproof.checks.facts.retries import (
    Attempted,
    Pace,
    Rejections,
    first_retry,
    last_lost_create,
    pace_of,
    rejections,
    repeated_writes,
)
from staleproof.checks.trial import Trial
from staleproof.core.fault import Reject
from staleproof.core.history.entry import Asked, Opened, Refused

from ..script import WIDGETS, Script, losing, two_references

REJECT, FEW = Reject(resource="*", times=None), Reject(resource="*", times=2)
LEASES = "leases.coordination.k8s.io"


def found(script: Script) -> list[Rejections]:
    return list(rejections(Trial(script.unfinished())))


def opened() -> Script:
    return Script(REJECT).applied("w").opens()


def test_attempts_are_grouped_by_what_they_are_about() -> None:
    script = Script(REJECT).opens().rejected().rejected("update", WIDGETS, "w").rejected()

    assert [(group.target, len(group.rejected)) for group in found(script)] == [
        (Attempted("create", "pods"), 2),
        (Attempted("update", WIDGETS, "w"), 1),
    ]


@pytest.mark.parametrize(
    ("script", "until"),
    [
        (Script(REJECT).opens().rejected().passes(3.0).closes().passes(5.0).released(), 8),
        (Script(REJECT).opens().rejected().passes(3.0).settled().closes(), 8),
        (Script(REJECT).rejected().passes(3.0).released(), 4),
        (Script(FEW).opens().rejected().rejected().passes(3.0).closes(), 8),
    ],
    ids=["the fault closes", "the settling ends", "the last was rejected, and no more is known", "it has rejected its last"],
)
def test_rejections_last_until(script: Script, until: int) -> None:
    assert found(script)[0].until == until


@pytest.mark.parametrize(
    ("script", "is_later"),
    [(opened().rejected().closes().creates("w-a"), True), (opened().rejected().closes().updates("w", status=1), False)],
    ids=["of the kind", "of another kind"],
)
def test_the_next_try_of_the_kind_is_a_later_one(script: Script, *, is_later: bool) -> None:
    assert (found(script)[0].later is not None) is is_later


def test_a_watch_is_tried_again_too() -> None:
    script = Script(REJECT).opens().fires().adds(Refused, client="controller", resource="pods", code=500, fault=0)
    group = found(script.watches())[0]

    assert group.target.words == "watch of pods"
    assert group.later is not None
    assert isinstance(script.entries[group.later], Opened)


def test_what_others_did_bookkeeping_and_what_came_after_the_settling_are_left_out() -> None:
    script = opened().fires().refused("update", "w", "Conflict", resource=WIDGETS)

    assert found(script.rejected("update", LEASES, "l").creates("w-a").settled().rejected()) == []


def test_targets_in_words() -> None:
    assert Attempted("update", WIDGETS, "w", "status").words == f"update of the status of {WIDGETS}/w"
    assert Attempted("create", "pods").words == "create of pods"


def rejected(name: str = "", *, shows: bool = False) -> Script:
    """Ten attempts, 0.5 s apart."""
    script = opened()
    for number in range(10):
        script.rejected("update" if name else "create", "pods", name)
        script = script.applied("w", spec=number).passes(0.1) if shows else script.passes(0.3)
    return script.closes()


def lists(informers: int, verb: str = "list") -> Script:
    """Ten attempts at a resource for which there are so many informers."""
    script = opened()
    for stream in range(informers):
        script.adds(Opened, stream=9 + stream, client="controller", resource="secrets")
    for _ in range(10):
        script.rejected(verb, "secrets").passes(0.3)
    return script.closes()


PACES: dict[str, tuple[Script, Pace]] = {
    "of two pods": (rejected(), Pace(5.1, 4, 3, 0.9)),
    "of one pod": (rejected("w-0"), Pace(5.1, 4, 3, 1.8)),
    "with a reason each time": (rejected("w-0", shows=True), Pace(5.1, 4, 3, -0.6)),
    "of one informer": (lists(1), Pace(5.1, 4, 3, 1.8)),
    "of three": (lists(3), Pace(5.1, 4, 3, 0.6)),
    "informers create nothing": (lists(3, "create"), Pace(5.1, 4, 3, 1.8)),
    "once": (Script(FEW).opens().rejected(), Pace(0.0, 1, 1, 0.0)),
}


@pytest.mark.parametrize(("script", "expected"), PACES.values(), ids=PACES)
def test_pace(script: Script, expected: Pace) -> None:
    trial = Trial(script.unfinished(), two_references())
    pace = pace_of(trial, rejections(trial)[0])

    assert Pace(round(pace.seconds, 1), pace.first, pace.last, round(pace.rate, 1)) == expected


def patched(script: Script, times: int) -> Script:
    for _ in range(times):
        script.asks("patch", WIDGETS, "w")
    return script


def unanswered() -> Script:
    return Script().adds(Asked, request=9, client="controller", verb="patch", resource=WIDGETS, name="w")


REPEATED: dict[str, tuple[Script, list[int]]] = {
    "after an answer that was lost": (patched(Script(losing("patch")).asks("patch", WIDGETS, "w").loses_the_answer(), 2), [7]),
    "after a rejection": (patched(Script(REJECT).rejected("patch", WIDGETS, "w"), 2), [7]),
    "after no answer": (patched(unanswered(), 2), [5]),
    "after a success": (patched(Script(), 2), []),
    "of another": (Script(REJECT).rejected("patch", WIDGETS, "v").asks("patch", WIDGETS, "w"), []),
}


@pytest.mark.parametrize(("script", "expected"), REPEATED.values(), ids=REPEATED)
def test_only_the_first_repetition_of_what_it_never_heard_was_done_counts(script: Script, expected: list[int]) -> None:
    assert sorted(repeated_writes(Trial(script.unfinished()))) == expected


RETRIES: dict[str, tuple[Script, float]] = {
    "a minute after it has noted the failure": (
        opened().rejected().passes(1.0).updates("w", status=1).shows("w", WIDGETS).passes(60.0).rejected(),
        60.1,
    ),
    "after the rejections are over": (opened().rejected().passes(30.0).closes().creates("w-a"), 30.2),
    "woken": (opened().rejected().passes(60.0).applied("w", spec=2).shows("w", WIDGETS).creates("w-a"), 0.0),
    "ever later": (opened().rejected().passes(0.2).rejected().passes(30.0).rejected(), 0.3),
    "an update": (opened().rejected("update", "pods", "w-0").passes(60.0).rejected("update", "pods", "w-0"), 0.0),
    "a list": (opened().rejected("list").passes(60.0).rejected("list"), 0.0),
    "never": (opened().rejected().passes(60.0), 0.0),
}


@pytest.mark.parametrize(("script", "expected"), RETRIES.values(), ids=RETRIES)
def test_a_retry_is_what_comes_after_a_silence(script: Script, expected: float) -> None:
    assert first_retry(Trial(script.unfinished())) == pytest.approx(expected, abs=0.35)


def lost(verb: str = "create") -> Script:
    script = Script(losing(verb)).applied("w")
    return (script.creates("w-a") if verb == "create" else script.asks(verb, "pods", "w-a")).loses_the_answer()


@pytest.mark.parametrize(
    ("script", "is_one"),
    [
        (lost(), True),
        (lost().passes(60.0).creates("w-b"), False),
        (lost().creates("w-b", resource="secrets"), True),
        (lost("get"), False),
        (lost("delete"), False),
        (Script().applied("w").creates("w-a"), False),
    ],
    ids=["not tried again", "tried again", "something else is done", "a read", "a delete", "answered"],
)
def test_a_lost_create_is_one_until_it_is_tried_again(script: Script, *, is_one: bool) -> None:
    found = last_lost_create(Trial(script.unfinished()))
    assert (found is not None) is is_one
    if found is not None:
        assert isinstance(script.entries[found], Asked)
