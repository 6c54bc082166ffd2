"""What lies behind a finding, and how bad it is.

How bad it is follows from the write that is the violation, unless the rule knows better: a delete destroys, a create duplicates, an
update undoes. An end with more than there should be, because the controller made more, is a duplicate as well. What the controller
itself mended within seconds is transient, except for what it destroyed or duplicated: data does not come back, and what was done
twice was done.

A cause is a situation, the first thing that the controller did about it in the trial, and a resource. Different faults may put a
controller into one situation (`SITUATIONS`): it does not matter to its author whether its view was held or late. Where an old list
misled it, to ask for such a list was the first decision, whatever followed from it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from staleproof.checks.but_for import is_compared
from staleproof.checks.ends.convergence import converged
from staleproof.checks.ends.hull import ends_with_more
from staleproof.checks.facts.roles import Role
from staleproof.checks.requirement import Requirement
from staleproof.checks.surplus import surplus, usual
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Cause, Finding, Severity, Verdict
from staleproof.core.fault import AnyFault, Effect
from staleproof.core.fault.model import ANY
from staleproof.core.history.entry import (
    Answered,
    Asked,
    Called,
    Closed,
    Committed,
    Competed,
    Drifted,
    ExternalState,
    FaultFired,
    FaultOpened,
    Listed,
    Stopped,
    SystemTurned,
    Withheld,
)
from staleproof.core.history.flatten import flatten
from staleproof.core.history.history import Request
from staleproof.core.history.provenance import EVICTION
from staleproof.core.history.request import WRITES
from staleproof.core.plan.manifest import content_of
from staleproof.core.plan.step import Patch, parts
from staleproof.core.times import HEALED_SECONDS
from staleproof.core.wording import part_of

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


SITUATIONS = (
    _Situation("past list", frozenset({"rewinds"}), "your client lists {} with resourceVersion 0", is_decision=True),
    _Situation("old view", frozenset({"hides", "lags", "pauses"}), "on an old view of {}"),
    _Situation("states missed", frozenset({"skips"}), "without having seen every state of {}"),
    _Situation("expiry", frozenset({"expires"}), "after its {} stream got 410 Expired"),
    _Situation("slow start", frozenset({"slows-start"}), "before it was shown its first list of {}"),
    _Situation("lost answer", frozenset({"loses"}), "after an answer about {} was lost"),
    _Situation("rival", frozenset({"competes"}), "after another user wrote to {}"),
    _Situation("rejection", frozenset({"rejects"}), "after a request about {} was rejected"),
    _Situation("lost call", frozenset({"loses-calls"}), "after the answer to a call to an external system was lost"),
    _Situation("rejected call", frozenset({"rejects-calls"}), "after a call to an external system was rejected"),
    _Situation("lost notification", frozenset({"loses-notifications"}), "after a notification of an external system was lost"),
    _Situation("restart", frozenset({"restarts", "kills", "terminates"}), "after a restart"),
    _Situation("lost connection", frozenset({"cuts", "disconnects"}), "after it lost its {} stream"),
    _Situation("slow answer", frozenset({"slows"}), "after a late answer about {}"),
    _Situation("slow call", frozenset({"slows-calls"}), "after a late answer of an external system"),
    _Situation(
        "late notification",
        frozenset({"slows-notifications", "repeats-notifications"}),
        "after a notification of an external system that was late, or came twice",
    ),
    _Situation(
        "bookmarks", frozenset({"drops-bookmarks", "adds-bookmarks", "refuses-watch-lists"}), "when bookmarks of {} come otherwise"
    ),
    _Situation("hostile", frozenset({"forges"}), "when it is shown what no API server shows of {}"),
)
"""The one that explains most comes first."""
_PAST_WATCH = _Situation(
    "past watch", frozenset({"rewinds"}), "your client watches {} from any resourceVersion (0, or none)", is_decision=True
)
"""In place of the past list, for a client that lists nothing: its watch begins with the state of some API server, which may lag."""
_DRIFT = _Situation("drift", frozenset(), "after something in {} was changed by another user")
_OUTSIDE = _Situation("outside", frozenset(), "with what it keeps in {}")
"""In external systems: the first whatever faults there were, the second without any."""


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a finding comes from: a situation (None: no fault), a resource, and the write that is the violation, if any."""

    situation: _Situation | None
    resource: str
    write: Request | None


def with_causes(trial: Trial, verdicts: Sequence[tuple[Requirement, Verdict]]) -> tuple[Verdict, ...]:
    """The verdicts on one trial, each finding with its severity and its cause. What is not scored explains nothing that is."""
    judged = {scored: _with_causes(trial, [each for each in verdicts if each[0].scored is scored]) for scored in (True, False)}
    return tuple(next(judged[rule.scored]) for rule, _ in verdicts)


def _with_causes(trial: Trial, verdicts: Sequence[tuple[Requirement, Verdict]]) -> Iterator[Verdict]:
    found = _explained({id(finding): _origin(trial, finding) for _, verdict in verdicts for finding in verdict.findings})
    first = _first_decisions(found.values())

    def with_cause(requirement: Requirement, finding: Finding) -> Finding:
        origin = found[id(finding)]
        cause = _cause(origin, first.get((origin.situation, origin.resource)))
        return replace(finding, severity=_severity(trial, requirement, finding, origin.write), cause=cause)

    return (replace(verdict, findings=tuple(with_cause(rule, each) for each in verdict.findings)) for rule, verdict in verdicts)


# --- severity


def _severity(trial: Trial, requirement: Requirement, finding: Finding, write: Request | None) -> Severity:
    by_write = _BY_VERB.get(_verb(write), "undone") if write is not None else "stuck"
    said = finding.severity or requirement.severity or by_write
    if said == "stuck" and finding.basis == "end" and _is_there_too_often(trial):
        return "duplicated"
    if write is None or said not in ("undone", "stuck") or finding.basis == "unfinished":
        return said
    is_healed = _is_taken_back(trial, finding) if said == "undone" else is_compared(trial) and converged(trial)
    return "transient" if is_healed else said


def _is_there_too_often(trial: Trial) -> bool:
    """Whether the controller has made more of a role than any reference, and ended with more. What grows with changes of the
    primary in references, too, may be no more than a record of them."""
    roles = {each.deed.role for each in surplus(trial) if each.deed.verb == "create" and each.in_all}
    return any(ends_with_more(trial, role) and not _grows_with_changes(trial, role) for role in roles)


def _grows_with_changes(trial: Trial, role: Role) -> bool:
    changes = (number for number, step in enumerate(trial.plan.steps, 1) if any(isinstance(part, Patch) for part in parts(step)))
    return any(usual(trial)(role, number).most > usual(trial)(role, number - 1).most for number in changes)


def _verb(write: Request) -> str:
    """What it did: an update or a patch may have made the object, and an eviction deletes it."""
    if write.asked.subresource == EVICTION:
        return "delete"
    is_made = isinstance(write.answer, Answered) and write.answer.code == _MADE
    return "create" if is_made else write.asked.verb


def _is_taken_back(trial: Trial, finding: Finding) -> bool:
    """Whether the object soon held again what it had held before it was changed."""
    commits = [trial.commit_at[index] for index in finding.witnesses if index in trial.commit_at]
    commit = next((each for each in reversed(commits) if each.by is not None and each.before is not None), None)
    if commit is None:
        return False
    every = (entry for _, entry in trial.every(Committed, since=commit.index + 1) if entry.uid == commit.entry.uid)
    soon = [entry.object for entry in every if entry.at <= trial.at(commit.index) + HEALED_SECONDS]
    wanted, wrong, *later = (dict(flatten(content_of(obj), {})) for obj in (commit.before or {}, commit.entry.object, *soon))
    changed = {path for path in wanted.keys() | wrong.keys() if wanted.get(path) != wrong.get(path)}
    return any(all(content.get(path) == wanted.get(path) for path in changed) for content in later)


# --- cause


def _origin(trial: Trial, finding: Finding) -> _Origin:
    write, outside = _decisive(trial, finding), _outside(trial, finding)
    if outside is not None and outside[0] is _DRIFT:
        return _Origin(*outside, write)
    faults = _faults(trial, finding, write)
    for situation in SITUATIONS:
        concerned = [fault for fault in faults if not situation.effects.isdisjoint(fault.effects)]
        if concerned:
            primary = (fault for fault in concerned if fault.resource in trial.primaries)
            resource = "" if situation.name == "restart" else next(primary, concerned[0]).resource
            if resource == ANY and situation.name == "old view" and write is not None and write.asked.verb == "create":
                resource = write.asked.resource  # what is made again was not seen
            return _Origin(_as_read(trial, situation, resource), resource, write)
    return _Origin(*outside, write) if outside is not None else _Origin(None, "", write)


def _outside(trial: Trial, finding: Finding) -> tuple[_Situation, str] | None:
    """The situation in an external system that the witnesses are about, and the system; None if they are about none."""
    entries = [trial.entries[index] for index in finding.witnesses]
    drifted = next((entry.system for entry in entries if isinstance(entry, Drifted)), "")
    system = next((entry.system for entry in entries if isinstance(entry, Called | ExternalState | SystemTurned)), "")
    return (_DRIFT, drifted) if drifted else (_OUTSIDE, system) if system else None


def _as_read(trial: Trial, situation: _Situation, resource: str) -> _Situation:
    """A client that was shown the past without any LIST was shown it by a WATCH."""
    if situation.effects.isdisjoint(_PAST_WATCH.effects):
        return situation
    is_listed = any(entry.fault is not None and resource in (ANY, entry.resource) for _, entry in trial.every(Listed))
    return situation if is_listed else _PAST_WATCH


def _explained(origins: Mapping[int, _Origin]) -> dict[int, _Origin]:
    """An end that is not as it should be comes from the first write on an old view, if there was one; if not, from what explains
    most of all that is said of it. What is outside does not."""
    writes = [origin for origin in origins.values() if origin.write is not None]
    first = min(writes, key=lambda origin: origin.write.index if origin.write is not None else 0, default=None)
    own = {key for key, origin in origins.items() if origin.write or origin.situation in (_DRIFT, _OUTSIDE)}
    ends = (origin for key, origin in origins.items() if key not in own)
    because = replace(first, write=None) if first is not None else min(ends, key=_explains, default=None)
    return {key: origin if key in own or because is None else because for key, origin in origins.items()}


def _explains(origin: _Origin) -> int:
    """How many situations explain more."""
    known = (_PAST_WATCH, *SITUATIONS)
    return known.index(origin.situation) if origin.situation in known else len(known)


def _decisive(trial: Trial, finding: Finding) -> Request | None:
    """The last write among the witnesses."""
    writes = [entry for index in finding.witnesses if isinstance(entry := trial.entries[index], Asked) and entry.verb in WRITES]
    return trial.request_of.get(writes[-1].request) if writes else None


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
    writes = [(origin.write, (origin.situation, origin.resource)) for origin in origins if origin.write is not None]
    return {about: write for write, about in sorted(writes, key=lambda each: each[0].index, reverse=True)}


def _cause(origin: _Origin, first: Request | None) -> Cause:
    situation, resource = origin.situation, origin.resource
    decision = ""
    if first is not None:
        evicts = first.asked.subresource == EVICTION
        does = "evicts " if evicts else f"{_DOES[_verb(first)]} {part_of(first.asked.subresource)}"
        decision = f"{does}{first.asked.resource}"
    if situation is None:
        return Cause("none", decision, "", f"it {decision or 'goes wrong'} without any fault")
    says = situation.says.format("everything" if resource == ANY else resource)
    if situation.is_decision:
        return Cause(situation.name, "lists", resource, says)
    return Cause(situation.name, decision, resource, f"it {decision or 'goes wrong'} {says}")
