"""When faults open and close, and what follows for streams and requests: scripts."""

from collections.abc import Sequence

import pytest

from staleproof.core.fault import (
    DROP,
    HOLD,
    PASS,
    AnyFault,
    Delay,
    DelayStream,
    DropBookmarks,
    Expire,
    HideOwnWrite,
    HoldStream,
    OwnWrite,
    SeverStream,
    Window,
)
from staleproof.core.frame import Frame
from staleproof.core.request import ApiRequest, parse
from staleproof.core.schedule import Change, FaultCloses, FaultOpens, Schedule

EVENT = Frame("ADDED", "trial", "x", "u", 5, initial_end=False, raw=b"")
ELSEWHERE = Frame("ADDED", "other", "x", "u", 5, initial_end=False, raw=b"")
CLUSTER = Frame("ADDED", "", "x", "u", 5, initial_end=False, raw=b"")
BOOKMARK = Frame("BOOKMARK", "", "", "", 6, initial_end=False, raw=b"")


def request(line: str) -> ApiRequest:
    parsed = parse(*line.split(" "))
    assert parsed is not None
    return parsed


def told(changes: Sequence[Change]) -> list[str]:
    """Changes as `+fault` and `-fault`."""
    return [f"{'+' if isinstance(change, FaultOpens) else '-'}{change.fault}" for change in changes]


def hold(first: int, until: int | None = None, seconds: float | None = None) -> HoldStream:
    return HoldStream(resource="pods", window=Window(first, until, seconds))


# --- windows ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("faults", "steps", "expected"),
    [
        ((), [1, 2], [[], []]),
        ((hold(1),), [1, 2, 3], [["+0"], [], []]),
        ((hold(2),), [1, 2, 3], [[], ["+0"], []]),
        ((hold(1, 3),), [1, 2, 3, 4], [["+0"], [], ["-0"], []]),
        ((hold(2, 3), hold(1, 2)), [1, 2, 3], [["+1"], ["-1", "+0"], ["-0"]]),  # closed before opened
        ((hold(1), hold(1)), [1], [["+0", "+1"]]),
        ((hold(2),), [3], [["+0"]]),  # a step may be skipped
        ((hold(2, 3),), [3, 4], [[], []]),  # with the whole window
    ],
    ids=["no faults", "first", "second", "until", "change over", "two at once", "late", "missed"],
)
def test_windows_open_and_close_with_steps(faults: tuple[AnyFault, ...], steps: list[int], expected: list[list[str]]) -> None:
    schedule = Schedule(faults)
    assert [told(schedule.begin_step(step, 0.0)) for step in steps] == expected


def test_what_a_change_says() -> None:
    relist = HoldStream(resource="pods", window=Window(1, 2), release="relist")
    schedule = Schedule([relist, SeverStream(resource="pods", how="reset", window=Window(2))])
    assert schedule.begin_step(1, 0.0) == [FaultOpens(0, "step 1", None)]
    assert schedule.begin_step(2, 0.0) == [FaultCloses(0, "expired"), FaultOpens(1, "step 2", "reset")]
    assert schedule.release() == [FaultCloses(1, None)]


def test_a_window_in_seconds_closes_by_the_clock() -> None:
    schedule = Schedule([hold(1, None, 2.0), hold(1, None, 0.5), hold(1), hold(2, None, 1.0)])
    assert schedule.deadline() is None
    assert told(schedule.begin_step(1, 10.0)) == ["+0", "+1", "+2"]
    assert schedule.deadline() == 10.5
    assert told(schedule.tick(10.4)) == []
    assert told(schedule.tick(10.5)) == ["-1"]
    assert schedule.deadline() == 12.0
    assert told(schedule.begin_step(2, 11.5)) == ["+3"]
    assert told(schedule.tick(12.5)) == ["-0", "-3"]
    assert schedule.deadline() is None
    assert told(schedule.tick(99.0)) == []


def test_seconds_and_steps_whichever_comes_first() -> None:
    schedule = Schedule([hold(1, 2, 5.0)])
    schedule.begin_step(1, 0.0)
    assert told(schedule.begin_step(2, 1.0)) == ["-0"]
    assert schedule.deadline() is None


def test_seconds_count_from_the_trigger() -> None:
    schedule = Schedule([HideOwnWrite(resource="pods", window=Window(1, None, 2.0))], "trial")
    schedule.begin_step(1, 0.0)
    assert schedule.deadline() is None
    schedule.asked(request("POST /api/v1/namespaces/trial/pods"), 7.0)
    assert schedule.deadline() == 9.0


def test_the_release_closes_everything_for_good() -> None:
    schedule = Schedule([hold(1), hold(1, None, 9.0), HideOwnWrite(resource="pods"), hold(3)], "trial")
    schedule.begin_step(1, 0.0)
    assert told(schedule.release()) == ["-0", "-1"]
    assert schedule.deadline() is None
    assert told(schedule.asked(request("POST /api/v1/namespaces/trial/pods"), 0.0)) == []
    assert told(schedule.begin_step(3, 0.0)) == []
    assert told(schedule.release()) == []


# --- own writes ------------------------------------------------------------------------------------------------------------------

CREATE = "POST /api/v1/namespaces/trial/pods"


def hide(verb: str = "create", nth: int = 1, window: Window | None = None) -> HideOwnWrite:
    return HideOwnWrite(resource="pods", write=OwnWrite(verb, nth), window=window or Window())  # type: ignore[arg-type]  # from a table


@pytest.mark.parametrize(
    ("fault", "line", "opens"),
    [
        (hide("create"), CREATE, True),
        (hide("create"), "POST /api/v1/namespaces/other/pods", False),
        (hide("create"), "POST /api/v1/namespaces/trial/services", False),
        (hide("create"), "POST /apis/example.com/v1/namespaces/trial/pods", False),
        (hide("create"), "POST /api/v1/namespaces/trial/pods/x/eviction", False),
        (hide("create"), "PUT /api/v1/namespaces/trial/pods/x", False),
        (hide("update"), "PUT /api/v1/namespaces/trial/pods/x", True),
        (hide("update"), "PUT /api/v1/namespaces/trial/pods/x/status", False),
        (hide("update"), "PATCH /api/v1/namespaces/trial/pods/x", False),
        (hide("patch"), "PATCH /api/v1/namespaces/trial/pods/x", True),
        (hide("delete"), "DELETE /api/v1/namespaces/trial/pods/x", True),
        (hide("delete"), "DELETE /api/v1/namespaces/trial/pods", False),
        (HideOwnWrite(resource="nodes"), "POST /api/v1/nodes", True),  # of the cluster: belongs to every trial
        (HoldStream(resource="pods"), CREATE, False),
    ],
)
def test_which_write_is_an_own_write(fault: AnyFault, line: str, *, opens: bool) -> None:
    schedule = Schedule([fault], "trial")
    schedule.begin_step(1, 0.0)
    assert told(schedule.asked(request(line), 0.0)) == (["+0"] if opens else [])


def test_without_a_namespace_every_write_is_an_own_write() -> None:
    schedule = Schedule([hide()])
    schedule.begin_step(1, 0.0)
    assert schedule.asked(request("POST /api/v1/namespaces/other/pods"), 0.0) == [
        FaultOpens(0, "own create number 1 of pods", None)
    ]


def test_the_nth_own_write_opens_once() -> None:
    schedule = Schedule([hide(nth=3)], "trial")
    schedule.begin_step(1, 0.0)
    assert [told(schedule.asked(request(CREATE), 0.0)) for _ in range(5)] == [[], [], ["+0"], [], []]


def test_own_writes_count_only_within_the_window() -> None:
    schedule = Schedule([hide(nth=2, window=Window(2, 3))], "trial")
    seen = []
    for step in (1, 2, 3):
        schedule.begin_step(step, 0.0)
        seen += [told(schedule.asked(request(CREATE), 0.0)) for _ in range(1 if step == 2 else 3)]
    assert seen == [[]] * 7


def test_a_window_without_the_write_closes_silently() -> None:
    schedule = Schedule([hide(window=Window(1, 2))], "trial")
    assert told(schedule.begin_step(1, 0.0)) == []
    assert schedule.open_for("pods") == []
    assert told(schedule.begin_step(2, 0.0)) == []


# --- frames ----------------------------------------------------------------------------------------------------------------------


def test_the_first_decision_that_is_not_pass_wins() -> None:
    schedule = Schedule(
        [
            DropBookmarks(resource="pods", window=Window(1, 3)),
            HoldStream(resource="services"),
            DelayStream(resource="pods", by_seconds=2.0, window=Window(2)),
            HoldStream(resource="pods"),
        ]
    )
    pods, services, nodes = (schedule.decide_for(resource) for resource in ("pods", "services", "nodes"))
    assert pods(EVENT, 1) == (PASS, None)  # nothing is open yet
    schedule.begin_step(1, 0.0)
    assert [pods(BOOKMARK, 1), pods(EVENT, 2), services(EVENT, 1), nodes(EVENT, 1)] == [
        (DROP, 0),
        (HOLD, 3),
        (HOLD, 1),
        (PASS, None),
    ]
    schedule.begin_step(2, 0.0)
    assert [pods(BOOKMARK, 1), pods(EVENT, 2)] == [(DROP, 0), (Delay(2.0), 2)]
    schedule.begin_step(3, 0.0)
    assert pods(BOOKMARK, 1) == (Delay(2.0), 2)
    schedule.release()
    assert pods(BOOKMARK, 1) == (PASS, None)


def test_the_open_faults_of_a_resource() -> None:
    schedule = Schedule([hold(1, 2), HoldStream(resource="services"), hold(2), hide()], "trial")
    schedule.begin_step(1, 0.0)
    assert (schedule.open_for("pods"), schedule.open_for("services"), schedule.open_for("nodes")) == ([0], [1], [])
    schedule.begin_step(2, 0.0)
    schedule.asked(request(CREATE), 0.0)
    assert schedule.open_for("pods") == [2, 3]


@pytest.mark.parametrize(
    ("fault", "namespace", "frame", "fires"),
    [
        (hold(1), "trial", EVENT, True),
        (hold(1), "trial", CLUSTER, True),
        (hold(1), "trial", ELSEWHERE, False),
        (hold(1), "", ELSEWHERE, True),
        (hold(1), "trial", BOOKMARK, False),
        (hold(1), "trial", None, True),
        (DropBookmarks(resource="pods"), "trial", BOOKMARK, True),
    ],
)
def test_a_fault_fires_by_what_the_controller_can_notice(
    fault: AnyFault, namespace: str, frame: Frame | None, *, fires: bool
) -> None:
    assert Schedule([fault], namespace).fires(0, frame) is fires


def test_a_fault_fires_once() -> None:
    schedule = Schedule([hold(1), hold(1)], "trial")
    assert [schedule.fires(0, BOOKMARK), schedule.fires(0, EVENT), schedule.fires(0, EVENT), schedule.fires(0, None)] == [
        False,
        True,
        False,
        False,
    ]
    assert schedule.fires(1, EVENT)


# --- 410 until listed ------------------------------------------------------------------------------------------------------------

PODS = "GET /api/v1/namespaces/trial/pods"


@pytest.mark.parametrize(
    ("line", "expired"),
    [
        (f"{PODS}?watch=1&resourceVersion=5", True),
        (f"{PODS}?watch=1&resourceVersion=9&allowWatchBookmarks=true", True),
        (f"{PODS}?watch=1", False),
        (f"{PODS}?watch=1&resourceVersion=0", False),
        (f"{PODS}?watch=1&resourceVersion=5&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", False),
        (f"{PODS}?watch=1&resourceVersion=5&labelSelector=a", False),
        ("GET /api/v1/namespaces/other/pods?watch=1&resourceVersion=5", False),
        ("GET /api/v1/pods?watch=1&resourceVersion=5", False),
        ("GET /api/v1/namespaces/trial/services?watch=1&resourceVersion=5", False),
    ],
)
def test_which_watches_are_too_old(line: str, *, expired: bool) -> None:
    schedule = Schedule([Expire(resource="pods")], "trial")
    schedule.expire(request(f"{PODS}?watch=1&resourceVersion=3"))
    assert schedule.is_expired(request(line)) is expired


def test_a_client_that_has_listed_may_watch_again() -> None:
    watch, other = request(f"{PODS}?watch=1&resourceVersion=5"), request("GET /api/v1/pods?watch=1&resourceVersion=5")
    schedule = Schedule()
    assert not schedule.is_expired(watch)
    schedule.expire(watch)
    schedule.expire(other)
    schedule.listed(request(PODS))
    assert [schedule.is_expired(watch), schedule.is_expired(other)] == [False, True]
    schedule.listed(request(PODS))  # nothing to forget
    schedule.expire(watch)
    assert schedule.is_expired(watch)
