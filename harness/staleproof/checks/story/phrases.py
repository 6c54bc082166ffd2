"""How a story speaks of the entries of a history: one sentence for neighbours of one kind. Never a raw object."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import TypeVar

from staleproof.checks.ends.exits import code_of
from staleproof.checks.facts.skip_metrics import DEPTH
from staleproof.checks.facts.wording import kind_of, listing, participle, short_name, shortened, span
from staleproof.checks.story.outside import Outside, tell_outside
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding
from staleproof.checks.view.life import view
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Closed,
    Committed,
    Competed,
    Continued,
    Delivered,
    Dropped,
    Entry,
    Exited,
    FaultFired,
    FaultOpened,
    Listed,
    Metrics,
    Probed,
    Refused,
    Released,
    Settled,
    Stalled,
    Started,
    StepBegan,
    Stopped,
    StreamId,
    Withheld,
)
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import EVICTION
from staleproof.core.history.request import WRITES
from staleproof.core.wording import part_of

E = TypeVar("E", bound=Entry)
_MADE = 201
FROM_HERE = "from here"
"""With this begins what a story says of a fault that lasts."""
_LOG_LINES, _INDENT = 8, " " * 14
_LIBRARIES = ("panic(", "runtime.", "k8s.io/", "sigs.k8s.io/controller-runtime", "created by ", "goroutine ")
_ENDS = {
    "clean": "the API server closed it",
    "truncated": "it broke off in the middle of an event",
    "reset": "the connection was reset",
    "expired": "410 Expired came as an event",
    "lapsed": "it was closed, and resuming it was answered with a 410 event",
    "gone": "it was closed, and resuming it was answered with HTTP 410",
    "cut": "the connection broke",
    "client": "the controller closed it",
    "refused": "it was refused",
}
_ALWAYS: dict[type[Entry], str] = {
    Released: "every fault had ended: from here it could catch up",
    Continued: "its process went on",
}
_VERBS = {"create": "created", "delete": "deleted", "deletecollection": "deleted", "update": "updated", "patch": "patched"}


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring entries of one kind, by their positions, in a story about a finding."""

    trial: Trial
    finding: Finding
    positions: Sequence[int]

    @property
    def more(self) -> int:
        """How many there are besides the first."""
        return len(self.positions) - 1

    def entries(self, kind: type[E]) -> list[E]:
        """All of them, which are of this kind."""
        return [entry for index in self.positions if isinstance(entry := self.trial.entries[index], kind)]

    def is_witness(self, request: Request | None) -> bool:
        """Whether a request is a witness, so that it has a sentence of its own."""
        return request is not None and not {request.index, request.answer_index}.isdisjoint(self.finding.witnesses)


def tell(group: Group) -> str:
    """The sentence; empty for what needs no telling."""
    return _tell(group.trial.entries[group.positions[0]], group)


@singledispatch
def _tell(first: Entry, group: Group) -> str:
    return _ALWAYS.get(type(first), "")


# --- its requests


@_tell.register
def _asked(first: Asked, group: Group) -> str:
    """The write that is the violation, or the one that was refused."""
    request = group.trial.request_of[first.request]
    answer = request.answer if isinstance(request.answer, Answered) else None
    commit = _commit_of(group.trial, answer.uid) if answer else None
    called = first.name or (answer.name if answer else "")
    name = short_name(commit) if commit else f"{first.resource}{f'/{called}' if called else ''}"
    though = f", {group.finding.though}" if group.finding.though else ""
    evicts = first.subresource == EVICTION
    part = "" if evicts else part_of(first.subresource)
    is_blind = (evicts or first.verb == "delete") and not (first.precondition_uid or first.precondition_revision)
    blind = " without a precondition" if is_blind else ""
    if is_done(request):
        more = f" and wrote {group.more} more" if group.more else ""
        return f"it {_did(request)} {part}{name}{blind}{more}{though}"
    times = f" {len(group.positions)} times" if group.more else ""
    return f"it asked to {'evict' if evicts else first.verb} {part}{name}{times}{though}"


@_tell.register
def _answered(first: Answered, group: Group) -> str:
    """What the controller had read, or done, by then."""
    if first.fault is not None:
        return _unheard(first, group)
    request, answers = group.trial.request_of.get(first.request), group.entries(Answered)
    names = listing([answer.name for answer in answers])
    revisions = span([answer.revision for answer in answers if answer.revision])
    at = f" (resourceVersion {revisions})" if revisions else ""
    status = f"{first.code} {first.reason}".rstrip()
    if request is not None and request.asked.verb not in WRITES:
        found = "" if first.outcome == "ok" else f" and got {status}"
        return f"it read {request.asked.resource}/{names or request.asked.name} live{found}{at}"
    return f"the controller {_did(request)} {names}{at}" if first.outcome == "ok" else f"the API server answered {status}"


def _unheard(answer: Answered, group: Group) -> str:
    """A request that a fault answered, or whose answer it lost."""
    request = group.trial.request_of.get(answer.request)
    what = "a request"
    if request is not None:
        name = request.asked.name or answer.name
        what = f"its {request.asked.verb} of {request.asked.resource}{f'/{name}' if name else ''}"
    if answer.outcome == "ok":
        return f"{what} was answered from the past"
    done = {True: "was executed", False: "was not executed", None: "may have been executed"}[answer.executed]
    heard = f"it got {answer.code} {answer.reason}".rstrip() if answer.code and not answer.executed else "it never heard"
    return f"{what} {done}, {heard}" + (f"; {group.more} more of that kind" if group.more else "")


@_tell.register
def _stalled(first: Stalled, group: Group) -> str:
    return f"its {first.verb} of {first.resource} was kept waiting{_and_more(group)}"


@_tell.register
def _competed(first: Competed, group: Group) -> str:
    when = "before the controller was answered" if first.executed else "first"
    return f"another user wrote to {first.resource}/{first.name} {when} (resourceVersion {first.revision})"


@_tell.register
def _refused(first: Refused, group: Group) -> str:
    what = "WatchList" if first.watch_list else "watch"
    times = f" {len(group.positions)} times" if group.more else ""
    return f"its {what} of {first.resource} was {f'refused with {first.code}' if first.code else 'cut'}{times}"


def is_done(request: Request) -> bool:
    """Whether a write was executed; in doubt it was, as long as nothing says that it was not."""
    answer = request.answer
    refused = isinstance(answer, Answered) and answer.outcome != "ok" and not answer.executed
    return request.asked.verb in WRITES and not refused


def _did(request: Request | None) -> str:
    """A server-side apply that finds nothing there is a create."""
    if request is None:
        return "wrote"
    if request.asked.subresource == EVICTION:
        return "evicted"
    made = isinstance(request.answer, Answered) and request.answer.code == _MADE
    return "created" if made else _VERBS.get(request.asked.verb, "wrote")


# --- what was committed


@_tell.register
def _committed(first: Committed, group: Group) -> str:
    """Changes by other users that it did not know of, and its own that have no other sentence; nothing of bookkeeping."""
    known = group.trial.commit_at
    unmentioned = [known[index] for index in group.positions if index in known and not group.is_witness(known[index].by)]
    entries = [commit.entry for commit in unmentioned]
    if not unmentioned:
        return ""
    if unmentioned[0].by is not None:
        own = listing([short_name(entry) for entry in entries])
        return f"the controller {participle(first)} {own} (resourceVersion {span([entry.revision for entry in entries])})"
    names = list(dict.fromkeys(f"{short_name(entry)} (uid {entry.uid[:8]})" for entry in entries))
    return f"{listing(names)} {'were' if len(names) > 1 else 'was'} {participle(first)}, not by the controller"


def _commit_of(trial: Trial, uid: str) -> Committed | None:
    """A commit of an object, to call it by; None if there is none."""
    return next((entry for _, entry in trial.every(Committed) if entry.uid == uid), None)


# --- what it was shown


@_tell.register
def _delivered(first: Delivered, group: Group) -> str:
    trial, last = group.trial, group.entries(Delivered)[-1]
    if last.type == "BOOKMARK":
        more = f", {len(group.positions)} in all" if group.more else ""
        return f"a bookmark of {_watched(trial, last.stream)} came (resourceVersion {last.revision}){more}"
    commit = _commit_of(trial, last.uid)
    kind = kind_of(commit) if commit else _watched(trial, last.stream)
    end = "the end of " if last.type == "DELETED" else ""
    return f"{end}{kind}/{last.name} was shown (resourceVersion {last.revision}){_during(group)}"


@_tell.register
def _listed(first: Listed, group: Group) -> str:
    last = group.entries(Listed)[-1]
    if last.fault is not None:
        return f"it was given {last.resource} as of resourceVersion {last.revision}, a list of the past{_during(group)}"
    return f"a list of {last.resource} was shown (resourceVersion {last.revision}){_during(group)}"


@_tell.register
def _withheld(first: Withheld, group: Group) -> str:
    resource = _watched(group.trial, first.stream)
    name = f"{resource}/{first.name}" if first.name else f"a bookmark of {resource}"
    return f"news of {name} (resourceVersion {first.revision}) was kept from it{_and_more(group)}"


@_tell.register
def _dropped(first: Dropped, group: Group) -> str:
    return f"a bookmark of {_watched(group.trial, first.stream)} never came" + (f", nor {group.more} more" if group.more else "")


@_tell.register
def _closed(first: Closed, group: Group) -> str:
    resources = dict.fromkeys(_watched(group.trial, closed.stream) for closed in group.entries(Closed))
    return f"its watch of {listing(list(resources))} ended: {_ENDS[first.how]}"


def _watched(trial: Trial, stream: StreamId) -> str:
    return trial.resource_of(stream) or "something"


def _during(group: Group) -> str:
    """In which step of the workload the last of them was."""
    steps = [entry for _, entry in group.trial.every(StepBegan, until=group.positions[-1])]
    return f", in step {steps[-1].step}: {shortened(steps[-1].does)}" if steps else ""


def _and_more(group: Group) -> str:
    return f", and {group.more} more" if group.more else ""


# --- external systems


@_tell.register
def _outside(first: Outside, group: Group) -> str:
    return tell_outside([entry for index in group.positions if isinstance(entry := group.trial.entries[index], Outside)])


# --- faults, phases, its process, its metrics


@_tell.register
def _fault_opened(first: FaultOpened, group: Group) -> str:
    parts = []
    for index, entry in zip(group.positions, group.entries(FaultOpened), strict=True):
        fault = group.trial.plan.faults[entry.fault]
        newest = view(group.trial, index).newest(fault.resource)
        shown = f"; it had been shown {fault.resource} up to resourceVersion {newest}" if newest else ""
        parts.append(f"{FROM_HERE} ({entry.why}) {fault.phrase}{shown}")
    return "; ".join(parts)


@_tell.register
def _fault_fired(first: FaultFired, group: Group) -> str:
    return f"{group.trial.plan.faults[first.fault].phrase}, first noticed with {first.on}"


@_tell.register
def _settled(first: Settled, group: Group) -> str:
    return "it had converged and was quiet" if first.ok else f"it had not converged {first.why}"


@_tell.register
def _stopped(first: Stopped, group: Group) -> str:
    is_gentle = first.fault is None or "terminates" in group.trial.plan.faults[first.fault].effects
    return "its process was paused" if first.paused else f"the controller was {'stopped' if is_gentle else 'killed'}"


def _telling(lines: list[str]) -> list[str]:
    """The end of a log; of a Go program that panicked, what it says and the frames of its own, without those of libraries."""
    began = next((index for index, line in reversed(list(enumerate(lines))) if line.startswith("panic: ")), None)
    if began is None:
        return lines[-_LOG_LINES:]
    frames = list(zip(lines[began + 1 :], lines[began + 2 :], strict=False))
    own = [each for each in frames if each[1].startswith("\t") and not each[0].startswith(("\t", *_LIBRARIES))]
    return [lines[began], *(line for each in own[: _LOG_LINES // 2] for line in each)] if own else lines[-_LOG_LINES:]


@_tell.register
def _exited(first: Exited, group: Group) -> str:
    lines = _telling([line for line in group.entries(Exited)[-1].log if line.strip()])
    ends = ", and its log ends:" if lines else ""
    again = f"{_and_more(group)} of that kind" if group.more else ""
    return "\n".join(
        [f"its process exited by itself with {code_of(first)}{again}{ends}", *(f"{_INDENT}| {line}" for line in lines)]
    )


@_tell.register
def _probed(first: Probed, group: Group) -> str:
    what = "did something about it" if first.works else "did nothing about it"
    return f"a new object was made, as in the first step, and it {what} in {first.waited:.1f} s"


@_tell.register
def _started(first: Started, group: Group) -> str:
    is_new = group.entries(Started)[-1].life > 1
    return "the controller was started again, and had been shown nothing yet" if is_new else ""


@_tell.register
def _metrics(first: Metrics, group: Group) -> str:
    samples = [sample for sample in group.entries(Metrics)[-1].samples if not sample.name.endswith(DEPTH)]
    said = [f"{sample.name} of {sample.labels.get('resource', '?')} was {sample.value}" for sample in samples]
    return f"its metrics were read: {listing(said) or 'nothing of this'}"
