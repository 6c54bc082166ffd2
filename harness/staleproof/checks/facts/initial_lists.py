"""Which collections a life of the controller has begun to list and not got to the end of: a fold over the history.

A list begins with a LIST, with a WATCH that asks for the initial state (WatchList), or when either is refused. It is complete with
its last page, with the bookmark that ends the initial events, or when an ordinary watch is opened: that goes on from a list, or has
no end that could be seen. A stream that was open before the trial had been listed then. Whichever list of a collection comes first
counts, a live one with a selector, too: when in doubt it is complete.
"""

from staleproof.core.entry import Asked, Delivered, Entry, Listed, Opened, Refused, Started


class InitialLists:
    """Call `advance` with each entry in order; ask in between."""

    def __init__(self) -> None:
        self._begun: dict[str, int] = {}
        self._complete: set[str] = set()
        self._streams: dict[int, str] = {}

    def advance(self, index: int, entry: Entry) -> None:
        match entry:
            case Started():
                self._begun.clear()
                self._complete.clear()
            case Asked(verb="list") | Refused():
                self._begun.setdefault(entry.resource, index)
            case Opened():
                self._opened(index, entry)
            case Listed(more=False):
                self._complete.add(entry.resource)
            case Delivered(initial_end=True):
                self._complete.add(self._streams.get(entry.stream, ""))

    def _opened(self, index: int, entry: Opened) -> None:
        self._streams[entry.stream] = entry.resource
        self._begun.setdefault(entry.resource, index)
        if not entry.watch_list or entry.since is not None:
            self._complete.add(entry.resource)

    def is_complete(self, resource: str) -> bool:
        return resource in self._complete

    def is_under_way(self, resource: str) -> bool:
        """Begun by this life, and never complete in it."""
        return resource in self._begun and resource not in self._complete
