"""What makes no sense in a fault that was built in code: single values, and fields that do not go together."""

import msgspec
import pytest

from staleproof.core.fault import (
    AddBookmarks,
    Compete,
    DelayStream,
    DropFrame,
    Expire,
    HideOwnWrite,
    HoldStream,
    Kill,
    LoseAnswer,
    Misfit,
    NoEndBookmark,
    OwnWrite,
    PastSnapshot,
    Pause,
    Refuse,
    RefuseWatchList,
    Reject,
    Reorder,
    RepeatFrame,
    Restart,
    SeverStream,
    Skew,
    SlowAnswer,
    SlowStart,
    StaleRead,
    Window,
)
from staleproof.core.fault.model import Fault, Verb
from staleproof.core.fault.suggest import mistakes


def misfits(fault: Fault) -> list[Misfit]:
    return [*map(Misfit, mistakes(msgspec.to_builtins(fault), type(fault))), *fault.misfits()]


NAMED: tuple[Verb, ...] = ("*", "read", "write", "get", "watch", "update", "patch", "delete")
SENSIBLE: list[Fault] = [
    Fault(resource="pods"),
    HoldStream(resource="pods", window=Window(1, 2, 0.5)),
    Refuse(),
    RefuseWatchList(),
    Expire(resource="pods", name="x"),
    PastSnapshot(as_of_step=2, window=Window(2)),
    SlowStart(resource="pods", name="x"),  # its initial events
    AddBookmarks(resource="pods"),
    *(Reject(resource="pods", name="x", verb=verb) for verb in NAMED),
    Reject(resource="pods", name="x", verb="create", subresource="eviction"),  # POST pods/x/eviction has it in its path
    *(Reject(resource="pods", code=code) for code in (429, 500, 503, 504)),
    *(Reject(resource="pods", code=code, retry_after=7) for code in (429, 503)),
    *(Compete(resource="pods", verb=verb) for verb in ("write", "create", "update", "patch", "delete")),
    *(LoseAnswer(resource="pods", code=code) for code in (0, 500, 504)),
    LoseAnswer(resource="pods", verb="read"),
    SlowAnswer(resource="pods", verb="watch", by_seconds=1.0, moment="before"),
    *(SlowAnswer(resource="pods", verb=verb, by_seconds=1.0, outdated=True) for verb in ("update", "patch")),
    Kill(resource="pods"),
    Kill(resource="pods", verb="watch", moment="before"),
    Restart(gently=True, stays_down=True),
    Pause(),
]

SENSELESS: dict[str, list[Fault]] = {
    # single values
    'resource is empty, expected for example "pods", "deployments.apps", "*"': [HoldStream(resource="")],
    "window.seconds is 0, expected a positive number": [HoldStream(resource="pods", window=Window(seconds=0))],
    "window.seconds is -1.5, expected a positive number": [HoldStream(resource="pods", window=Window(seconds=-1.5))],
    "stream is 0, expected a positive number": [HoldStream(resource="pods", stream=0)],
    "nth is 0, expected a positive number": [kind(resource="pods", nth=0) for kind in (Expire, SeverStream, DropFrame)],
    "write.nth is 0, expected a positive number": [HideOwnWrite(resource="pods", write=OwnWrite("create", 0))],
    "asOfStep is 0, expected a positive number": [kind(resource="pods", as_of_step=0) for kind in (PastSnapshot, StaleRead)],
    "outdated is about the answer (moment after) to an update or a patch (verb)": [
        SlowAnswer(resource="pods", verb="create", by_seconds=1.0, outdated=True),
        SlowAnswer(resource="pods", verb="update", by_seconds=1.0, outdated=True, moment="before"),
    ],
    "bySeconds is 0, expected a positive number": [kind(resource="pods", by_seconds=0.0) for kind in (DelayStream, SlowAnswer)],
    "bySeconds is -1, expected a positive number": [
        kind(resource="pods", by_seconds=-1.0) for kind in (SlowStart, SlowAnswer, Reorder)
    ],
    'bySeconds is empty, expected for example {"pods": 2.0}': [Skew(by_seconds={})],
    "bySeconds.pods is -1, expected a positive number": [Skew(by_seconds={"pods": -1.0, "*": 1.0})],
    "retryAfter is 0, expected a positive number": [Reject(resource="pods", code=429, retry_after=0)],
    "code is 404, expected one of 0, 409, 429, 500, 503, 504": [Reject(resource="pods", code=404)],  # type: ignore[arg-type]  # that is the mistake
    "code is 200, expected one of 0, 409, 429, 500, 503, 504": [LoseAnswer(resource="pods", code=200)],  # type: ignore[arg-type]
    **{
        f"verb is {verb!r}, expected one of create, delete, patch, update, write": [
            Compete(resource="pods", verb=verb)  # type: ignore[arg-type]
        ]
        for verb in ("*", "get", "list", "deletecollection")
    },
    **{
        f"verb is {verb!r}, expected one of create, delete, patch, update, write; did you mean {meant!r}?": [
            Compete(resource="pods", verb=verb)  # type: ignore[arg-type]
        ]
        for verb, meant in {"read": "create", "watch": "patch"}.items()
    },
    # windows and the past
    "untilStep 2 is not after fromStep 2": [HoldStream(resource="pods", window=Window(2, 2))],
    "untilStep 1 is not after fromStep 3": [HoldStream(resource="pods", window=Window(3, 1))],
    "asOfStep 3 lies after fromStep 2: the future, not the past": [PastSnapshot(as_of_step=3, window=Window(2))],
    # what it concerns
    'a refused connection has no resource, namespace, name or stream; leave them out (resource "*")': [
        Refuse(resource="pods"),
        Refuse(namespace="trial"),
        Refuse(name="x"),
        Refuse(stream=1),
    ],
    'it concerns the whole process; leave resource ("*"), namespace, name and stream out': [
        Restart(resource="pods"),
        Pause(namespace="trial"),
        Pause(name="x"),
        Pause(stream=1),
    ],
    "a WatchList is about a collection and is refused before it is a stream; leave name and stream out": [
        RefuseWatchList(name="x"),
        RefuseWatchList(stream=1),
    ],
    "a LIST is about a collection, so name x never matches; leave name out": [Expire(resource="pods", name="x", at="list")],
    "it answers LISTs and WATCHes of collections, so name x never matches; leave name out": [PastSnapshot(name="x")],
    "name x never matches a LIST or the end of the initial events, which is where it closes; leave name out": [
        SlowStart(resource="pods", name="x", then="closes")
    ],
    'resource is "*", and a write is one of some resource: name the resource, for example "pods"': [HideOwnWrite(resource="*")],
    "stream selects streams, and this fault is about requests; use verb and nth": [Reject(resource="pods", stream=1)],
    **{
        f"a {verb} is about a collection, so name x never matches; leave name out": [Reject(resource="pods", name="x", verb=verb)]
        for verb in ("list", "deletecollection")
    },
    (
        "a create has its object's name in the body only, so name x never matches; leave name out and use nth"
        ' (or say which subresource of the object is created, for example "eviction")'
    ): [Reject(resource="pods", name="x", verb="create", subresource=subresource) for subresource in (None, "")],
    # answers
    "a watch has no answer to act on, it is a stream; use Hold, Delay or Sever": [
        LoseAnswer(resource="pods", verb="watch"),
        Kill(resource="pods", verb="watch"),
        SlowAnswer(resource="pods", verb="watch", by_seconds=1.0),
    ],
    "times: one fault kills once; use several": [Kill(resource="pods", times=times) for times in (2, None)],
    "retryAfter goes with codes 429 and 503, not with 500": [Reject(resource="pods", code=500, retry_after=1)],
}
HOSTILE: list[tuple[Fault, str, str]] = [
    (RefuseWatchList(resource="pods"), 'resource is pods, expected "*"', "26b"),
    (RefuseWatchList(namespace="trial"), "namespace is trial, expected none", "26b"),
    (Reject(resource="pods", code=409), "code is 409 though no other user competes", "32"),
    (LoseAnswer(resource="pods", code=504, retry_after=1), "retryAfter after the execution", "31"),
    (LoseAnswer(resource="pods", code=429), "code is 429 after the execution", "31"),
    (LoseAnswer(resource="pods", code=503), "code is 503 after the execution", "31"),
    (LoseAnswer(resource="pods", code=409), "code is 409 after the execution", "32"),
    (DropFrame(resource="pods"), "", "13"),
    (RepeatFrame(resource="pods"), "", "19"),
    (Reorder(resource="pods"), "", "20"),
    (NoEndBookmark(resource="pods"), "", "15"),
    (StaleRead(resource="pods"), "", "25"),
]


@pytest.mark.parametrize("fault", SENSIBLE)
def test_what_makes_sense(fault: Fault) -> None:
    assert misfits(fault) == []


@pytest.mark.parametrize(("problem", "fault"), [(problem, fault) for problem, faults in SENSELESS.items() for fault in faults])
def test_what_makes_no_sense(problem: str, fault: Fault) -> None:
    besides = [Misfit("", fault.row)] if fault.contract == "hostile" else []
    assert misfits(fault) == [Misfit(problem), *besides]


@pytest.mark.parametrize(("fault", "problem", "row"), HOSTILE)
def test_what_is_hostile_is_a_misfit_with_its_row(fault: Fault, problem: str, row: str) -> None:
    assert misfits(fault) == [Misfit(problem, row)]


def test_everything_that_is_wrong_is_reported() -> None:
    wrong = [f"{what}, expected a positive number" for what in ("nth is 0", "times is -1")]
    assert [str(misfit) for misfit in misfits(Reject(resource="pods", nth=0, times=-1))] == wrong


def test_a_misfit_that_is_hostile_quotes_its_row() -> None:
    why = "hostile: an event never appears twice (legality row 19, as:pkg/storage/cacher/cache_watcher.go)"
    assert str(Misfit("it repeats", "19")) == f"it repeats: {why}"
    assert str(Misfit("", "19")) == why
    assert str(Misfit("just wrong")) == "just wrong"
