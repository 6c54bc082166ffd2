"""What the faults' tests ask: frames, requests and places, by few words."""

from staleproof.core.fault import Place, Seat

from ..cluster import bookmark, event
from ..cluster import request as request

PODS = "/api/v1/namespaces/trial/pods"
WATCH = f"GET {PODS}?watch=1&resourceVersion=5&allowWatchBookmarks=true"
WATCH_LIST = f"GET {PODS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"

ADDED, MODIFIED, DELETED = event("ADDED", "x", 5), event("MODIFIED", "x", 6), event("DELETED", "x", 7)
BOOKMARK, INITIAL_END = bookmark(8), bookmark(8, initial_end=True)


def place(nth: int = 1, *, burst: bool = False, watch: str = WATCH, past: bool = False, ordinal: int = 1) -> Place:
    return Place(Seat(request(watch), ordinal, past), nth, burst)
