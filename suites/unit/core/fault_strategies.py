"""Every fault, drawn with every field that makes sense: for plans that are written and read, and for random schedules of a gate."""

from typing import Any

from hypothesis import strategies as st

from staleproof.core.fault import (
    AddBookmarks,
    AnyFault,
    Coalesce,
    Compete,
    DelayStream,
    DropBookmarks,
    DropFrame,
    Expire,
    Hang,
    HideOwnWrite,
    HoldStream,
    Kill,
    LoseAnswer,
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

Faults = st.SearchStrategy[AnyFault]
SECONDS = st.sampled_from([0.5, 1.0, 3.0])
RELEASES = st.sampled_from(["events", "trickle", "relist", "resume"])
NTH = st.integers(1, 6)


def windows(steps: int) -> st.SearchStrategy[Window]:
    return st.builds(
        lambda first, length, seconds: Window(first, length and first + length, seconds),
        st.sampled_from([1, 1, *range(1, steps + 1)]),
        st.sampled_from([None, None, 1, 2]),
        st.sampled_from([None, None, 1.0, 3.0]),
    )


def stream_faults(resource: str, *, steps: int, namespace: str, name: str) -> Faults:
    """Legal ones about the frames of streams."""
    selectors = _selectors(resource, steps, namespace=namespace, name=name)
    hold: dict[str, Any] = selectors | {"release": RELEASES}
    own_write = st.builds(OwnWrite, st.just("create"), st.integers(1, 2))
    end: dict[str, Any] = selectors | {"nth": st.none() | NTH}
    lags = st.dictionaries(st.sampled_from([resource, "*"]), SECONDS, min_size=1)
    return st.one_of(
        st.builds(HoldStream, **hold),
        st.builds(HideOwnWrite, write=own_write, **(hold | {"resource": st.just(resource)})),
        st.builds(DelayStream, by_seconds=SECONDS, **selectors),
        st.builds(Skew, by_seconds=lags, **selectors),
        st.builds(SeverStream, how=st.sampled_from(["clean", "truncated", "reset"]), **end),
        st.builds(Expire, at=st.sampled_from(["stream", "watch", "list"]), **end),
        st.builds(DropBookmarks, **selectors),
        st.builds(AddBookmarks, **selectors),
        st.builds(SlowStart, by_seconds=SECONDS, then=st.sampled_from(["ends", "closes"]), **selectors),
    )


def opening_faults(resource: str, *, steps: int) -> Faults:
    """Legal ones about how a client gets to its data."""
    selectors: dict[str, Any] = {"resource": st.sampled_from([resource, "*"]), "window": windows(steps)}
    whole: dict[str, Any] = {"resource": st.just("*"), "window": windows(steps)}
    return st.one_of(
        st.builds(Refuse, **whole),
        st.builds(Hang, **selectors),
        st.builds(Coalesce, **selectors),
        st.builds(RefuseWatchList, how=st.sampled_from(["http", "event"]), **whole),
        windows(steps).flatmap(
            lambda window: st.builds(
                PastSnapshot,
                resource=st.sampled_from([resource, "*"]),
                window=st.just(window),
                as_of_step=st.integers(1, window.from_step),
                hold=st.booleans(),
            )
        ),
    )


def read_faults(resource: str, *, steps: int) -> Faults:
    """Legal ones about single reads."""
    calls = _calls(resource, steps) | {"verb": st.sampled_from(["list", "watch", "read", "*"])}
    return st.one_of(
        st.builds(Reject, code=st.sampled_from([0, 429, 500, 503, 504]), **calls),
        st.builds(SlowAnswer, by_seconds=SECONDS, moment=st.sampled_from(["before", "after"]), **calls),
        st.builds(LoseAnswer, code=st.just(0), **calls),
    )


def write_faults(resource: str, *, steps: int) -> Faults:
    """Legal ones about the controller's writes, and about its process."""
    calls = _calls(resource, steps)
    whole: dict[str, Any] = {"resource": st.just("*"), "window": windows(steps), "stays_down": st.booleans()}
    return st.one_of(
        st.builds(Reject, code=st.just(503), retry_after=st.none() | NTH, verb=st.just("write"), **calls),
        st.builds(Compete, verb=st.sampled_from(["write", "create", "update", "patch", "delete"]), **calls),
        st.builds(LoseAnswer, verb=st.just("create"), code=st.sampled_from([0, 500, 504]), **calls),
        st.builds(
            Kill,
            moment=st.sampled_from(["before", "after"]),
            stays_down=st.booleans(),
            verb=st.just("update"),
            **(calls | {"times": st.just(1)}),
        ),
        st.builds(Restart, gently=st.booleans(), **whole),
        st.builds(Pause, resource=st.just("*"), window=windows(steps)),
    )


def hostile_faults(resource: str, *, window: st.SearchStrategy[Window]) -> dict[str, Faults]:
    """By their names. The window is the caller's."""
    selectors: dict[str, Any] = {"resource": st.sampled_from([resource, "*"]), "window": window}
    one: dict[str, Any] = selectors | {"nth": st.none() | NTH}
    return {
        "DropFrame": st.builds(DropFrame, **one),
        "RepeatFrame": st.builds(RepeatFrame, **one),
        "Reorder": st.builds(Reorder, by_seconds=SECONDS, **one),
        "NoEndBookmark": st.builds(NoEndBookmark, **selectors),
        "StaleRead": st.builds(StaleRead, as_of_step=st.just(1), **selectors),
    }


def _selectors(resource: str, steps: int, *, namespace: str, name: str) -> dict[str, Any]:
    """Mostly everything, sometimes one object or one stream."""
    return {
        "resource": st.sampled_from([resource, resource, "*"]),
        "namespace": st.sampled_from(["", "", "", namespace, "elsewhere"]),
        "name": st.sampled_from(["", "", "", "", name]),
        "stream": st.sampled_from([None, None, None, None, 1, 2]),
        "window": windows(steps),
    }


def _calls(resource: str, steps: int) -> dict[str, Any]:
    return {
        "resource": st.sampled_from([resource, "*"]),
        "window": windows(steps),
        "nth": st.integers(1, 3),
        "times": st.none() | st.integers(1, 3),
        "subresource": st.sampled_from([None, "", "status"]),
    }
