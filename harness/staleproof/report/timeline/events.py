"""What is neither a state of an object nor a request: what happened to streams, to requests on their way, and to the process."""

from collections.abc import Iterator

from staleproof.checks.ends.exits import code_of
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import (
    Broke,
    Closed,
    Competed,
    Continued,
    Dropped,
    Entry,
    Exited,
    FaultFired,
    Opened,
    Probed,
    Refused,
    Released,
    Resumed,
    Settled,
    Stalled,
    Started,
    Stopped,
)
from staleproof.report.timeline.clock import at
from staleproof.report.timeline.document import Event, EventKind
from staleproof.report.timeline.replicas import replica_of

_Fields = tuple[EventKind, str, str, int | None]
"""Kind, resource, what there is to say, the fault that did it."""


def events(trial: Trial) -> Iterator[Event]:
    """In the order in which they happened."""
    for index, entry in enumerate(trial.entries):
        fields = _of_stream(trial, entry) or _of_fault(trial, entry) or _of_process(entry, index) or _of_trial(entry)
        if fields is not None:
            kind, lane, says, fault = fields
            yield Event(
                entry=index, at=at(trial, index), kind=kind, lane=lane, says=says, fault=fault, replica=replica_of(trial, entry)
            )


def _of_stream(trial: Trial, entry: Entry) -> _Fields | None:
    match entry:
        case Opened(resource=resource, start=start, since=since):
            how = "before the trial" if since is not None else f"from resourceVersion {start}" if start else "from now on"
            return "stream opened", resource, how, None
        case Closed(stream=stream, how=how, fault=fault):
            return "stream ended", trial.resource_of(stream), how, fault
        case Refused(resource=resource, code=code, reason=reason, fault=fault):
            return "watch refused", resource, f"{code or 'no answer'} {reason}".rstrip(), fault
        case Dropped(stream=stream, fault=fault):
            return "frame dropped", trial.resource_of(stream), entry.type, fault
    return None


def _of_fault(trial: Trial, entry: Entry) -> _Fields | None:
    match entry:
        case Stalled(resource=resource, verb=verb, fault=fault):
            return "request waiting", resource, verb, fault
        case Resumed(resource=resource, verb=verb, fault=fault):
            return "request resumed", resource, verb, fault
        case Competed(resource=resource, name=name, fault=fault):
            return "competing write", resource, name, fault
        case FaultFired(fault=fault, on=on):
            resource = trial.plan.faults[fault].resource
            return "fault fired", "" if resource == "*" else resource, f"on {on}" if on else "", fault
    return None


def _of_process(entry: Entry, index: int) -> _Fields | None:
    match entry:
        case Stopped(paused=paused, fault=fault):
            return "paused" if paused else "killed", "", "", fault
        case Continued():
            return "continued", "", "", None
        case Exited():
            return "exited", "", f"by itself with {code_of(entry)}", None
        case Started() if index:  # the trial begins with the first
            return "started", "", "and had been shown nothing yet", None
    return None


def _of_trial(entry: Entry) -> _Fields | None:
    match entry:
        case Released():
            return "released", "", "every fault had ended", None
        case Settled(ok=ok, why=why):
            return "settled", "", "converged" if ok else f"not converged {why}".rstrip(), None
        case Probed(works=works, waited=waited):
            return "probed", "", f"{'it did something' if works else 'it did nothing'} in {waited:.1f} s", None
        case Broke(where=where, why=why):
            return "harness failed", "", f"{where}: {why}", None
    return None
