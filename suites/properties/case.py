"""What is drawn: a workload on ConfigMaps, legal faults, and the clients that live through both."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from staleproof.core.fault import (
    AddBookmarks,
    AnyFault,
    Coalesce,
    DelayStream,
    DropBookmarks,
    DropFrame,
    Expire,
    Hang,
    HideOwnWrite,
    HoldStream,
    LoseAnswer,
    PastSnapshot,
    Refuse,
    RefuseWatchList,
    Reject,
    SeverStream,
    Skew,
    SlowAnswer,
    SlowStart,
    Window,
)
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Delete, Patch, Rest, Step

from .reflector import KINDS, Client, Kind

_NAMES = ("a", "b", "c", "d", "e", "f")
_MOST_FAULTS = 3
_RESOURCE = "configmaps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A plan and the clients that live through it.

    Attributes:
        starts: the clients begin in this step; 0: they have their streams before the plan is installed.
        restarts: in this step they forget everything and begin again; None: never.
        writes: before these steps the first of them creates an object through the proxy.
        patience_seconds: how long each step may take at most to reach all of them before the next one.
    """

    plan: Plan
    clients: tuple[Client, ...]
    starts: int
    restarts: int | None
    writes: frozenset[int]
    patience_seconds: float


def spoilt() -> Case:
    """The case that must be found wrong: no API server leaves an event out and goes on."""
    steps = [Apply(object={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}) for name in "ab"]
    return Case(
        plan=Plan(scenario="random", steps=tuple(steps), faults=(DropFrame(resource=_RESOURCE, name="a"),), contract="hostile"),
        clients=(Client(kind="LIST + WATCH"),),
        starts=0,
        restarts=None,
        writes=frozenset(),
        patience_seconds=1.0,
    )


def drawn(count: int, number: int) -> list[Case]:
    """So many cases, always the same for a seed. Every kind of fault comes equally often."""
    return [_one(number * 1_000_003 + nth, _MAKERS[nth % len(_MAKERS)]) for nth in range(count)]


def _one(number: int, maker: "_Maker") -> Case:
    """The last of a few: Hypothesis begins with a simple one, the later ones are random."""
    found: list[Case] = []

    @seed(number)
    @settings(max_examples=3, database=None, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck))
    @given(_cases(maker))
    def draw(case: Case) -> None:
        found.append(case)

    draw()
    return found[-1]


@st.composite
def _cases(draw: st.DrawFn, maker: "_Maker") -> Case:
    steps = draw(_workloads())
    count = len(steps)
    more = draw(st.lists(st.sampled_from(_MAKERS).flatmap(lambda m: _faults(m, count)), max_size=_MOST_FAULTS - 1))
    faults = draw(st.permutations([draw(_faults(maker, count)), *more]))
    clients = st.builds(Client, kind=st.sampled_from(KINDS), page=st.sampled_from([None, 2]), seconds=st.sampled_from([None, 1]))
    starts = draw(st.integers(0, 2))
    hidden = {fault.window.from_step for fault in faults if isinstance(fault, HideOwnWrite)}
    apt = [Client(kind=_APT[fault.tag]) for fault in faults if fault.tag in _APT]
    return Case(
        plan=Plan(scenario="random", steps=steps, faults=tuple(faults)),
        clients=(*apt, *draw(st.lists(clients, min_size=0 if apt else 1, max_size=3))),
        starts=starts,
        restarts=draw(st.none() | st.integers(starts + 1, count)),
        writes=draw(st.frozensets(st.integers(1, count), max_size=2)) | hidden,
        patience_seconds=draw(st.sampled_from([0.0, 0.1, 0.2, 0.3])),
    )


@st.composite
def _workloads(draw: st.DrawFn) -> tuple[Step, ...]:
    """Objects come, change, go, and come again under the same name; now and then nothing happens for a moment."""
    live: set[str] = set()
    steps: list[Step] = []
    for number, name in enumerate(draw(st.lists(st.sampled_from([*_NAMES, ""]), min_size=4, max_size=14))):
        target = Target("v1", "ConfigMap", name)
        if not name:
            steps.append(Rest(seconds=draw(st.sampled_from([0.05, 0.2]))))
        elif name not in live:
            live.add(name)
            steps.append(Apply(object={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}))
        elif draw(st.booleans()):
            steps.append(Patch(target=target, patch={"data": {"number": str(number)}}))
        else:
            live.discard(name)
            steps.append(Delete(target=target))
    return tuple(steps)


_APT: dict[str, Kind] = {"RefuseWatchList": "WatchList", "PastSnapshot": "LIST 0 + WATCH", "AddBookmarks": "WatchList"}
"""The kind of client that makes the requests which the fault is about."""


def _often_none(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values that narrow a fault down are rare: most faults would never fire otherwise."""
    return st.one_of(st.none(), st.none(), of)


@st.composite
def _windows(draw: st.DrawFn, steps: int) -> Window:
    first = draw(st.just(1) | st.integers(1, steps))
    return Window(
        from_step=first,
        until_step=draw(_often_none(st.integers(first + 1, steps + 1))),
        seconds=draw(_often_none(st.sampled_from([0.1, 0.3, 0.8]))),
    )


_SECONDS = st.sampled_from([0.02, 0.1, 0.4])
_RESOURCES = st.sampled_from([_RESOURCE, "*"])
_STREAMS = _often_none(st.integers(1, 3))
_NTH = st.none() | st.integers(1, 6)


@st.composite
def _faults(draw: st.DrawFn, maker: "_Maker", steps: int) -> AnyFault:
    window = draw(_windows(steps))
    make, fields = maker
    given = {name: draw(of) for name, of in fields.items()}
    if make is PastSnapshot:
        given["as_of_step"] = draw(st.integers(1, window.from_step))
    if make is Refuse and window.seconds is None:
        window = Window(window.from_step, window.until_step, 0.3)
    return make(window=window, **given)


_Maker = tuple[Callable[..., AnyFault], dict[str, st.SearchStrategy[Any]]]
_MAKERS: list[_Maker] = [
    (HoldStream, {"resource": _RESOURCES, "stream": _STREAMS, "name": st.sampled_from(["", "", "a"]),
                  "release": st.sampled_from(["events", "trickle", "relist", "resume"])}),
    (HideOwnWrite, {"resource": st.just(_RESOURCE), "release": st.sampled_from(["events", "relist"])}),
    (DelayStream, {"resource": _RESOURCES, "by_seconds": _SECONDS, "stream": _STREAMS}),
    (Skew, {"by_seconds": st.dictionaries(_RESOURCES, _SECONDS, min_size=1)}),
    (SeverStream, {"resource": _RESOURCES, "how": st.sampled_from(["clean", "truncated", "reset"]), "nth": _NTH}),
    (DropBookmarks, {"resource": _RESOURCES}),
    (AddBookmarks, {"resource": _RESOURCES}),
    (SlowStart, {"resource": _RESOURCES, "by_seconds": _SECONDS, "then": st.sampled_from(["ends", "closes"])}),
    (Refuse, {}),
    (Hang, {"resource": _RESOURCES}),
    (Expire, {"resource": _RESOURCES, "at": st.sampled_from(["stream", "watch", "list"]), "nth": _NTH}),
    (Coalesce, {"resource": _RESOURCES}),
    (RefuseWatchList, {"how": st.sampled_from(["http", "event"])}),
    (PastSnapshot, {"hold": st.booleans()}),
    (Reject, {"resource": _RESOURCES, "verb": st.sampled_from(["read", "list", "watch"]),
              "code": st.sampled_from([0, 429, 500, 503, 504]), "nth": st.integers(1, 2), "times": st.sampled_from([1, 3, None])}),
    (LoseAnswer, {"resource": _RESOURCES, "verb": st.sampled_from(["list", "create"]), "code": st.sampled_from([0, 500, 504])}),
    (SlowAnswer, {"resource": _RESOURCES, "verb": st.sampled_from(["read", "create"]), "by_seconds": _SECONDS,
                  "moment": st.sampled_from(["before", "after"])}),
]  # fmt: skip
