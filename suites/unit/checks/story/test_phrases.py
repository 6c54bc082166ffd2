"""What a story says about each entry."""

from typing import Any

import pytest

from staleproof.checks.story.narrative import explain
from staleproof.checks.verdict import Finding
from staleproof.core.fault import Kill, Restart
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Closed,
    Committed,
    Competed,
    Continued,
    Delivered,
    Dropped,
    Entry,
    Exited,
    Listed,
    Metrics,
    Probed,
    Refused,
    Sample,
    Stalled,
    Started,
    Stopped,
    Withheld,
)

from ..script import WIDGETS, Script, trial

OURS = {"client": "controller", "resource": "pods"}
PODS = {"stream": 1, "type": "BOOKMARK"}
INDENT = " " * 14
PANIC = (
    "panic: oh no",
    "goroutine 1 [running]:",
    "k8s.io/client-go/tools/cache.process(0x1)",
    "\t/go/k8s.io/client-go/cache.go:3",
    "example.com/operator.sync(0x1)",
    "\t/src/operator.go:7",
    "created by k8s.io/client-go in goroutine 1",
    "\t/go/k8s.io/client-go/wait.go:9",
)
"""A Go program's, with a frame of its own in the midst."""
SKIPS = Sample("widget_stale_sync_skips_total", {"resource": "pods"}, 3)


def sentences(script: Script, *kinds: type[Entry]) -> list[str]:
    """What a story says whose witnesses are all entries of these kinds; by default the first and the last entry of all."""
    history = script.ends()
    last = len(history.entries) - 1
    witnesses = [i for i, entry in enumerate(history.entries) if isinstance(entry, kinds) or (not kinds and i in (0, last))]
    return [line for _, line in explain(Finding("b", tuple(witnesses), requirement="no-duplicate-create"), history).lines]


def exchange(verb: str, script: Script | None = None, request: int = 7, **answer: Any) -> Script:  # noqa: ANN401
    """One more request, and how it is answered."""
    name = "" if verb == "create" else "w-a"
    script = (script or trial()).adds(Asked, request=request, verb=verb, name=name, **OURS)
    return script.adds(Answered, request=request, **answer)


def lost(verb: str, **answer: Any) -> Script:  # noqa: ANN401
    """A request that a fault answers, or whose answer it loses."""
    return exchange(verb, fault=0, **answer)


def rejected() -> Script:
    answer: dict[str, Any] = {"outcome": "unknown", "code": 500, "reason": "InternalError", "fault": 0, "executed": False}
    return exchange("create", exchange("create", **answer), request=8, **answer)


def stopped_by_faults() -> Script:
    script = Script(Kill(resource="pods"), Restart(gently=True))
    return script.adds(Stopped, life=1, fault=0).adds(Started, life=2).adds(Stopped, life=2, fault=1).adds(Started, life=3)


def refused(times: int = 1, **fields: Any) -> Script:  # noqa: ANN401
    script = trial()
    for _ in range(times):
        script.adds(Refused, **OURS, **fields)
    return script


@pytest.mark.parametrize(
    ("lines", "script"),
    [
        (
            "its watch of pods was kept waiting, and 1 more",
            trial().adds(Stalled, verb="watch", resource="pods", fault=0).adds(Stalled, verb="list", resource="pods", fault=0),
        ),
        (
            "its process was paused / its process went on",
            trial().adds(Stopped, life=1, paused=True, fault=0).adds(Continued, life=1),
        ),
        (
            "the controller was killed / the controller was started again, and had been shown nothing yet / "
            "the controller was stopped / the controller was started again, and had been shown nothing yet",
            stopped_by_faults(),
        ),
        (
            f"its process exited by itself with code 2, and its log ends:\n{INDENT}| panic: oh no\n{INDENT}| goroutine 1",
            trial().adds(Exited, life=1, code=2, log=("panic: oh no", "", "goroutine 1")),
        ),
        (
            f"its process exited by itself with code 2, and its log ends:\n{INDENT}| panic: oh no\n"
            f"{INDENT}| example.com/operator.sync(0x1)\n{INDENT}| \t/src/operator.go:7",
            trial().adds(Exited, life=1, code=2, log=PANIC),
        ),
        (
            "its process exited by itself with code 2, and 1 more of that kind",
            trial().adds(Exited, life=1, code=2).adds(Exited, life=2, code=2),
        ),
        (
            "a new object was made, as in the first step, and it did nothing about it in 10.0 s",
            trial().adds(Probed, works=False, waited=10.0),
        ),
        (
            "a new object was made, as in the first step, and it did something about it in 0.1 s",
            trial().adds(Probed, works=True, waited=0.1),
        ),
        (
            "another user wrote to pods/w-a first (resourceVersion 120)",
            trial().adds(Competed, request=3, resource="pods", name="w-a", revision=120, fault=0),
        ),
        ("its WatchList of pods was refused with 422", refused(code=422, watch_list=True, fault=0)),
        ("its watch of pods was cut 2 times", refused(2, code=0, fault=0)),
        ("", refused(code=500)),  # by the API server
        ("its update of pods/w-a was executed, it never heard", lost("update", outcome="unknown", executed=True)),
        ("its update of pods/w-a was executed, it never heard", lost("update", outcome="unknown", code=201, executed=True)),
        (
            "its create of pods was not executed, it got 429 TooManyRequests",
            lost("create", outcome="fail", code=429, reason="TooManyRequests", executed=False),
        ),
        ("its patch of pods/w-a may have been executed, it never heard", lost("patch", outcome="unknown")),
        ("its get of pods/w-a was answered from the past", lost("get", outcome="ok", code=200)),
        (
            "a request may have been executed, it never heard; 1 more of that kind",
            trial().adds(Answered, request=7, outcome="unknown", fault=0).adds(Answered, request=8, outcome="unknown", fault=0),
        ),
        (
            "it was given pods as of resourceVersion 50, a list of the past",
            trial().adds(Listed, request=7, revision=50, fault=0, **OURS),
        ),
    ],
)
def test_what_was_done_to_the_controller_meanwhile_is_reported(script: Script, lines: str) -> None:
    assert " / ".join(sentences(script)) == lines


@pytest.mark.parametrize(
    ("lines", "kind", "script"),
    [
        (  # a write that was not done is worded as a wish
            "it asked to create pods / its create of pods was not executed, it got 500 InternalError / "
            "it asked to create pods / its create of pods was not executed, it got 500 InternalError / "
            f"it asked to list {WIDGETS}",
            Asked,
            rejected(),
        ),
        (
            f"it asked to create pods/w-a 2 times / it asked to list {WIDGETS}",
            Asked,
            trial().refused("create", "w-a", "AlreadyExists").refused("create", "w-b", "AlreadyExists"),
        ),
        ("the API server answered 409 AlreadyExists", Answered, trial().refused("create", "w-a", "AlreadyExists")),
        (  # a server-side apply that finds nothing is a create
            f"it created pods/w-a / it asked to list {WIDGETS}",
            Asked,
            exchange("patch", outcome="ok", code=201, name="w-a", uid="u", revision=120),
        ),
        (
            "the controller created w-a (resourceVersion 120)",
            Answered,
            exchange("patch", outcome="ok", code=201, name="w-a", uid="u", revision=120),
        ),
        (
            f"it read {WIDGETS}/w, x live (resourceVersion 101)",
            Answered,
            trial().applied("w").gets("w", WIDGETS).gets("x", WIDGETS),
        ),
        (f"it read {WIDGETS}/x live and got 404 NotFound", Answered, trial().gets("x", WIDGETS)),
        (
            f"its watch of pods, {WIDGETS} ended: the connection was reset / "
            "its watch of configmaps ended: 410 Expired came as an event",
            Closed,
            trial().adds(Closed, stream=1, how="reset").adds(Closed, stream=2, how="reset").adds(Closed, stream=3, how="expired"),
        ),
        (
            "a bookmark of pods came (resourceVersion 130), 2 in all",
            Delivered,
            trial().adds(Delivered, revision=120, **PODS).adds(Delivered, revision=130, **PODS),
        ),
        ("a bookmark of pods never came", Dropped, trial().adds(Dropped, revision=140, fault=0, **PODS)),
        (
            "news of pods/w-a (resourceVersion 102) was kept from it, and 1 more",
            Withheld,
            trial().applied("w").hold().made("w-a").made("w-b").let_go(),
        ),
        (
            "its metrics were read: widget_stale_sync_skips_total of pods was 3",
            Metrics,
            trial().adds(Metrics, took=0.1, samples=(SKIPS,)),
        ),
        ("its metrics were read: nothing of this", Metrics, trial().adds(Metrics, took=0.1)),
        (
            "widget/w (uid ns-uid-1) was created, not by the controller / "
            "the controller created pod/w-a (resourceVersion 102) / "
            "pod/w-b (uid ns-uid-3), pod/w-c (uid ns-uid-4) were created, not by the controller / "
            "widget/w (uid ns-uid-1) was changed, not by the controller / "
            "pod/w-b (uid ns-uid-3), pod/w-c (uid ns-uid-4) were deleted, not by the controller / "
            "the controller deleted pod/w-a (resourceVersion 108)",
            Committed,
            trial()
            .applied("w", spec=1)
            .creates("w-a")
            .made("w-b")
            .made("w-c")
            .applied("w", spec=2)
            .terminating("w-b")
            .removed("w-c")
            .deletes("w-a"),
        ),
        (  # a write that changed nothing did not make what it is answered with
            "widget/w (uid ns-uid-1) was created, not by the controller / "
            "widget/w (uid ns-uid-1) was deleted, not by the controller",
            Committed,
            trial().applied("w", spec=1).terminating("w", WIDGETS).updates("w"),
        ),
    ],
)
def test_what_witnesses_are_reported(lines: str, kind: type[Entry], script: Script) -> None:
    assert " / ".join(sentences(script, kind)) == lines


def test_what_a_write_tells_its_commit_does_not_tell_again() -> None:
    assert sentences(trial().applied("w").creates("w-a"), Asked, Committed) == [
        "widget/w (uid ns-uid-1) was created, not by the controller",
        "it created pod/w-a",
        f"it asked to list {WIDGETS}",
    ]
