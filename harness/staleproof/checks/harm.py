"""What a finding does to people, and what lies behind it.

How bad it is follows from the write that is the violation, unless the rule knows better: a delete destroys, a create duplicates, an
update undoes. What the controller itself mended within seconds is transient, except for what it destroyed or duplicated: data does
not come back, and what was done twice was done.

A cause is a fault, the first thing that the controller did about it in the trial, and a resource. Faults that put a controller into
the same situation are one (`SITUATIONS`): it does not matter to its author whether its view was held or late. Where an old list
misled it, to ask for such a list was the first decision, whatever followed from it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from staleproof.checks.ends.convergence import converged
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Cause, Finding, Severity, Verdict
from staleproof.core.fault import AnyFault, Effect
from staleproof.core.fault.model import ANY
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Closed,
    Committed,
    Competed,
    FaultFired,
    FaultOpened,
    Listed,
    Stopped,
    Withheld,
)
from staleproof.core.history.flatten import flatten
from staleproof.core.history.history import Request
from staleproof.core.history.request import WRITES
from staleproof.core.plan.manifest import Manifest, content_of
from staleproof.core.times import HEALED_SECONDS

_BY_VERB: Mapping[str, Severity] = {"delete": "destroyed", "deletecollection": "destroyed", "create": "duplicated"}
_DOES = {
    "create": "creates",
    "update": "updates",
    "patch": "patches",
    "delete": "deletes",
    "deletecollection": "deletes a collection of",
}
_MADE = 201


@dataclass(frozen=True, slots=True)
class _Situation:
    """What faults with these effects put a controller into. `says` ends a sentence, or is one (`is_decision`)."""

    name: str
    effects: frozenset[Effect]
    says: str
    is_decision: bool = False


def _situation(name: str, says: str, *effects: Effect, is_decision: bool = False) -> _Situation:
    return _Situation(name, frozenset(effects), says, is_decision)


SITUATIONS = (
    _situation("past list", "your client lists {} with resourceVersion 0", "rewinds", is_decision=True),
    _situation("old view", "on an old view of {}", "hides", "lags", "pauses"),
    _situation("states missed", "without having seen every state of {}", "skips"),
    _situation("expiry", "after its {} stream got 410 Expired", "expires"),
    _situation("slow start", "before it was shown its first list of {}", "slows-start"),
    _situation("lost answer", "after an answer about {} was lost", "loses"),
    _situation("rival", "after somebody else wrote to {}", "competes"),
    _situation("rejection", "after a request about {} was rejected", "rejects"),
    _situation("restart", "after a restart", "restarts", "kills", "terminates"),
    _situation("lost connection", "after it lost its {} stream", "cuts", "disconnects"),
    _situation("slow answer", "after a late answer about {}", "slows"),
    _situation("bookmarks", "when bookmarks of {} come otherwise", "drops-bookmarks", "adds-bookmarks", "refuses-watch-lists"),
    _situation("hostile", "when it is shown what no API server shows of {}", "forges"),
)
"""The one that explains most comes first."""
_PAST_WATCH = _situation("past watch", "your client watches {} from any resourceVersion (0, or none)", "rewinds", is_decision=True)
"""In place of the past list, for a client that lists nothing: its watch begins with the state of some API server, which may lag."""


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a finding comes from: a situation (None: no fault), a resource, and the write that is the violation, if any."""

    situation: _Situation | None
    resource: str
    write: Request | None


def with_harm(trial: Trial, verdicts: Sequence[tuple[Requirement, Verdict]]) -> tuple[Verdict, ...]:
    """The verdicts on one trial, each finding with its severity and its cause. What is not scored explains nothing that is."""
    scored = iter(_with_harm(trial, [(rule, verdict) for rule, verdict in verdicts if rule.scored]))
    others = iter(_with_harm(trial, [(rule, verdict) for rule, verdict in verdicts if not rule.scored]))
    return tuple(next(scored if rule.scored else others) for rule, _ in verdicts)


def _with_harm(trial: Trial, verdicts: Sequence[tuple[Requirement, Verdict]]) -> tuple[Verdict, ...]:
    found = {id(finding): _origin(trial, finding) for _, verdict in verdicts for finding in verdict.findings}
    found = _explained(found)
    first = _first_decisions(found.values())

    def told(requirement: Requirement, finding: Finding) -> Finding:
        origin = found[id(finding)]
        cause = _cause(origin, first.get((origin.situation, origin.resource)))
        return replace(finding, severity=_severity(trial, requirement, finding, origin.write), cause=cause)

    return tuple(replace(verdict, findings=tuple(told(rule, each) for each in verdict.findings)) for rule, verdict in verdicts)


# --- severity


def _severity(trial: Trial, requirement: Requirement, finding: Finding, write: Request | None) -> Severity:
    usual = finding.severity or requirement.severity or (_done_by(write) if write is not None else "stuck")
    if write is None or usual not in ("undone", "stuck"):
        return usual
    is_healed = _is_taken_back(trial, finding) if usual == "undone" else bool(trial.references) and converged(trial)
    return "transient" if is_healed else usual


def _done_by(write: Request) -> Severity:
    made = isinstance(write.answer, Answered) and write.answer.code == _MADE
    return "duplicated" if made else _BY_VERB.get(write.asked.verb, "undone")


def _is_taken_back(trial: Trial, finding: Finding) -> bool:
    """Whether the object soon held again what it had held before it was changed."""
    commits = [trial.commit_at[index] for index in finding.witnesses if index in trial.commit_at]
    commit = next((each for each in reversed(commits) if each.by is not None and each.before is not None), None)
    if commit is None:
        return False
    wanted, wrong, latest = _content(commit.before or {}), _content(commit.entry.object), trial.at(commit.index) + HEALED_SECONDS
    changed = {path for path in wanted.keys() | wrong.keys() if wanted.get(path) != wrong.get(path)}
    every = (entry for _, entry in trial.every(Committed, since=commit.index + 1) if entry.uid == commit.entry.uid)
    later = [_content(entry.object) for entry in every if entry.at <= latest]
    return any(all(content.get(path) == wanted.get(path) for path in changed) for content in later)


def _content(obj: Manifest) -> Mapping[str, object]:
    return dict(flatten(content_of(obj), {}))


# --- cause


def _origin(trial: Trial, finding: Finding) -> _Origin:
    write = _decisive(trial, finding)
    faults = _faults(trial, finding, write)
    for situation in SITUATIONS:
        concerned = [fault for fault in faults if not situation.effects.isdisjoint(fault.effects)]
        if concerned:
            primary = (fault for fault in concerned if fault.resource in trial.primaries)
            resource = "" if situation.name == "restart" else next(primary, concerned[0]).resource
            return _Origin(_as_read(trial, situation, resource), resource, write)
    return _Origin(None, "", write)


def _as_read(trial: Trial, situation: _Situation, resource: str) -> _Situation:
    """A client that was shown the past without any LIST was shown it by a WATCH."""
    if situation.effects.isdisjoint(_PAST_WATCH.effects):
        return situation
    is_listed = any(entry.fault is not None and resource in (ANY, entry.resource) for _, entry in trial.every(Listed))
    return situation if is_listed else _PAST_WATCH


def _explained(origins: Mapping[int, _Origin]) -> dict[int, _Origin]:
    """An end that is not as it should be comes from the first write on an old view, if there was one."""
    writes = [origin for origin in origins.values() if origin.write is not None]
    first = min(writes, key=lambda origin: origin.write.index if origin.write is not None else 0, default=None)
    return {key: origin if origin.write or not first else replace(first, write=None) for key, origin in origins.items()}


def _decisive(trial: Trial, finding: Finding) -> Request | None:
    """The last write among the witnesses."""
    asked = [entry for index in finding.witnesses if isinstance(entry := trial.entries[index], Asked) and entry.verb in WRITES]
    return trial.request_of.get(asked[-1].request) if asked else None


def _faults(trial: Trial, finding: Finding, write: Request | None) -> list[AnyFault]:
    """Those that fired and that the witnesses name, or by whose lists of the past the same life went; or else all that fired."""
    named = {number for index in finding.witnesses for number in _named(trial, index)}
    if write is not None:
        lists = trial.every(Listed, since=trial.life_began(write.index), until=write.index)
        named |= {entry.fault for _, entry in lists if entry.fault is not None}
    return [fault for number, fault in trial.fired.items() if number in named] or list(trial.fired.values())


def _named(trial: Trial, index: int) -> Iterator[int]:
    match trial.entries[index]:
        case FaultOpened(fault=fault) | FaultFired(fault=fault) | Competed(fault=fault):
            yield fault
        case Listed(fault=int(fault)) | Answered(fault=int(fault)) | Withheld(fault=int(fault)):
            yield fault
        case Closed(fault=int(fault)) | Stopped(fault=int(fault)):
            yield fault


def _first_decisions(origins: Iterable[_Origin]) -> Mapping[tuple[_Situation | None, str], Request]:
    """The first violating write of each situation and resource."""
    writes: dict[tuple[_Situation | None, str], list[Request]] = defaultdict(list)
    for origin in origins:
        if origin.write is not None:
            writes[origin.situation, origin.resource].append(origin.write)
    return {about: min(found, key=lambda request: request.index) for about, found in writes.items()}


def _cause(origin: _Origin, first: Request | None) -> Cause:
    situation, resource = origin.situation, origin.resource
    decision = _decision(first) if first is not None else ""
    if situation is None:
        return Cause("none", decision, "", f"it {decision or 'goes wrong'} without any fault")
    says = situation.says.format("everything" if resource == ANY else resource)
    if situation.is_decision:
        return Cause(situation.name, "lists", resource, says)
    return Cause(situation.name, decision, resource, f"it {decision or 'goes wrong'} {says}")


def _decision(request: Request) -> str:
    asked = request.asked
    made = isinstance(request.answer, Answered) and request.answer.code == _MADE
    part = f"the {asked.subresource} of " if asked.subresource else ""
    return f"{'creates' if made else _DOES[asked.verb]} {part}{asked.resource}"
