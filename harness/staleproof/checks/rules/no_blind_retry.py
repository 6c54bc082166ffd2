"""no-blind-retry: not repeat an own committed write only because it has not been seen: a conflict with oneself.

What counts is an update refused with 409 Conflict although nobody but the controller had changed the object since the version that
it had been shown, and although each of those own writes had been answered before. Only how many there are beyond every reference
is told: several controllers in one program conflict without any fault.

This is a cost and not a failure, so it is provisional: optimistic concurrency makes it harmless, and a controller that keeps no
record of its writes, tries, and comes back later is a correct one. Left out for honesty: AlreadyExists, by which deterministic
names live; patches, whose conflict may be about the ownership of fields; own writes of which it never heard the end; objects that
somebody else wrote to about then.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from staleproof.checks.facts.frontier import Frontier
from staleproof.checks.facts.provenance import Change, Incarnation, incarnations
from staleproof.checks.story.phrases import full_name, plural, span
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.core.entry import Answered, Asked, Competed, Delivered, Entry, Listed, Started, StepBegan
from staleproof.core.history import History, Request, is_work, requests

SLUG = "no-blind-retry"
_CLOSE_SECONDS = 0.5
"""A change by somebody else that was recorded so soon after a conflict may have been its cause."""
_Field = tuple[str, str]
"""Resource and subresource."""


def check(evidence: Evidence) -> Verdict:
    trial = _Look(evidence.history)
    references = [_Look(reference).conflicts for reference in evidence.references]
    findings = []
    for where, conflicts in trial.conflicts.items():
        usual = max((len(found.get(where, ())) for found in references), default=0)
        if len(conflicts) > usual:
            findings.append(_finding(evidence, conflicts, usual))
    if findings:
        return failed(SLUG, findings[:MOST_FINDINGS])
    if not trial.tempted:
        return not_exercised(SLUG, "the controller was never made to look again while an own update was hidden from it")
    return passed(SLUG)


@dataclass(frozen=True, slots=True)
class _Conflict:
    """A refused update, and the own writes that it had not been shown."""

    request: Request
    of: Incarnation
    unseen: Sequence[Change]


@dataclass(slots=True)
class _Look:
    """A fold over one history. `tempted`: something else was shown, or a step began, while an own update was unseen."""

    history: History
    conflicts: dict[_Field, list[_Conflict]] = field(default_factory=lambda: defaultdict(list))
    tempted: bool = False
    _frontier: Frontier = field(default_factory=Frontier)
    _born: int = -1
    _unseen: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        objects = incarnations(self.history)
        refused = {r.index: r for r in requests(self.history.entries) if _is_conflict(r)}
        competed = {entry.request for entry in self.history.entries if isinstance(entry, Competed)}
        answered = {c.by.answer_index: c for of in objects.values() for c in of.changes if c.by and c.commit.type == "MODIFIED"}
        for index, entry in enumerate(self.history.entries):
            if index in refused and refused[index].asked.request not in competed:
                self._judge(refused[index], objects)
            self._frontier.advance(entry)
            self._advance(index, entry, answered)

    def _advance(self, index: int, entry: Entry, answered: Mapping[int | None, Change]) -> None:
        if isinstance(entry, Started):
            self._born = index
            self._unseen.clear()
        change = answered.get(index)
        if change is not None and not self._frontier.has_seen(change.commit.uid, change.commit.revision):
            self._unseen[change.commit.uid] = change.commit.revision
        if self._unseen and isinstance(entry, Delivered | Listed | StepBegan):
            self._unseen = {u: r for u, r in self._unseen.items() if not self._frontier.has_seen(u, r)}
            self.tempted = self.tempted or bool(self._unseen)

    def _judge(self, request: Request, objects: Mapping[str, Incarnation]) -> None:
        of = _target(request, self.history, objects)
        answer_index = request.answer_index
        if of is None or answer_index is None:
            return
        shown = self._frontier.shown.get(of.uid, -1)
        until = self.history.entries[answer_index].at + _CLOSE_SECONDS
        newer = [change for change in of.changes if change.commit.revision > shown and change.commit.at <= until]
        unseen = [change for change in newer if self._is_known(change, request)]
        others = [change for change in newer if change.by is None or (change.index < request.index and change not in unseen)]
        if unseen and not others:
            self.conflicts[request.asked.resource, request.asked.subresource].append(_Conflict(request, of, unseen))

    def _is_known(self, change: Change, request: Request) -> bool:
        """Whether this life of the controller made the change and had heard so before it asked again."""
        by = change.by
        return by is not None and by.answer_index is not None and self._born < by.index and by.answer_index < request.index


def _is_conflict(request: Request) -> bool:
    answer = request.answer
    refused = isinstance(answer, Answered) and answer.outcome == "fail" and answer.code == 409 and answer.reason == "Conflict"
    return refused and request.asked.verb == "update" and is_work(request.asked)


def _target(request: Request, history: History, objects: Mapping[str, Incarnation]) -> Incarnation | None:
    """The incarnation that has the name at that moment."""
    asked: Asked = request.asked
    found = [of for of in objects.values() if (of.resource, of.first.commit.name) == (asked.resource, asked.name)]
    there = [of for of in found if of.first.index < request.index and asked.namespace == history.header.namespace]
    return max(there, key=lambda of: of.first.commit.revision, default=None)


def _finding(evidence: Evidence, conflicts: Sequence[_Conflict], usual: int) -> Finding:
    last = conflicts[-1]
    asked = last.request.asked
    part = f"the {asked.subresource} of " if asked.subresource else ""
    times = plural(len(conflicts), "update")
    because = (
        f"{times} of {part}{full_name(last.of.last.commit)} {'was' if len(conflicts) == 1 else 'were'} refused with 409 Conflict "
        f"because of the controller's own writes; fault-free runs had {f'at most {usual}' if usual else 'none'}"
    )
    though = f"though it had not been shown its own writes {span([change.commit.revision for change in last.unseen])}"
    answered = [change.by.answer_index for change in last.unseen if change.by and change.by.answer_index is not None]
    return Finding(SLUG, because, context(evidence, answered, last.request.index, last.request.answer_index or 0), though)
