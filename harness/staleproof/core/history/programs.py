"""A history by the view of one of several programs that are the subject together.

The program's own entries stand as those of a subject with one program do. In place of the requests, watches, lives and faults of
the others stands `Elsewhere`, so that positions stay what they are; what the others have committed is another user's to it.

What the user did, what became of it, and calls to external systems are of no single program, and stay.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from staleproof.core.history.entry import (
    Answered,
    Asked,
    Closed,
    Committed,
    Competed,
    Continued,
    Delivered,
    Dropped,
    Elsewhere,
    Entry,
    Exited,
    FaultClosed,
    FaultFired,
    FaultMissed,
    FaultOpened,
    FaultRefused,
    Listed,
    Metrics,
    Opened,
    Refused,
    RequestId,
    Resumed,
    Stalled,
    Started,
    StepBegan,
    Stopped,
    StreamId,
    Withheld,
)
from staleproof.core.history.history import History, Position, Request, is_work, requests
from staleproof.core.history.provenance import commits_of
from staleproof.core.plan.plan import MAIN


def programs_of(history: History) -> tuple[str, ...]:
    """The names of the programs that are judged by their own views, the controller's first; empty: there is only that one."""
    further = history.header.programs
    return (MAIN, *further) if further else ()


def as_seen_by(history: History, program: str) -> History:
    """The history with what is about this program alone; the same one if there are no others. References are left out."""
    if not history.header.programs:
        return history
    whose = _Whose(history)
    theirs = set(_written_elsewhere(history, program, whose))
    entries = (
        _anonymous(entry)
        if isinstance(entry, Committed) and index in theirs
        else entry
        if whose.program(entry) in ("", program)
        else Elsewhere(at=entry.at)
        for index, entry in enumerate(history.entries)
    )
    header = msgspec.structs.replace(history.header, references=(), programs=())
    return replace(history, header=header, entries=tuple(entries), references=(), digest="")


def as_one(history: History) -> History:
    """The history with all programs as one, which began once; the same one if there are no others. References are left out."""
    if not history.header.programs:
        return history
    first = next((n for n, entry in enumerate(history.entries) if isinstance(entry, StepBegan)), len(history.entries))
    entries = (
        Elsewhere(at=entry.at) if index < first and isinstance(entry, Started) and entry.program else entry
        for index, entry in enumerate(history.entries)
    )
    header = msgspec.structs.replace(history.header, references=(), programs=())
    return replace(history, header=header, entries=tuple(entries), references=(), digest="")


class _Whose:
    """Which program an entry is about."""

    def __init__(self, history: History) -> None:
        self._further, self._faults = frozenset(history.header.programs), history.header.plan.faults
        self._requests: dict[RequestId, str] = {}
        self._streams: dict[StreamId, str] = {}
        for entry in history.entries:
            match entry:
                case Asked(request=number, client=client):
                    self._requests[number] = self.of_client(client)
                case Opened(stream=stream, client=client):
                    self._streams[stream] = self.of_client(client)

    def of_client(self, client: str) -> str:
        return client if client in self._further else MAIN

    def program(self, entry: Entry) -> str:
        """Empty for what is about all of them, or about none."""
        match entry:
            case Started() | Stopped() | Continued() | Exited():
                return entry.program or MAIN
            case Stalled() | FaultOpened() | FaultClosed() | FaultFired() | FaultRefused() | FaultMissed():
                return self._of_fault(entry.fault)
            case Resumed(request=request, fault=fault):
                return self._requests.get(request, "") if fault is None else self._of_fault(fault)
            case Metrics():
                return MAIN
        return self._of_traffic(entry)

    def _of_traffic(self, entry: Entry) -> str:
        match entry:
            case Asked(client=client) | Listed(client=client) | Opened(client=client) | Refused(client=client):
                return self.of_client(client)
            case Answered(request=request) | Competed(request=request):
                return self._requests.get(request, MAIN)
            case Withheld(stream=stream) | Delivered(stream=stream) | Dropped(stream=stream) | Closed(stream=stream):
                return self._streams.get(stream, MAIN)
        return ""

    def _of_fault(self, number: int) -> str:
        fault = self._faults[number]
        return "" if fault.shared else fault.program or MAIN


def _written_elsewhere(history: History, program: str, whose: _Whose) -> Iterator[Position]:
    """Where there are commits that requests of other programs made, or other users because of these."""
    all_requests = requests(history.entries)
    committed = [(Position(n), entry) for n, entry in enumerate(history.entries) if isinstance(entry, Committed)]
    unknown = [each.asked for each in all_requests if _may_be_executed(each) and whose.program(each.asked) != program]
    for commit in commits_of(committed, all_requests):
        by = commit.by
        if whose.program(by.asked) != program if by is not None else any(_may_have_made(each, commit.entry) for each in unknown):
            yield commit.index
    yield from _competed_elsewhere(history.entries, committed, program, whose)


def _may_be_executed(request: Request) -> bool:
    """Whether it is a write whose outcome nothing shows."""
    return is_work(request.asked) and (
        request.answer is None or (isinstance(request.answer, Answered) and request.answer.code == 0)
    )


def _may_have_made(asked: Asked, commit: Committed) -> bool:
    return asked.resource == commit.resource and asked.name in ("", commit.name) and asked.at <= commit.at


def _competed_elsewhere(
    entries: Sequence[Entry], committed: Sequence[tuple[Position, Committed]], program: str, whose: _Whose
) -> Iterator[Position]:
    rivals = {(each.uid, each.revision) for each in entries if isinstance(each, Competed) and whose.program(each) != program}
    yield from (index for index, entry in committed if (entry.uid, entry.revision) in rivals)


def _anonymous(commit: Committed) -> Committed:
    """Without its managers: it came through the proxy, if not from this program."""
    return msgspec.structs.replace(commit, managers=())
