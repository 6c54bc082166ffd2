"""Which watches are answered 410, and until when."""

import pytest

from staleproof.core.engine.expiry import Expiries, Expiry
from staleproof.core.engine.planned_fault import FaultRef
from staleproof.core.history.entry import FaultIndex

from ..fault.asking import request

PODS = "GET /api/v1/namespaces/trial/pods"
FAULT = FaultRef(0, FaultIndex(0))


@pytest.mark.parametrize(
    ("line", "expired"),
    [
        (f"{PODS}?watch=1&resourceVersion=5", True),
        (f"{PODS}?watch=1&resourceVersion=3&allowWatchBookmarks=true", True),
        (f"{PODS}?watch=1&resourceVersion=6", False),  # newer than anything that the client had then
        (f"{PODS}?watch=1", False),
        (f"{PODS}?watch=1&resourceVersion=0", False),
        (f"{PODS}?watch=1&resourceVersion=5&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", False),
        (f"{PODS}?watch=1&resourceVersion=5&labelSelector=a", False),
        (f"{PODS}?resourceVersion=5", False),
        ("GET /api/v1/namespaces/other/pods?watch=1&resourceVersion=5", False),
        ("GET /api/v1/pods?watch=1&resourceVersion=5", False),
        ("GET /api/v1/namespaces/trial/services?watch=1&resourceVersion=5", False),
    ],
)
def test_which_watches_are_too_old(line: str, *, expired: bool) -> None:
    expiries, expiry = Expiries(), Expiry("event", 5, FAULT)
    expiries.expire(request(f"{PODS}?watch=1&resourceVersion=3"), expiry)
    assert expiries.of(request(line)) == (expiry if expired else None)


def test_a_client_that_has_listed_may_watch_again() -> None:
    watch, other = request(f"{PODS}?watch=1&resourceVersion=5"), request("GET /api/v1/pods?watch=1&resourceVersion=5")
    event, http = Expiry("event", 5), Expiry("http", 5, FAULT)
    expiries = Expiries()
    assert expiries.of(watch) is None
    expiries.expire(watch, event)
    expiries.expire(other, http)
    expiries.listed(request(PODS))
    assert [expiries.of(watch), expiries.of(other)] == [None, http]
    assert [expiries.names(FAULT), expiries.names(FaultRef(0, FaultIndex(1)))] == [True, False]
    expiries.listed(request(PODS))  # nothing to forget
    expiries.expire(watch, event)
    expiries.expire(watch, http)
    assert expiries.of(watch) == http
