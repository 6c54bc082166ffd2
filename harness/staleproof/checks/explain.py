"""A finding in plain words: a headline, a few lines told by its witnesses, the remedy. Never a raw object."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.verdict import Finding
from staleproof.core.entry import (
    Answered,
    Asked,
    Committed,
    Delivered,
    Entry,
    FaultFired,
    FaultOpened,
    Listed,
    Opened,
    Released,
    Settled,
)
from staleproof.core.frontier import Frontier
from staleproof.core.history import History

_NAMES = 3


@dataclass(frozen=True, slots=True)
class Story:
    """`lines` are (seconds, sentence)."""

    requirement: str
    headline: str
    lines: tuple[tuple[float, str], ...]
    remedy: str

    def text(self) -> str:
        body = [f"  {at:8.3f} s  {sentence}" for at, sentence in self.lines]
        return "\n".join([f"{self.requirement}  {self.headline}", *body, f"  remedy: {self.remedy}"])


def explain(finding: Finding, history: History) -> Story:
    """Tell a finding from its witnesses. Neighbouring witnesses of one kind become one line."""
    told = _Telling(history)
    lines: list[tuple[float, str]] = []
    for group in _groups(finding.witnesses, history.entries):
        sentence = told.sentence(group)
        if sentence:
            lines.append((history.entries[group[0]].at, sentence))
    return Story(finding.requirement, finding.because, tuple(lines), BY_SLUG[finding.requirement].remedy)


def _groups(witnesses: Sequence[int], entries: Sequence[Entry]) -> list[list[int]]:
    groups: list[list[int]] = []
    for index in witnesses:
        if groups and type(entries[groups[-1][-1]]) is type(entries[index]):
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


class _Telling:
    """Sentences about entries of one history."""

    def __init__(self, history: History) -> None:
        self._entries = history.entries
        self._plan = history.header.plan
        self._asked = {entry.request: entry for entry in history.entries if isinstance(entry, Asked)}
        self._streams = {entry.stream: entry for entry in history.entries if isinstance(entry, Opened)}
        self._sentences: dict[type, Callable[[list[int]], str]] = {
            Answered: self._answered,
            Asked: self._wrote,
            Committed: self._committed,
            FaultOpened: self._fault,
            FaultFired: self._fired,
            Delivered: self._shown,
            Listed: self._listed,
            Released: lambda group: "every fault ended: from here it could catch up",
            Settled: self._settled,
        }

    def sentence(self, group: list[int]) -> str:
        return self._sentences.get(type(self._entries[group[0]]), lambda group: "")(group)

    def _answered(self, group: list[int]) -> str:
        """Own writes that the controller had done by then."""
        answers = [entry for index in group if isinstance(entry := self._entries[index], Answered)]
        asked = self._asked.get(answers[0].request)
        verb = {"create": "created", "delete": "deleted"}.get(asked.verb if asked else "", "wrote")
        revisions = sorted(answer.revision for answer in answers if answer.revision)
        return f"the controller {verb} {_list([answer.name for answer in answers])}{_range(revisions)}"

    def _wrote(self, group: list[int]) -> str:
        """The write that is the violation."""
        asked = self._entries[group[0]]
        assert isinstance(asked, Asked)
        answer = next((e for e in self._entries[group[0] :] if isinstance(e, Answered) and e.request == asked.request), None)
        name = asked.name or (answer.name if answer else "")
        verb = {"create": "created", "delete": "deleted"}.get(asked.verb, "wrote")
        newest = self._frontier(group[0]).newest.get(asked.resource)
        upto = (
            f"had been shown {asked.resource} up to resourceVersion {newest}" if newest else f"had been shown no {asked.resource}"
        )
        precondition = "" if asked.verb != "delete" or asked.precondition_uid else ", without a uid precondition"
        more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
        return f"it {verb} {asked.resource}/{name}{more}{precondition}, though it {upto}"

    def _committed(self, group: list[int]) -> str:
        """Commits by others that it did not know of; the commit of the violation itself is already told."""
        others = [entry for index in group if isinstance(entry := self._entries[index], Committed) and entry.type == "ADDED"]
        own = {entry.uid for entry in self._entries if isinstance(entry, Answered) and entry.uid and self._is_create(entry)}
        names = [f"{entry.resource}/{entry.name} (uid {entry.uid[:8]})" for entry in others if entry.uid not in own]
        return f"{_list(names)} was created, not by the controller" if names else ""

    def _is_create(self, answer: Answered) -> bool:
        asked = self._asked.get(answer.request)
        return asked is not None and asked.verb == "create"

    def _fault(self, group: list[int]) -> str:
        parts = []
        for index in group:
            entry = self._entries[index]
            assert isinstance(entry, FaultOpened)
            fault = self._plan.faults[entry.fault]
            newest = self._frontier(index).newest.get(fault.resource)
            shown = f"; it had been shown {fault.resource} up to resourceVersion {newest}" if newest else ""
            parts.append(f"from here ({entry.why}) {_effect(type(fault).__struct_config__.tag, fault.resource)}{shown}")
        return "; ".join(parts)

    def _fired(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, FaultFired)
        fault = self._plan.faults[entry.fault]
        return f"{_effect(type(fault).__struct_config__.tag, fault.resource)}, first noticed with {entry.on}"

    def _shown(self, group: list[int]) -> str:
        entry = self._entries[group[-1]]
        assert isinstance(entry, Delivered)
        return f"{entry.type} of {self._streams[entry.stream].resource}/{entry.name} was shown (resourceVersion {entry.revision})"

    def _listed(self, group: list[int]) -> str:
        entry = self._entries[group[-1]]
        assert isinstance(entry, Listed)
        return f"a list of {entry.resource} was shown (resourceVersion {entry.revision})"

    def _settled(self, group: list[int]) -> str:
        entry = self._entries[group[0]]
        assert isinstance(entry, Settled)
        return "it had converged and was quiet" if entry.ok else f"the deadline: {entry.why}"

    def _frontier(self, index: int) -> Frontier:
        frontier = Frontier()
        for entry in self._entries[:index]:
            frontier.advance(entry)
        return frontier


def _effect(fault: object, resource: str) -> str:
    held = f"its {resource} stream was held"
    return {"Hold": held, "HideOwnWrite": held, "Delay": f"its {resource} stream was late", "Sever": f"its {resource} stream was cut",
            "Expire": f"its {resource} stream got 410 Expired", "DropBookmarks": f"it got no {resource} bookmarks"}[str(fault)]  # fmt: skip


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")


def _range(revisions: Sequence[int]) -> str:
    if not revisions:
        return ""
    text = f"{revisions[0]}" if revisions[0] == revisions[-1] else f"{revisions[0]}–{revisions[-1]}"
    return f" (resourceVersion {text})"
