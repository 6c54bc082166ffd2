"""The table, and what it says about one request: reference/fault-legality.md §3, row by row."""

import pytest

from staleproof.core.fault.legality import ROWS, is_start_only, past_is_hostile, row_against_expiry

from .asking import PODS, request

LIST, GET, WATCH = f"GET {PODS}?", f"GET {PODS}/x?", f"GET {PODS}?watch=1&"
WATCH_LIST = f"{WATCH}sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"


@pytest.mark.parametrize("number", ROWS)
def test_a_row_says_what_why_and_where(number: str) -> None:
    row = ROWS[number]
    assert row.number == number
    assert row.contract in ("legal", "documented", "hostile")
    assert row.done.startswith("no") is (row.contract != "legal")
    assert row.disturbance
    assert row.why
    assert row.source
    assert str(row) == f"legality row {number}: {row.disturbance} is {row.contract}: {row.why} ({row.source})"


@pytest.mark.parametrize(
    ("line", "past", "expired"),
    [
        # request, the row that forbids an older snapshot, the row that forbids 410
        (LIST, "25", "12"),
        (LIST + "limit=5", "25", "12"),
        (LIST + "resourceVersion=0", None, "12"),
        (LIST + "resourceVersion=0&resourceVersionMatch=NotOlderThan", None, "12"),
        (LIST + "resourceVersion=0&limit=5", None, "12"),
        (LIST + "resourceVersion=7", "23", "11d"),
        (LIST + "resourceVersion=7&limit=5", "23", None),
        (LIST + "resourceVersion=7&resourceVersionMatch=NotOlderThan", "23", "11d"),
        (LIST + "resourceVersion=7&resourceVersionMatch=NotOlderThan&limit=5", "23", "11d"),
        (LIST + "resourceVersion=7&resourceVersionMatch=Exact", "23", None),
        (LIST + "continue=abc", "27", None),
        (LIST + "continue=abc&resourceVersion=0", "27", None),
        (LIST + "continue=", "25", "12"),  # no token
        (GET, "25", "12"),
        (GET + "resourceVersion=0", None, "12"),
        (GET + "resourceVersion=7", "23", None),
        (WATCH + "resourceVersion=7", "23", None),
        (WATCH + "resourceVersion=0", None, "12"),
        (WATCH, None, "12"),
        (WATCH + "sendInitialEvents=false", "25", "12"),
        (WATCH_LIST, "25", "12"),
        (WATCH_LIST + "resourceVersion=0", None, "12"),
        (WATCH_LIST + "resourceVersion=7", "23", None),
    ],
)
def test_what_a_request_allows(line: str, past: str | None, expired: str | None) -> None:
    parsed = request(line)
    assert (past_is_hostile(parsed), row_against_expiry(parsed)) == (past, expired)


@pytest.mark.parametrize(
    ("line", "only"),
    [
        (WATCH + "sendInitialEvents=false", True),
        (WATCH + "sendInitialEvents=0&resourceVersion=0", True),
        (WATCH + "resourceVersion=0", False),
        (WATCH_LIST, False),
        (LIST + "sendInitialEvents=false", False),  # means nothing there
    ],
)
def test_which_watches_ask_for_no_state(line: str, *, only: bool) -> None:
    assert is_start_only(request(line)) is only
