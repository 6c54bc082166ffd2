"""Legal faults about how a client gets to its data: what each decides about which request."""

import pytest

from staleproof.core.fault import Coalesce, Expire, Hang, PastSnapshot, Refuse, RefuseWatchList
from staleproof.core.fault.availability import GONE
from staleproof.core.fault.decision import (
    HOLD,
    PASS,
    FrameDecision,
    FromPast,
    Refusal,
    Reply,
    RequestDecision,
    Sever,
    Stall,
)

from .asking import MODIFIED, PODS, WATCH, WATCH_LIST, place, request

LIST, GET, CREATE = f"GET {PODS}", f"GET {PODS}/x", f"POST {PODS}"
EXACT = f"{LIST}?resourceVersion=5&resourceVersionMatch=Exact"


# --- refused, hanging, coalesced


def test_only_refuse_is_about_connections() -> None:
    assert Refuse().refuses_connections
    assert not Hang(resource="pods").refuses_connections


def test_a_hang_holds_frames_and_requests_until_a_reset() -> None:
    fault = Hang(resource="pods")
    assert fault.on_frame(MODIFIED, place()) == HOLD
    assert {fault.on_request(request(line), 1) for line in (LIST, GET, CREATE, WATCH)} == {Stall("reset")}
    assert (fault.on_open, fault.on_close) == (None, "reset")


def test_coalesce_ends_the_streams_and_lets_reads_of_many_wait() -> None:
    fault = Coalesce(resource="pods")
    assert [fault.on_request(request(line), 1) for line in (LIST, WATCH, WATCH_LIST, GET, CREATE)] == [
        Stall("forward"),
        Stall("forward"),
        Stall("forward"),
        PASS,
        PASS,
    ]
    assert (fault.on_open, fault.on_close) == ("lapsed", None)
    assert fault.on_frame(MODIFIED, place()) == PASS


# --- expired


@pytest.mark.parametrize(
    ("fault", "on_open", "second_frame"),
    [
        (Expire(resource="pods"), "expired", PASS),
        (Expire(resource="pods", nth=2), None, Sever("expired")),
        (Expire(resource="pods", at="resume"), "lapsed", PASS),
        (Expire(resource="pods", at="resume", nth=2), None, Sever("lapsed")),
        (Expire(resource="pods", at="watch"), "gone", PASS),
        (Expire(resource="pods", at="watch", nth=2), None, Sever("gone")),
        (Expire(resource="pods", at="list"), None, PASS),
        (Expire(resource="pods", at="list", nth=2), None, PASS),
    ],
)
def test_an_expired_stream(fault: Expire, on_open: str | None, second_frame: FrameDecision) -> None:
    assert fault.on_open == on_open
    assert [fault.on_frame(MODIFIED, place(nth)) for nth in (1, 2, 3)] == [PASS, second_frame, PASS]
    assert fault.on_request(request(EXACT), 1) == (GONE if fault.at == "list" and not fault.nth else PASS)


CONSISTENT = Refusal("12", "the list can be answered without history")


@pytest.mark.parametrize(
    ("line", "nth", "decision"),
    [
        (LIST, 1, CONSISTENT),
        (LIST + "?resourceVersion=0", 1, CONSISTENT),
        (LIST + "?resourceVersion=5", 1, Refusal("11d", "the list can be answered without history")),
        (LIST + "?resourceVersion=5&limit=2", 1, GONE),
        (LIST + "?resourceVersion=5&resourceVersionMatch=Exact", 1, GONE),
        (LIST + "?continue=abc", 1, GONE),
        (WATCH, 1, PASS),
        (GET, 1, PASS),
    ],
)
def test_an_expired_list(line: str, nth: int, decision: RequestDecision) -> None:
    assert Expire(resource="pods", at="list").on_request(request(line), nth) == decision


def test_the_nth_list_and_all_that_follow() -> None:
    fault = Expire(resource="pods", at="list", nth=2)
    assert [fault.on_request(request(EXACT), nth) for nth in (1, 2, 3)] == [PASS, GONE, GONE]
    assert [fault.concerns_request(request(line)) for line in (LIST, WATCH, GET)] == [True, False, False]


def test_what_gone_means() -> None:
    assert Reply(410, "Expired", "too old resource version") == GONE


# --- WatchList refused


@pytest.mark.parametrize(("how", "as_event", "code"), [("http", False, 422), ("event", True, 500)])
def test_a_refused_watch_list(how: str, code: int, *, as_event: bool) -> None:
    fault = RefuseWatchList(how=how)  # type: ignore[arg-type]  # from a table
    refused = fault.on_request(request(WATCH_LIST), 1)
    assert isinstance(refused, Reply)
    assert (refused.as_event, refused.code) == (as_event, code)
    explicit_no = WATCH_LIST.replace("sendInitialEvents=true", "sendInitialEvents=false")
    asked = (WATCH_LIST, WATCH, LIST, CREATE, explicit_no)
    assert [fault.concerns_request(request(line)) for line in asked] == [True, False, False, False, False]


def test_one_server_has_watch_list_for_leases_too_or_for_nothing() -> None:
    assert RefuseWatchList().concerns("leases.coordination.k8s.io")
    assert not RefuseWatchList(resource="pods").concerns("services")


# --- past


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        (LIST + "?resourceVersion=0", FromPast(1)),
        (LIST + "?resourceVersion=0&resourceVersionMatch=NotOlderThan", FromPast(1)),
        (LIST + "?resourceVersion=0&limit=5", FromPast(1)),
        ("GET /api/v1/pods?watch=1&resourceVersion=0", FromPast(1)),
        ("GET /api/v1/pods?watch=1", FromPast(1)),
        (WATCH_LIST, Refusal("25", "a WatchList is not answered from the past")),
        (WATCH_LIST + "&resourceVersion=0", Refusal("25", "a WatchList is not answered from the past")),
        (
            "GET /api/v1/pods?watch=1&resourceVersion=0&sendInitialEvents=false",
            Refusal("", "the WATCH asks for no state (sendInitialEvents=false)"),
        ),
        (LIST, Refusal("25", "the read does not ask for resourceVersion 0")),
        (LIST + "?continue=abc", Refusal("27", "the read does not ask for resourceVersion 0")),
        (LIST + "?resourceVersion=5", Refusal("23", "the read does not ask for resourceVersion 0")),
        (WATCH, PASS),
        (GET + "?resourceVersion=0", PASS),
        (CREATE, PASS),
    ],
)
def test_which_requests_are_shown_the_past(line: str, decision: RequestDecision) -> None:
    assert PastSnapshot().on_request(request(line), 1) == decision


@pytest.mark.parametrize(
    ("hold", "past", "burst", "decision"),
    [(True, True, False, HOLD), (True, True, True, PASS), (True, False, False, PASS), (False, True, False, PASS)],
)
def test_the_watch_that_goes_on_from_the_past_is_held(decision: FrameDecision, *, hold: bool, past: bool, burst: bool) -> None:
    assert PastSnapshot(hold=hold).on_frame(MODIFIED, place(past=past, burst=burst)) == decision
