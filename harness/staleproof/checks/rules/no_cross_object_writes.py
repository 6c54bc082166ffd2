"""no-cross-object-writes: touch only objects that it owns or is asked to manage.

A finding needs a write that was carried out, after a fault had fired, on an object that is none of these:

1. of the workload, or owned by it at whatever depth, before or after the write (adopting and releasing is managing); owners that
   are gone by then are owners;
2. one that a competing write of a fault had made;
3. mentioned by name in an object of the workload, or in one that it owns: then the controller was asked to manage it;
4. like one that a reference wrote to: of the same resource, and owned by nobody of the workload either.

It is provisional: what a controller may touch is known from two runs only, and it may have good reasons that show under a fault.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from staleproof.checks.facts.provenance import Incarnation, incarnations
from staleproof.checks.story.phrases import full_name
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.core.entry import Answered, Competed, FaultFired
from staleproof.core.history import History, Request, is_work, requests
from staleproof.core.plan import Manifest

SLUG = "no-cross-object-writes"


def check(evidence: Evidence) -> Verdict:
    fired = next((i for i, entry in enumerate(evidence.history.entries) if isinstance(entry, FaultFired)), None)
    if evidence.idle:
        return not_exercised(SLUG, evidence.idle)
    if fired is None:
        return not_exercised(SLUG, "no fault touched the controller, so it had no reason to do anything unusual")
    usual = {of.resource for reference in evidence.references for _, of in _Surroundings(reference).strange_writes}
    strange = _Surroundings(evidence.history).strange_writes
    found: dict[str, tuple[Request, Incarnation]] = {}
    for request, of in strange:
        if request.index > fired and of.resource not in usual:
            found.setdefault(of.uid, (request, of))
    if found:
        return failed(SLUG, [_finding(evidence, *pair) for pair in list(found.values())[:MOST_FINDINGS]])
    return passed(SLUG)


class _Surroundings:
    """Which objects of a history belong to the workload, and which of the controller's writes went to others."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._objects = incarnations(history)

    @cached_property
    def strange_writes(self) -> list[tuple[Request, Incarnation]]:
        found = []
        rivals = {entry.uid for entry in self._history.entries if isinstance(entry, Competed)}
        for request in requests(self._history.entries):
            if is_work(request.asked) and request.succeeded and isinstance(request.answer, Answered):
                uids = [request.answer.uid] if request.answer.uid else [item.uid for item in request.answer.items]
                written = [self._objects[uid] for uid in uids if uid in self._objects and uid not in rivals]
                found += [
                    (request, of) for of in written if of.uid not in self._ours and of.first.commit.name not in self._mentioned
                ]
        return found

    @cached_property
    def _ours(self) -> set[str]:
        """uids of the workload and of what it owned at any time."""
        ours = {
            of.uid for of in self._objects.values() if f"{of.resource}/{of.first.commit.name}" in self._history.header.primaries
        }
        while True:
            more = {of.uid for of in self._objects.values() if of.uid not in ours and _owners(of) & ours}
            if not more:
                return ours
            ours |= more

    @cached_property
    def _mentioned(self) -> set[str]:
        """Every word in the objects of the workload, and of what it owns."""
        words: set[str] = set()
        for uid in self._ours:
            for change in self._objects[uid].changes:
                words.update(_words({key: value for key, value in change.commit.object.items() if key != "status"}))
        return words


def _owners(of: Incarnation) -> set[str]:
    return {
        str(reference.get("uid"))
        for change in of.changes
        for reference in change.commit.object["metadata"].get("ownerReferences") or ()
    }


def _words(value: Manifest | Any) -> Iterator[str]:  # noqa: ANN401  # JSON
    """All strings in it, and those that their paths and lists are made of."""
    match value:
        case Mapping():
            for key, inner in value.items():
                yield str(key)
                yield from _words(inner)
        case list():
            for inner in value:
                yield from _words(inner)
        case str():
            yield value
            yield from value.replace("/", " ").replace(",", " ").split()


def _finding(evidence: Evidence, request: Request, of: Incarnation) -> Finding:
    made = of.first.by is not None and of.first.by.index == request.index
    verb = "deleted" if request.asked.verb.startswith("delete") else "created" if made else "wrote to"
    because = (
        f"the controller {verb} {full_name(of.first.commit)}, which the workload neither owns nor mentions; no fault-free run did"
    )
    change = next((change for change in of.changes if change.index > request.index and not made), None)
    committed = change.index if change is not None else request.index
    return Finding(SLUG, because, context(evidence, [], request.index, committed), "which is not its own")
