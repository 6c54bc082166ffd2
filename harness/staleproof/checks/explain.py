"""A finding in plain words: a headline, a few lines told by its witnesses, the remedy. Never a raw object."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.planned_faults import hostility
from staleproof.checks.verdict import Finding
from staleproof.checks.words import effect_of, kind_of, listing, short_name, span
from staleproof.core.entry import (
    Answered,
    Asked,
    Committed,
    Competed,
    Continued,
    Delivered,
    Entry,
    FaultFired,
    FaultOpened,
    Listed,
    Opened,
    Refused,
    Released,
    Settled,
    Stalled,
    Started,
    StepBegan,
    Stopped,
)
from staleproof.core.frontier import Frontier
from staleproof.core.history import History

_LONGEST = 70
_VERBS = {"create": "created", "delete": "deleted", "deletecollection": "deleted", "update": "updated", "patch": "patched"}
_ASIDES = 8
"""So many things that happened meanwhile are told besides the witnesses."""


@dataclass(frozen=True, slots=True)
class Story:
    """`lines` are (seconds, sentence). `heading` is there when it proves nothing about conformance, and says why."""

    requirement: str
    headline: str
    lines: tuple[tuple[float, str], ...]
    remedy: str
    heading: str = ""

    def text(self) -> str:
        body = [f"  {at:8.3f} s  {sentence}" for at, sentence in self.lines]
        heading = [self.heading] if self.heading else []
        return "\n".join([*heading, f"{self.requirement}  {self.headline}", *body, f"  remedy: {self.remedy}"])


def explain(finding: Finding, history: History) -> Story:
    """Tell a finding from its witnesses, and what was done to the controller between the first and the last of them.

    Neighbouring entries of one kind become one line.
    """
    told = _Telling(history, finding)
    hostile = hostility(history.header.plan)
    heading = f"Not about conformance: no API server does this. It was found under {hostile}:" if hostile else ""
    lines: list[tuple[float, str]] = []
    for group in _groups(sorted({*finding.witnesses, *told.asides(finding.witnesses)}), history.entries):
        sentence = told.sentence(group)
        if sentence:
            lines.append((history.entries[group[0]].at, sentence))
    return Story(finding.requirement, finding.because, tuple(lines), BY_SLUG[finding.requirement].remedy, heading)


def _groups(witnesses: Sequence[int], entries: Sequence[Entry]) -> list[list[int]]:
    groups: list[list[int]] = []
    for index in witnesses:
        if groups and _kind(entries[groups[-1][-1]]) == _kind(entries[index]):
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _kind(entry: Entry) -> tuple[type, bool]:
    """Answers that a fault gave are another matter than the API server's."""
    return type(entry), isinstance(entry, Answered) and entry.fault is not None


class _Telling:
    """Sentences about entries of one history."""

    def __init__(self, history: History, finding: Finding) -> None:
        self._entries = history.entries
        self._plan = history.header.plan
        self._though = finding.though
        self._asked = {entry.request: entry for entry in history.entries if isinstance(entry, Asked)}
        self._answers = {entry.request: entry for entry in history.entries if isinstance(entry, Answered)}
        self._streams = {entry.stream: entry for entry in history.entries if isinstance(entry, Opened)}
        self._commits = {entry.uid: entry for entry in history.entries if isinstance(entry, Committed)}
        self._sentences: dict[type, Callable[[list[int]], str]] = {
            Answered: self._answered,
            Asked: self._wrote,
            Committed: self._committed,
            FaultOpened: self._fault,
            FaultFired: self._fired,
            Delivered: self._shown,
            Listed: self._listed,
            Released: lambda group: "every fault had ended: from here it could catch up",
            Settled: self._settled,
            Stalled: self._stalled,
            Refused: self._refused,
            Competed: self._competed,
            Stopped: self._stopped,
            Started: self._started,
            Continued: lambda group: "its process went on",
        }

    def asides(self, witnesses: Sequence[int]) -> list[int]:
        """What no checker counts and no story should leave out: its process, and what a fault did to its requests."""
        if not witnesses:
            return []
        between = range(witnesses[0], witnesses[-1])
        return [index for index in between if self._is_aside(self._entries[index])][-_ASIDES:]

    def _is_aside(self, entry: Entry) -> bool:
        match entry:
            case Stopped() | Continued() | Competed() | Stalled():
                return True
            case Started(life=life):
                return life > 1
            case Refused(fault=fault) | Listed(fault=fault) | Answered(fault=fault):
                return fault is not None
        return False

    def sentence(self, group: list[int]) -> str:
        """Empty for what needs no telling."""
        tell = self._sentences.get(type(self._entries[group[0]]))
        return tell(group) if tell is not None else ""

    def _answered(self, group: list[int]) -> str:
        """Own writes that the controller had done by then."""
        answers = [entry for index in group if isinstance(entry := self._entries[index], Answered)]
        if answers[0].fault is not None:
            return self._unheard(answers[0], len(answers) - 1)
        asked = self._asked.get(answers[0].request)
        verb = _VERBS.get(asked.verb if asked else "", "wrote")
        revisions = span([answer.revision for answer in answers if answer.revision])
        return f"the controller {verb} {listing([answer.name for answer in answers])}" + (
            f" (resourceVersion {revisions})" if revisions else ""
        )

    def _unheard(self, answer: Answered, more: int) -> str:
        """A request that a fault answered, or whose answer it lost."""
        asked = self._asked.get(answer.request)
        name = (asked.name if asked else "") or answer.name
        what = f"its {asked.verb} of {asked.resource}{f'/{name}' if name else ''}" if asked else "a request"
        if answer.outcome == "ok":
            return f"{what} was answered from the past"
        done = {True: "was executed", False: "was not executed", None: "may have been executed"}[answer.executed]
        told = f"it was told {answer.code} {answer.reason}".rstrip() if answer.code and not answer.executed else "it never heard"
        return f"{what} {done}, {told}" + (f"; {more} more of that kind" if more else "")

    def _stalled(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Stalled)
        return f"its {entry.verb} of {entry.resource} was kept waiting" + (f", and {len(group) - 1} more" if len(group) > 1 else "")

    def _refused(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Refused)
        what = "WatchList" if entry.watch_list else "watch"
        times = f" {len(group)} times" if len(group) > 1 else ""
        return f"its {what} of {entry.resource} was {f'refused with {entry.code}' if entry.code else 'cut'}{times}"

    def _competed(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Competed)
        return f"somebody else wrote to {entry.resource}/{entry.name} first (resourceVersion {entry.revision})"

    def _stopped(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Stopped)
        return "its process was paused" if entry.paused else f"its process was ended (life {entry.life})"

    def _started(self, group: list[int]) -> str:
        entry = self._entries[group[-1]]
        assert isinstance(entry, Started)
        return f"it was started again (life {entry.life}) and had been shown nothing" if entry.life > 1 else ""

    def _wrote(self, group: list[int]) -> str:
        """The write that is the violation."""
        asked = self._entries[group[0]]
        assert isinstance(asked, Asked)
        answer = self._answers.get(asked.request)
        commit = self._commits.get(answer.uid) if answer else None
        name = short_name(commit) if commit else f"{asked.resource}/{asked.name or (answer.name if answer else '')}"
        part = f"the {asked.subresource} of " if asked.subresource else ""
        blind = " without a precondition" if asked.verb == "delete" and not _guarded(asked) else ""
        more = f" and wrote {len(group) - 1} more" if len(group) > 1 else ""
        return f"it {_VERBS.get(asked.verb, 'wrote')} {part}{name}{blind}{more}" + (f", {self._though}" if self._though else "")

    def _committed(self, group: list[int]) -> str:
        """Commits by others that it did not know of; the commit of the violation itself is already told."""
        others = [entry for index in group if isinstance(entry := self._entries[index], Committed) and entry.type == "ADDED"]
        own = {uid for entry in self._answers.values() if (uid := entry.uid) and self._is_create(entry)}
        names = [f"{short_name(entry)} (uid {entry.uid[:8]})" for entry in others if entry.uid not in own]
        return f"{listing(names)} {'were' if len(names) > 1 else 'was'} created, not by the controller" if names else ""

    def _is_create(self, answer: Answered) -> bool:
        asked = self._asked.get(answer.request)
        return asked is not None and asked.verb == "create"

    def _fault(self, group: list[int]) -> str:
        parts = []
        for index in group:
            entry = self._entries[index]
            assert isinstance(entry, FaultOpened)
            fault = self._plan.faults[entry.fault]
            newest = self._newest(index, fault.resource)
            shown = f"; it had been shown {fault.resource} up to resourceVersion {newest}" if newest else ""
            parts.append(f"from here ({entry.why}) {self._effect(entry.fault)}{shown}")
        return "; ".join(parts)

    def _effect(self, fault: int) -> str:
        return effect_of(self._plan.faults[fault])

    def _fired(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, FaultFired)
        return f"{self._effect(entry.fault)}, first noticed with {entry.on}"

    def _shown(self, group: list[int]) -> str:
        entry = self._entries[group[-1]]
        assert isinstance(entry, Delivered)
        commit = self._commits.get(entry.uid)
        kind = kind_of(commit) if commit else self._streams[entry.stream].resource
        end = "the end of " if entry.type == "DELETED" else ""
        return f"{end}{kind}/{entry.name} was shown (resourceVersion {entry.revision}){self._during(group[-1])}"

    def _listed(self, group: list[int]) -> str:
        entry = self._entries[group[-1]]
        assert isinstance(entry, Listed)
        past = " of the past" if entry.fault is not None else ""
        return f"a list{past} of {entry.resource} was shown (resourceVersion {entry.revision}){self._during(group[-1])}"

    def _during(self, index: int) -> str:
        """Which step of the workload that was."""
        steps = [entry for entry in self._entries[:index] if isinstance(entry, StepBegan)]
        return f", in step {steps[-1].step}: {_short(steps[-1].does)}" if steps else ""

    def _settled(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Settled)
        return "it had converged and was quiet" if entry.ok else f"it had not converged {entry.why}"

    def _newest(self, index: int, resource: str) -> int | None:
        frontier = Frontier()
        for entry in self._entries[:index]:
            frontier.advance(entry)
        return frontier.newest.get(resource)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _guarded(asked: Asked) -> bool:
    return bool(asked.precondition_uid or asked.precondition_revision)
