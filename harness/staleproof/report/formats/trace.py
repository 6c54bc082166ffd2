"""A trace of each trial with a finding, as Chrome's trace events, which Perfetto shows: a process for each trial.

One track each for steps, faults, lives of the controller, requests, and for each resource what was committed and what was shown.
What overlaps is begun and ended by an id of its own, because slices of one track that overlap are not drawn.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from staleproof.core.fault import AnyFault
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Closed,
    Committed,
    Delivered,
    Entry,
    Exited,
    FaultClosed,
    FaultFired,
    FaultOpened,
    Listed,
    Opened,
    Released,
    Settled,
    Started,
    StepBegan,
    StepEnded,
    Stopped,
    StreamId,
    Withheld,
)
from staleproof.core.history.history import History, in_order
from staleproof.report.formats.reported_run import ReportedRun
from staleproof.report.inert import in_one_line
from staleproof.report.model import TrialReport

MOST = 20
"""So many trials are in a trace: those of the first findings."""
_MICRO = 1e6
_TEXT = 500
_STEPS, _FAULTS, _LIVES, _REQUESTS = "steps", "faults", "the controller's process", "requests"


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One trace event: `ts` and `dur` in microseconds since the trial began, `pid` the trial, `tid` the track.

    `ph` is what it is: X a slice, i an instant, b and e the begin and end of what has this `id`, M a name.
    """

    name: str
    ph: Literal["X", "i", "b", "e", "M"]
    pid: int
    tid: int
    ts: float = 0.0
    dur: float | None = None
    cat: str = ""
    id: str = ""
    s: Literal["t", ""] = ""
    args: dict[str, str | int | float | bool | None] = {}


class Trace(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The file."""

    trace_events: tuple[Event, ...]
    display_time_unit: Literal["ms"] = "ms"
    other_data: dict[str, str] = {}


def schema() -> dict[str, Any]:
    """The JSON Schema of trace.json."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Trace)}


def trace(run: ReportedRun) -> bytes:
    """The file, of the trials with findings whose histories were kept."""
    names = dict.fromkeys(finding.trials[0] for finding in run.findings)  # of the worst first
    trials = list({trial.name: trial for trial in map(run.first_trial, run.findings)}.values())[:MOST]
    histories = [(trial, history) for trial in trials if (history := run.history(trial)) is not None]
    lacking = len(names) - len(histories)
    about = {"run": run.report.run_id, "findings without a trace": str(lacking)} if lacking else {"run": run.report.run_id}
    return of_trials([(_title(trial), history) for trial, history in histories], about)


def of_trials(trials: list[tuple[str, History]], about: dict[str, str]) -> bytes:
    """The trace of these trials, by their titles."""
    events = [event for pid, (title, history) in enumerate(trials, 1) for event in _Tracks(pid, title).of(history)]
    return msgspec.json.encode(Trace(trace_events=tuple(events), other_data=about)) + b"\n"


def _title(trial: TrialReport) -> str:
    return f"{trial.name} {trial.title or trial.scenario}"


class _Tracks:
    """The tracks of one trial, numbered as they are first needed."""

    def __init__(self, pid: int, title: str) -> None:
        self._pid, self._title = pid, title
        self._numbers: dict[str, int] = {}
        self._streams: dict[StreamId, str] = {}
        self._open: dict[str, Event] = {}
        self._step: StepBegan | None = None
        self._faults: Sequence[AnyFault] = ()
        self._last = 0.0

    def of(self, history: History) -> list[Event]:
        """All events of the trial; what never ended does so with the trial."""
        events: list[Event] = []
        self._faults = history.header.plan.faults
        for entry in in_order(history.entries):
            self._last = max(self._last, entry.at)
            for tell in (self._of_steps, self._of_faults, self._of_lives, self._of_requests, self._of_watches):
                events += tell(entry)
        for begun in list(self._open.values()):
            events += self._end(begun.id, self._last, {"how": "with the trial"})
        return [self._named("process_name", 0, self._title), *self._names(), *events]

    def _of_steps(self, entry: Entry) -> Iterator[Event]:
        match entry:
            case StepBegan():
                self._step = entry
            case StepEnded() if self._step is not None:
                yield self._slice(_STEPS, f"{entry.step}. {self._step.does}", self._step.at, entry.at, {"idle": entry.idle})
            case Released():
                yield self._instant(_STEPS, "everything held is released", entry.at)
            case Settled():
                yield self._instant(_STEPS, "settled" if entry.ok else "not settled", entry.at, {"why": entry.why})

    def _of_faults(self, entry: Entry) -> Iterator[Event]:
        match entry:
            case FaultOpened():
                fault = self._faults[entry.fault]
                yield self._begin(_FAULTS, f"fault {entry.fault}", f"{fault.tag} of {fault.resource}", entry.at, {"why": entry.why})
            case FaultFired():
                yield self._instant(_FAULTS, f"fault {entry.fault} fired on {entry.on}", entry.at)
            case FaultClosed():
                yield from self._end(f"fault {entry.fault}", entry.at)

    def _of_lives(self, entry: Entry) -> Iterator[Event]:
        match entry:
            case Started():
                yield self._begin(_LIVES, f"life {entry.life}", f"life {entry.life}", entry.at)
            case Stopped(paused=False):
                yield from self._end(f"life {entry.life}", entry.at, {"how": "stopped"})
            case Exited():
                yield from self._end(f"life {entry.life}", entry.at, {"how": f"exited with {entry.code}", "reason": entry.reason})

    def _of_requests(self, entry: Entry) -> Iterator[Event]:
        match entry:
            case Asked():
                what = "/".join(filter(None, (entry.resource, entry.name, entry.subresource)))
                yield self._begin(_REQUESTS, f"request {entry.request}", f"{entry.verb} {what}", entry.at, {"client": entry.client})
            case Answered():
                said = {"outcome": entry.outcome, "code": entry.code, "reason": entry.reason, "revision": entry.revision}
                yield from self._end(f"request {entry.request}", entry.at, said)
            case Listed():
                yield from self._end(f"request {entry.request}", entry.at, {"revision": entry.revision, "items": len(entry.items)})

    def _of_watches(self, entry: Entry) -> Iterator[Event]:
        match entry:
            case Committed():
                name = f"{entry.type} {entry.name} @{entry.revision}"
                yield self._instant(f"{entry.resource}: what was true", name, entry.at, {"uid": entry.uid})
            case Opened():
                self._streams[entry.stream] = f"{entry.resource}: what was shown"
                track = self._streams[entry.stream]
                yield self._begin(track, f"stream {entry.stream}", f"watch {entry.stream}", entry.at, {"client": entry.client})
            case Withheld():
                yield self._begin(
                    self._shown(entry.stream), _held(entry), f"withheld: {entry.type} {entry.name} @{entry.revision}", entry.at
                )
            case Delivered():
                yield from self._end(_held(entry), entry.at)
                yield self._instant(self._shown(entry.stream), f"{entry.type} {entry.name} @{entry.revision}", entry.at)
            case Closed():
                for begun in [each for each in self._open.values() if each.id.startswith(f"frame {entry.stream} ")]:
                    yield from self._end(begun.id, entry.at, {"how": "discarded"})
                yield from self._end(f"stream {entry.stream}", entry.at, {"how": entry.how})

    def _shown(self, stream: StreamId) -> str:
        return self._streams.get(stream, "what was shown")

    def _track(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers) + 1)

    def _slice(self, track: str, name: str, since: float, until: float, args: dict[str, Any]) -> Event:
        return self._event(track, name, "X", since, dur=round((until - since) * _MICRO, 3), args=_printable(args))

    def _instant(self, track: str, name: str, at: float, args: dict[str, Any] | None = None) -> Event:
        return self._event(track, name, "i", at, s="t", args=_printable(args or {}))

    def _begin(self, track: str, key: str, name: str, at: float, args: dict[str, Any] | None = None) -> Event:
        made = self._event(track, name, "b", at, id=key, cat=track, args=_printable(args or {}))
        self._open[key] = made
        return made

    def _end(self, key: str, at: float, args: dict[str, Any] | None = None) -> Iterator[Event]:
        """Nothing if it never began."""
        begun = self._open.pop(key, None)
        if begun is not None:
            yield msgspec.structs.replace(begun, ph="e", ts=round(at * _MICRO, 3), args=_printable(args or {}))

    def _event(self, track: str, name: str, ph: Any, at: float, **more: Any) -> Event:  # noqa: ANN401  # fields of an event
        ts = round(at * _MICRO, 3)
        return Event(name=in_one_line(name, _TEXT), ph=ph, pid=self._pid, tid=self._track(track), ts=ts, **more)

    def _names(self) -> Iterator[Event]:
        for name, number in self._numbers.items():
            yield self._named("thread_name", number, name)
            yield Event(name="thread_sort_index", ph="M", pid=self._pid, tid=number, args={"sort_index": number})

    def _named(self, what: str, tid: int, name: str) -> Event:
        return Event(name=what, ph="M", pid=self._pid, tid=tid, args={"name": in_one_line(name, _TEXT)})


def _held(entry: Withheld | Delivered) -> str:
    return f"frame {entry.stream} {entry.type} {entry.namespace}/{entry.name} {entry.revision}"


def _printable(args: dict[str, Any]) -> dict[str, Any]:
    return {name: in_one_line(value, _TEXT) if isinstance(value, str) else value for name, value in args.items()}
