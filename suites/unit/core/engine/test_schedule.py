"""When faults open and close, and what follows for streams and requests: scripts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from staleproof.core.engine.exchange import with_content
from staleproof.core.engine.gate import Ruling
from staleproof.core.engine.planned_fault import FaultChange, FaultCloses, FaultEnds, FaultOpens, FaultRef
from staleproof.core.engine.schedule import Schedule
from staleproof.core.fault import (
    AddBookmarks,
    AnyFault,
    Coalesce,
    Compete,
    DelayStream,
    DropBookmarks,
    DropFrame,
    Hang,
    HideOwnWrite,
    HoldStream,
    LoseAnswer,
    OwnWrite,
    PastSnapshot,
    Place,
    Refuse,
    RefuseWatchList,
    Reject,
    Seat,
    SeverStream,
    SlowAnswer,
    SlowStart,
    StaleRead,
    Window,
)
from staleproof.core.fault.decision import DROP, HOLD, PASS, Competition, Cut, Delay, FromPast, Pass, Refusal, Reply, Sever, Stall
from staleproof.core.history.entry import FaultClosed, FaultFired, FaultIndex, FaultMissed, FaultOpened, FaultRefused
from staleproof.core.history.frame import Frame

from ..fault.asking import ADDED, BOOKMARK, INITIAL_END, PODS, WATCH_LIST, request

ELSEWHERE, CLUSTER = replace(ADDED, namespace="other"), replace(ADDED, namespace="")
CREATE, LIST, UPDATE = f"POST {PODS}", f"GET {PODS}", f"PUT {PODS}/x"
FIRST, SECOND, THIRD, FOURTH = (FaultRef(0, FaultIndex(number)) for number in range(4))


def signed(changes: Sequence[FaultChange]) -> list[str]:
    """What opens and closes, as `+fault` and `-fault`."""
    signs = {FaultOpens: "+", FaultCloses: "-"}
    return [f"{signs[type(change)]}{change.fault.number}" for change in changes if type(change) in signs]


def ended(changes: Sequence[FaultChange]) -> list[int]:
    """Which faults will never act again."""
    return [change.fault.number for change in changes if isinstance(change, FaultEnds)]


def seat(resource: str) -> Seat:
    return Seat(request(f"GET /api/v1/namespaces/trial/{resource}?watch=1&resourceVersion=5"))


def asks(schedule: Schedule, taken: Seat, *, burst: bool = False) -> Callable[[Frame, int], Ruling]:
    """What the stream's gate asks about each frame."""
    decide = schedule.decide_for(taken)
    return lambda frame, nth: decide(frame, nth, burst)


def hold(first: int, until: int | None = None, seconds: float | None = None) -> HoldStream:
    return HoldStream(resource="pods", window=Window(first, until, seconds))


def opened(*faults: AnyFault, namespace: str = "trial", revision: int | None = 7) -> Schedule:
    """A plan whose first step has begun."""
    schedule = Schedule(faults, namespace)
    schedule.begin_step(1, 0.0, revision=revision)
    return schedule


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
    assert [signed(schedule.begin_step(step, 0.0)) for step in steps] == expected


def test_what_a_change_says() -> None:
    relist = HoldStream(resource="pods", window=Window(1, 2), release="relist")
    schedule = Schedule([relist, SeverStream(resource="pods", how="reset", window=Window(2))])
    assert schedule.begin_step(1, 0.0) == [FaultOpens(FIRST, "step 1", None)]
    assert schedule.begin_step(2, 0.0) == [FaultCloses(FIRST, "expired"), FaultEnds(FIRST), FaultOpens(SECOND, "step 2", "reset")]
    assert schedule.release() == [FaultCloses(SECOND, None), FaultEnds(SECOND)]


def test_a_window_in_seconds_closes_by_the_clock() -> None:
    schedule = Schedule([hold(1, None, 2.0), hold(1, None, 0.5), hold(1), hold(2, None, 1.0)])
    assert schedule.deadline() is None
    assert signed(schedule.begin_step(1, 10.0)) == ["+0", "+1", "+2"]
    assert schedule.deadline() == 10.5
    assert signed(schedule.tick(10.4)) == []
    assert signed(schedule.tick(10.5)) == ["-1"]
    assert schedule.deadline() == 12.0
    assert signed(schedule.begin_step(2, 11.5)) == ["+3"]
    assert signed(schedule.tick(12.5)) == ["-0", "-3"]
    assert schedule.deadline() is None
    assert signed(schedule.tick(99.0)) == []


def test_seconds_and_steps_whichever_comes_first() -> None:
    schedule = opened(hold(1, 2, 5.0), namespace="")
    assert signed(schedule.begin_step(2, 1.0)) == ["-0"]
    assert schedule.deadline() is None


def test_seconds_count_from_the_trigger() -> None:
    schedule = opened(HideOwnWrite(resource="pods", window=Window(1, None, 2.0)))
    assert schedule.deadline() is None
    schedule.triggered_by(request(CREATE), 7.0)
    assert schedule.deadline() == 9.0


def test_the_window_of_a_fault_about_requests_begins_with_the_first_one() -> None:
    """A client that was turned away may come back late."""
    schedule = opened(Reject(resource="pods", verb="read", times=None, window=Window(1, None, 4.0)))
    waited_for = schedule.deadline()
    assert waited_for is not None
    assert waited_for > 30.0
    _, fault = schedule.on_request(request(LIST))
    schedule.fires(fault, "list pods", 7.5)
    assert schedule.deadline() == 11.5
    schedule.fires(fault, "list pods", 9.0)
    assert schedule.deadline() == 11.5


def test_the_release_closes_everything_for_good() -> None:
    schedule = opened(hold(1), hold(1, None, 9.0), HideOwnWrite(resource="pods"), hold(3))
    changes = schedule.release()
    assert (signed(changes), ended(changes)) == (["-0", "-1"], [0, 1, 2, 3])
    assert schedule.deadline() is None
    assert signed(schedule.triggered_by(request(CREATE), 0.0)) == []
    assert signed(schedule.begin_step(3, 0.0)) == []
    assert schedule.release() == []


# --- own writes ------------------------------------------------------------------------------------------------------------------


STATUS = OwnWrite("update", subresource="status")


def hide(verb: str = "create", nth: int = 1, window: Window | None = None) -> HideOwnWrite:
    return HideOwnWrite(resource="pods", write=OwnWrite(verb, nth), window=window or Window())  # type: ignore[arg-type]  # from a table


@pytest.mark.parametrize(
    ("fault", "line", "opens"),
    [
        (hide("create"), CREATE, True),
        (hide("create"), "POST /api/v1/namespaces/other/pods", True),  # what it makes elsewhere is the trial's
        (hide("create"), "POST /api/v1/namespaces/other/pods?dryRun=All", False),
        (hide("create"), "POST /api/v1/namespaces/staleproof-0123abcd/pods", False),
        (hide("update"), "PUT /api/v1/namespaces/other/pods/x", False),
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
        (HideOwnWrite(resource="pods", write=STATUS), "PUT /api/v1/namespaces/trial/pods/x/status", True),
        (HideOwnWrite(resource="pods", write=STATUS), "PUT /api/v1/namespaces/trial/pods/x", False),
        (HoldStream(resource="pods"), CREATE, False),
    ],
)
def test_which_write_is_an_own_write(fault: AnyFault, line: str, *, opens: bool) -> None:
    schedule = opened(fault)
    assert signed(schedule.triggered_by(request(line), 0.0)) == (["+0"] if opens else [])


def test_a_delete_whose_body_asks_for_a_dry_run_is_no_own_write() -> None:
    delete = request(f"DELETE {PODS}/x")
    tried, hides, rejects = with_content(delete, "", b'{"dryRun":["All"]}'), opened(hide("delete")), opened(Reject(resource="pods"))
    assert [signed(hides.triggered_by(each, 0.0)) for each in (tried, delete)] == [[], ["+0"]]
    assert [rejects.leaves_alone(each) for each in (tried, delete)] == [True, False]
    assert [rejects.on_request(each)[0] == PASS for each in (tried, delete)] == [True, False]


def test_without_a_namespace_every_write_is_an_own_write() -> None:
    schedule = opened(hide(), namespace="")
    (opens,) = schedule.triggered_by(request("POST /api/v1/namespaces/other/pods"), 0.0)
    assert opens == FaultOpens(FIRST, "own create number 1 of pods", None)


def test_an_own_write_of_a_status_is_reported_as_one() -> None:
    (opens,) = opened(HideOwnWrite(resource="pods", write=STATUS)).triggered_by(
        request("PUT /api/v1/namespaces/trial/pods/x/status"), 0.0
    )
    assert opens == FaultOpens(FIRST, "own update of the status number 1 of pods", None)


def test_the_nth_own_write_opens_once() -> None:
    schedule = opened(hide(nth=3))
    assert [signed(schedule.triggered_by(request(CREATE), 0.0)) for _ in range(5)] == [[], [], ["+0"], [], []]


def test_own_writes_count_only_within_the_window() -> None:
    schedule = Schedule([hide(nth=2, window=Window(2, 3))], "trial")
    seen = []
    for step in (1, 2, 3):
        schedule.begin_step(step, 0.0)
        seen += [signed(schedule.triggered_by(request(CREATE), 0.0)) for _ in range(1 if step == 2 else 3)]
    assert seen == [[]] * 7


def test_a_window_without_the_write_ends_without_having_opened() -> None:
    schedule = Schedule([hide(window=Window(1, 2))], "trial")
    assert schedule.begin_step(1, 0.0) == []
    assert not schedule.is_open(FIRST)
    assert schedule.begin_step(2, 0.0) == [FaultEnds(FIRST)]


# --- one more, one less ----------------------------------------------------------------------------------------------------------


def test_a_fault_that_is_added_opens_at_once_whatever_its_steps_are() -> None:
    schedule = Schedule([hold(3)], "trial")
    added = schedule.add(SeverStream(resource="pods", window=Window(5, 6, 2.0)), 7.0)
    assert added == (SECOND, [FaultOpens(SECOND, "asked for", "clean")])
    assert (schedule.is_open(FIRST), schedule.is_open(SECOND), schedule.deadline()) == (False, True, 9.0)
    assert signed(schedule.begin_step(3, 8.0)) == ["+0"]
    assert signed(schedule.begin_step(6, 8.0)) == ["-1"]


def test_a_fault_that_is_added_waits_for_its_trigger_all_the_same() -> None:
    schedule = Schedule((), "trial")
    assert schedule.add(hide(), 0.0) == (FIRST, [])
    assert signed(schedule.triggered_by(request(CREATE), 0.0)) == ["+0"]


def test_a_fault_that_is_removed_is_closed_for_good_and_keeps_its_number() -> None:
    schedule = opened(hold(1), hold(1), namespace="")
    assert schedule.remove(0) == [FaultCloses(FIRST, None), FaultEnds(FIRST)]
    assert schedule.remove(0) == []
    assert (schedule.is_open(FIRST), schedule.is_open(SECOND)) == (False, True)
    assert schedule.add(hold(1), 0.0)[0] == THIRD


def test_open_streams_hear_of_a_fault_that_was_added_when_they_ask_again() -> None:
    schedule = Schedule()
    before = asks(schedule, seat("pods"))
    schedule.add(hold(1), 0.0)
    assert before(ADDED, 1) == (PASS, None)
    assert asks(schedule, seat("pods"))(ADDED, 1) == (HOLD, FIRST)


# --- streams and frames ----------------------------------------------------------------------------------------------------------


def test_the_first_decision_that_is_not_pass_wins() -> None:
    schedule = Schedule(
        [
            DropBookmarks(resource="pods", window=Window(1, 3)),
            HoldStream(resource="services"),
            DelayStream(resource="pods", by_seconds=2.0, window=Window(2)),
            HoldStream(resource="pods"),
        ]
    )
    pods, services, nodes = (asks(schedule, seat(resource)) for resource in ("pods", "services", "nodes"))
    assert pods(ADDED, 1) == (PASS, None)  # nothing is open yet
    schedule.begin_step(1, 0.0)
    assert [pods(BOOKMARK, 1), pods(ADDED, 2), services(ADDED, 1), nodes(ADDED, 1)] == [
        (DROP, FIRST),
        (HOLD, FOURTH),
        (HOLD, SECOND),
        (PASS, None),
    ]
    schedule.begin_step(2, 0.0)
    assert [pods(BOOKMARK, 1), pods(ADDED, 2)] == [(DROP, FIRST), (Delay(2.0), THIRD)]
    schedule.begin_step(3, 0.0)
    assert pods(BOOKMARK, 1) == (Delay(2.0), THIRD)
    schedule.release()
    assert pods(BOOKMARK, 1) == (PASS, None)


def test_a_fault_is_reported_where_the_frame_is() -> None:
    schedule = opened(DropFrame(resource="pods", nth=2), namespace="")
    decide, in_burst = (asks(schedule, seat("pods"), burst=burst) for burst in (False, True))
    assert [decide(ADDED, 1), decide(ADDED, 2), in_burst(ADDED, 2)] == [(PASS, None), (DROP, FIRST), (PASS, None)]


def test_only_frames_of_the_selected_object() -> None:
    schedule = opened(
        HoldStream(resource="pods", name="x"), DelayStream(resource="pods", namespace="other", by_seconds=1.0), namespace=""
    )
    decide = asks(schedule, Seat(request("GET /api/v1/pods?watch=1&resourceVersion=5")))
    another = replace(ADDED, name="y")
    assert [decide(frame, 1) for frame in (ADDED, another, ELSEWHERE, BOOKMARK)] == [
        (HOLD, FIRST),
        (PASS, None),
        (HOLD, FIRST),  # named x, too
        (Delay(1.0), SECOND),  # a bookmark belongs to every namespace
    ]


def test_streams_are_counted_by_resource() -> None:
    schedule = Schedule([HoldStream(resource="pods", stream=2)])
    seats = [schedule.seat(seat(resource).request) for resource in ("pods", "services", "pods", "pods")]
    assert [taken.ordinal for taken in seats] == [1, 1, 2, 3]
    assert [schedule.concerns(FIRST, taken) for taken in seats] == [False, False, True, False]


def test_streams_end_at_an_event_so_many_times_and_no_more() -> None:
    schedule = opened(SeverStream(resource="pods", nth=1, times=1))
    first, second = (schedule.seat(seat("pods").request) for _ in range(2))
    for _ in range(2):  # a gate may ask again
        assert asks(schedule, first)(ADDED, 1)[0] != PASS
        assert asks(schedule, second)(ADDED, 1) == (PASS, None)


def test_a_fault_that_may_not_is_refused_once_and_the_next_is_asked() -> None:
    schedule = opened(AddBookmarks(resource="pods"), hold(1), namespace="")
    decide = asks(schedule, seat("pods"))  # without allowWatchBookmarks
    assert [decide(ADDED, nth) for nth in (1, 2)] == [(HOLD, SECOND)] * 2
    (refused,) = schedule.news(3.0)
    assert (refused.at, refused.fault, refused.on, refused.row) == (3.0, 0, "ADDED of pods", "18")
    assert schedule.news(4.0) == []


# --- requests --------------------------------------------------------------------------------------------------------------------


def test_the_first_decision_about_a_request_wins() -> None:
    schedule = opened(Compete(resource="pods"), Hang(resource="pods"), Reject(resource="pods"))
    assert schedule.on_request(request(UPDATE)) == (Competition(), FIRST)
    assert schedule.on_request(request(UPDATE)) == (Stall("reset"), SECOND)
    schedule.remove(1)
    decision, fault = schedule.on_request(request(UPDATE))
    assert (type(decision), fault) == (Reply, THIRD)
    assert schedule.on_request(request(UPDATE)) == (PASS, None)


def test_requests_and_answers_are_counted_while_the_fault_is_open() -> None:
    slow = SlowAnswer(resource="pods", by_seconds=1.0, window=Window(2))
    schedule = Schedule([LoseAnswer(resource="pods", nth=2), slow], "trial")
    assert schedule.on_answer(request(UPDATE)) == (PASS, None)  # not open yet
    schedule.begin_step(1, 0.0)
    assert [schedule.on_answer(request(UPDATE)) for _ in range(3)] == [(PASS, None), (Cut(), FIRST), (PASS, None)]


@pytest.mark.parametrize(
    ("namespace", "line", "concerned"),
    [
        ("trial", UPDATE, True),
        ("trial", "PUT /api/v1/namespaces/other/pods/x", False),
        ("trial", "GET /api/v1/pods", True),
        ("", "PUT /api/v1/namespaces/other/pods/x", True),
    ],
)
def test_only_requests_of_the_trial(namespace: str, line: str, *, concerned: bool) -> None:
    decision, _ = opened(Reject(resource="pods"), namespace=namespace).on_request(request(line))
    assert (decision != PASS) is concerned


def test_where_the_controller_made_something_is_the_trials_from_then_on() -> None:
    schedule = opened(Reject(resource="pods"), HoldStream(resource="pods"))
    elsewhere = request("PUT /api/v1/namespaces/other/pods/x")
    assert schedule.leaves_alone(elsewhere)
    schedule.triggered_by(request("POST /apis/coordination.k8s.io/v1/namespaces/other/leases"), 0.0)
    assert schedule.leaves_alone(elsewhere)
    schedule.triggered_by(request("POST /api/v1/namespaces/other/configmaps"), 0.0)
    assert not schedule.leaves_alone(elsewhere)


@pytest.mark.parametrize(
    ("line", "content_type", "makes"),
    [
        ("POST /api/v1/namespaces/other/configmaps", "application/json", True),
        ("POST /api/v1/namespaces/other/configmaps?dryRun=All", "application/json", False),
        ("POST /api/v1/namespaces/other/pods/x/eviction", "application/json", False),
        ("POST /api/v1/namespaces/other/serviceaccounts/x/token", "application/json", False),
        ("PATCH /api/v1/namespaces/other/configmaps/x?fieldManager=c", "application/apply-patch+yaml", True),
        ("PATCH /api/v1/namespaces/other/configmaps/x?fieldManager=c", "application/merge-patch+json", False),
        ("PATCH /apis/example.com/v1/namespaces/other/things/x/status?fieldManager=c", "application/apply-patch+yaml", False),
    ],
)
def test_what_makes_something_elsewhere(line: str, content_type: str, *, makes: bool) -> None:
    schedule = opened(Reject(resource="*", verb="write", times=None))
    asked = with_content(request(line), content_type, b"{}")
    assert (schedule.on_request(asked)[0] != PASS) is makes
    schedule.triggered_by(asked, 0.0)
    assert schedule.leaves_alone(request("PUT /api/v1/namespaces/other/pods/y")) is not makes


def test_connections_are_refused_while_the_fault_is_open() -> None:
    schedule = Schedule([Refuse(window=Window(2, 3))])
    seen = []
    for step in (1, 2, 3):
        schedule.begin_step(step, 0.0)
        seen.append(schedule.refuses_connections)
    assert seen == [False, True, False]


# --- the past

ANY_STATE = request(LIST + "?resourceVersion=0")


def test_the_past_is_that_of_a_step_whose_revision_is_known() -> None:
    schedule = opened(PastSnapshot(as_of_step=1))
    assert schedule.on_request(ANY_STATE) == (FromPast(1), FIRST)
    assert schedule.revision_at(1) == 7


def test_an_unknown_past_is_refused() -> None:
    schedule = opened(PastSnapshot(as_of_step=1), revision=None)
    assert schedule.on_request(ANY_STATE) == (PASS, None)
    assert schedule.news(3.0) == [
        FaultRefused(at=3.0, fault=FaultIndex(0), on="list pods", why="the revision at the beginning of step 1 is not known")
    ]


def test_a_request_that_allows_no_past_is_refused_with_the_row() -> None:
    schedule = opened(PastSnapshot(as_of_step=1))
    assert [schedule.on_request(request(LIST)) for _ in range(2)] == [(PASS, None)] * 2
    assert [refused.row for refused in schedule.news(0.0)] == ["25"]


@pytest.mark.parametrize(
    ("line", "past"),
    [
        (LIST + "?watch=1&resourceVersion=7", True),
        (LIST + "?watch=1&resourceVersion=8", False),
        ("GET /api/v1/pods?watch=1&resourceVersion=7", False),
        (LIST + "?watch=1", False),
    ],
)
def test_a_stream_that_goes_on_from_the_past_is_known(line: str, *, past: bool) -> None:
    schedule = opened(PastSnapshot(as_of_step=1))
    schedule.gave_past(ANY_STATE, 7)
    assert schedule.seat(request(line)).past is past


# --- did it happen ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "namespace", "frame", "fires"),
    [
        (hold(1), "trial", ADDED, True),
        (hold(1), "trial", CLUSTER, True),
        (hold(1), "trial", ELSEWHERE, False),
        (hold(1), "", ELSEWHERE, True),
        (hold(1), "trial", BOOKMARK, False),
        (hold(1), "trial", None, True),
        (hold(1), "trial", INITIAL_END, True),
        (DropBookmarks(resource="pods"), "trial", BOOKMARK, True),
    ],
)
def test_a_fault_fires_by_what_the_controller_can_notice(
    fault: AnyFault, namespace: str, frame: Frame | None, *, fires: bool
) -> None:
    fired = Schedule([fault], namespace).fires(FIRST, "pods", 3.0, frame=frame)
    assert fired == ([FaultFired(at=3.0, fault=FaultIndex(0), on="pods")] if fires else [])


def test_a_fault_fires_once() -> None:
    schedule = Schedule([hold(1), hold(1)], "trial")
    fired = [len(schedule.fires(FIRST, "", 0.0, frame=frame)) for frame in (BOOKMARK, ADDED, ADDED, None)]
    assert fired == [0, 1, 0, 0]
    assert schedule.fires(SECOND, "", 0.0, frame=ADDED)


def test_a_fault_of_a_plan_that_was_replaced_does_nothing_more() -> None:
    schedule = Schedule([hold(1)], plan=1)
    schedule.begin_step(1, 0.0)
    assert (schedule.number(FIRST), schedule.is_open(FIRST), schedule.fires(FIRST, "", 0.0)) == (None, False, [])
    schedule.refuse(FIRST, Refusal("", "because"), "pods")
    assert schedule.news(0.0) == []
    assert schedule.is_open(FaultRef(1, FaultIndex(0)))


def test_a_hostile_fault_may_break_its_property_and_no_other() -> None:
    schedule = Schedule([hold(1), DropFrame(resource="pods"), StaleRead(resource="pods")])
    assert [schedule.may_break(name) for name in ("Reliable", "Ordered", "Unique", "Atomic")] == [True, False, False, False]


def test_a_request_that_is_asked_about_again_counts_once() -> None:
    schedule = opened(Reject(resource="pods", verb="list", nth=2), Coalesce(resource="pods"))
    counted = dict[FaultRef, int]()
    assert [schedule.on_request(request(LIST), counted) for _ in range(2)] == [(Stall("forward"), SECOND)] * 2
    assert schedule.on_request(request(LIST))[1] == FIRST  # the second LIST, and not the first that was asked about twice


def test_the_nth_frame_is_the_nth_that_the_fault_is_about() -> None:
    schedule = Schedule([SeverStream(resource="pods", name="a", nth=2)])
    decide = asks(schedule, seat("pods"))
    schedule.begin_step(1, 0.0)
    frames = [replace(ADDED, name=name) for name in "abba"]
    faults = [decide(frame, nth)[1] for nth, frame in enumerate(frames, 1)]
    assert faults == [None, None, None, FIRST]
    assert decide(frames[3], 4)[1] == FIRST  # asked again, it is still the second


def test_a_fault_that_says_no_number_cannot_ask_for_that_of_a_frame() -> None:
    """It would be given the same number for every frame, and act on all of them or on none."""
    (planned,) = Schedule([HoldStream(resource="pods")])._faults
    place = Place(seat("pods"), planned.ordinal(seat("pods"), 1))
    with pytest.raises(AttributeError, match="only for a fault with a field `nth`"):
        _ = place.nth


def test_frames_from_elsewhere_are_not_counted() -> None:
    """What an earlier trial left behind is cleared away on the same streams; it must not use up the number."""
    schedule = Schedule([DropFrame(resource="pods", nth=2)], "trial")
    decide = asks(schedule, Seat(request("GET /api/v1/pods?watch=1&resourceVersion=1")))
    schedule.begin_step(1, 0.0)
    faults = [decide(frame, nth)[1] for nth, frame in enumerate((ELSEWHERE, ADDED, ELSEWHERE, ADDED), 1)]
    assert faults == [None, None, None, FIRST]


@pytest.mark.parametrize(
    ("fault", "line", "expected"),
    [
        (hold(1), LIST, False),
        (hold(2), LIST, False),  # it is yet to open
        (hold(1), LIST.replace("/pods", "/services"), True),
        (hold(1), LIST.replace("trial", "other"), True),
        (Reject(resource="pods", verb="create"), CREATE, False),
        (Reject(resource="pods", verb="create"), LIST, True),
        (Reject(resource="pods", verb="create"), f"{CREATE}?dryRun=All", True),
    ],
)
def test_what_a_plan_leaves_alone(fault: AnyFault, line: str, expected: bool) -> None:  # noqa: FBT001  # a row
    schedule = opened(fault)
    assert schedule.leaves_alone(request(line)) is expected
    schedule.release()
    assert schedule.leaves_alone(request(line))


def test_what_the_history_tells_of_a_change() -> None:
    schedule = Schedule([hold(1, 2), hold(3)])
    changes = [*schedule.begin_step(1, 0.0), *schedule.begin_step(2, 0.0), *schedule.release()]
    assert [entry for change in changes for entry in schedule.entries_about(change, 5.0)] == [
        FaultOpened(at=5.0, fault=FIRST.number, why="step 1"),
        FaultClosed(at=5.0, fault=FIRST.number),
        FaultMissed(at=5.0, fault=FIRST.number, why=schedule.missed(0)),
        FaultMissed(at=5.0, fault=SECOND.number, why="step 3 never began"),
    ]


def test_of_a_fault_that_has_fired_the_history_tells_no_more_than_that_it_closed() -> None:
    schedule = opened(hold(1))
    fired = schedule.fires(FIRST, "pods", 1.0)
    assert fired
    assert [entry for change in schedule.release() for entry in schedule.entries_about(change, 5.0)] == [
        FaultClosed(at=5.0, fault=FIRST.number)
    ]
    assert schedule.is_over


def of_poller(line: str) -> Any:  # noqa: ANN401  # an ApiRequest
    return request(line).of_program("poller")


def test_a_fault_of_one_program_leaves_the_others_alone() -> None:
    schedule = opened(HoldStream(resource="pods", program="poller"), Reject(resource="pods", verb="create"))
    held, free = schedule.seat(of_poller(f"GET {PODS}?watch=1")), schedule.seat(request(f"GET {PODS}?watch=1"))
    assert (held.ordinal, free.ordinal) == (1, 1), "each counts its own streams"
    assert asks(schedule, held)(ADDED, 1) == (HOLD, FIRST)
    assert asks(schedule, free)(ADDED, 1) == (PASS, None)
    assert schedule.on_request(of_poller(CREATE)) == (PASS, None)
    assert schedule.on_request(request(CREATE))[1] == SECOND
    rejects = opened(Reject(resource="pods", verb="create"))
    assert (rejects.leaves_alone(of_poller(CREATE)), rejects.leaves_alone(request(CREATE))) == (True, False)


def test_the_writes_of_another_program_do_not_trigger_it() -> None:
    hide = HideOwnWrite(resource="pods", program="poller", write=OwnWrite("create"))
    schedule = opened(hide)
    assert signed(schedule.triggered_by(request(CREATE), 1.0)) == []
    assert signed(schedule.triggered_by(of_poller(CREATE), 2.0)) == ["+0"]


def test_what_the_api_server_does_happens_to_all_programs() -> None:
    schedule = opened(RefuseWatchList())
    watch_list = f"GET {PODS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
    assert [schedule.on_request(each)[1] for each in (request(watch_list), of_poller(watch_list))] == [FIRST, FIRST]
    assert [str(each) for each in RefuseWatchList(program="poller").misfits()] == [
        "program is poller, and this happens to all programs alike; leave it out"
    ]


@pytest.mark.parametrize("path", ["/api/v1/pods", PODS, "/api/v1/namespaces/controllers/configmaps"])
def test_a_server_without_the_feature_refuses_every_watch_list(path: str) -> None:
    """Also of the namespace that the controller itself is in."""
    schedule = opened(RefuseWatchList(), Reject(resource="*", verb="watch", times=None))
    listing = request(f"GET {path}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true")
    assert schedule.on_request(listing)[1] == FIRST
    assert not schedule.leaves_alone(listing)
    assert schedule.on_request(request(f"GET {path}?watch=1"))[1] == (None if "controllers" in path else SECOND)


def test_a_first_list_is_broken_off_once_and_every_one_is_slow() -> None:
    schedule = Schedule([SlowStart(resource="pods", by_seconds=2.0, then="closes")], "trial")
    schedule.begin_step(1, 0.0)
    found, burst = [], True
    for seat in (schedule.seat(request(WATCH_LIST)), schedule.seat(request(WATCH_LIST))):
        decide = schedule.decide_for(seat)
        found.append([decide(frame, nth, burst)[0] for nth, frame in enumerate([ADDED, INITIAL_END], 1)])
    assert found[0] == [Delay(2.0), Sever("clean", discard=False)]
    assert found[1] == [Delay(2.0), Pass()]
