"""What one stream tells about itself: breaches that are none are not told, and what a fault added is told apart.

The board and the stream are the real ones; the client's side is the test's, and so is the API server's.
"""

import asyncio
import json
from collections.abc import Callable

from staleproof.proxy_addons.journal import Journal  # type: ignore[import-not-found]  # noqa: TID251

# The leaf under test; mypy does not follow the mapping of folders.
from staleproof.proxy_addons.proxy_state import Board  # type: ignore[import-not-found]  # noqa: TID251
from staleproof.proxy_addons.stream import Stream  # type: ignore[import-not-found]  # noqa: TID251

from staleproof.core.entry import Broke, Delivered, Entry
from staleproof.core.fault import AddBookmarks, AnyFault, DropFrame, HoldStream, Reorder, Window
from staleproof.core.request import parse


class Client:
    """Takes whatever comes."""

    backlog = 0

    def emit(self, data: bytes) -> None: ...
    def finish(self) -> None: ...
    def kill(self, *, reset: bool) -> None: ...


class Told(Journal):  # type: ignore[misc]  # as above
    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []

    def record(self, entry: Entry) -> None:
        self.entries.append(entry)


def line(kind: str, revision: int) -> bytes:
    metadata = {"name": f"p{revision}", "namespace": "t", "uid": str(revision), "resourceVersion": str(revision)}
    return json.dumps({"type": kind, "object": {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}}).encode() + b"\n"


def told(happens: Callable[[Board, Stream], None], *faults: AnyFault) -> list[Entry]:
    """What is recorded of one watch that resumes after revision 5, in the first step of a plan."""

    async def inside() -> list[Entry]:
        journal = Told()
        board = Board(journal, lambda: None, None)
        board.install(faults, "")
        stream = Stream(1, "c", parse("GET", "/api/v1/pods?watch=1&resourceVersion=5&allowWatchBookmarks=1"), Client(), board)
        board.streams[1] = stream
        board.begin_step(1)
        happens(board, stream)
        return journal.entries

    return asyncio.run(inside())


def breaches(entries: list[Entry]) -> list[str]:
    return [entry.why for entry in entries if isinstance(entry, Broke)]


def test_what_is_dropped_when_a_hold_closes_breaks_what_its_fault_names() -> None:
    def happens(board: Board, stream: Stream) -> None:
        stream.feed(line("MODIFIED", 6))
        board.begin_step(2)  # the hold closes, and the other fault drops what it held
        stream.feed(line("BOOKMARK", 6))
        stream.feed(line("MODIFIED", 7))

    assert breaches(told(happens, HoldStream(resource="pods", window=Window(1, 2)), DropFrame(resource="pods", name="p6"))) == []


def test_a_client_that_leaves_has_been_denied_nothing() -> None:
    def happens(board: Board, stream: Stream) -> None:
        stream.feed(line("MODIFIED", 6))
        stream.feed(line("MODIFIED", 7))
        stream.left_by_client()

    assert breaches(told(happens, Reorder(resource="pods", name="p6", by_seconds=9.0))) == []


def test_a_frame_that_a_fault_added_is_told_apart() -> None:
    def happens(board: Board, stream: Stream) -> None:
        stream.feed(line("MODIFIED", 6))

    delivered = [entry for entry in told(happens, AddBookmarks(resource="pods")) if isinstance(entry, Delivered)]
    assert [(entry.type, entry.fault) for entry in delivered] == [("MODIFIED", None), ("BOOKMARK", 0)]
