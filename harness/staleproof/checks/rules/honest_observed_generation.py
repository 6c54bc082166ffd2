"""honest-observed-generation: report no generation that was not shown, never go back, end with the newest; conditions alike.

Four findings, of status writes by the controller only, each absent from every reference:

1. *unshown*: it claimed a generation newer than any that it had been shown or told, by frames, lists, GET or answers to own writes;
2. *back*: it claimed an older one than had been claimed, while its caches were behind what had been claimed;
3. *unacted*: it knew the generation from a live answer only (a GET, the answer to a write), claimed it without having asked for
   anything since, did something for it only once its caches had shown it, and in every reference it acted first. "Save the
   generation number we acted on, otherwise we might wrongfully indicate that we've seen a spec update" (kubernetes,
   pkg/controller/replicaset/replica_set_utils.go);
4. *left behind*: it wrote the status after its caches had shown the last generation, and the status still ended with an older one,
   after a time that any client can do with, where every reference ended with the newest.

Left out for honesty: how conditions end (many are rightly of the generation they changed in), a status never written after the
catch-up (that is for converges-after-catch-up), an object never shown in this life, whose generation is anybody's guess.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

from staleproof.checks.facts.liveness import too_soon
from staleproof.checks.facts.provenance import Incarnation
from staleproof.checks.facts.status_claims import OBSERVED, Reporting, Statement, observed, reportings
from staleproof.checks.facts.withheld_frames import WithheldFrames
from staleproof.checks.story.phrases import full_name
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.core.entry import FaultFired, Released, Settled, Started, StepEnded

SLUG = "honest-observed-generation"
_Kind = tuple[str, str, str]
"""What is wrong, with which resource, in which field."""


def check(evidence: Evidence) -> Verdict:
    trial, others = reportings(evidence)
    run, references = _Run(trial), [_Run(other) for other in others]
    usual = {kind for reference in references for kind, _ in reference.lapses}
    findings = [_lapsed(evidence, kind, said) for kind, said in run.lapses if kind not in usual]
    findings += [_unacted(evidence, said) for said in run.statements if _is_unacted(evidence, said, run, references)]
    findings += [found for of in run.reporting.objects.values() for found in _left_behind(evidence, of, run, references)]
    if findings:
        return failed(SLUG, findings[:MOST_FINDINGS])
    if not run.statements:
        return not_exercised(SLUG, "the controller reported no observedGeneration")
    if not run.tempted:
        return not_exercised(SLUG, "the controller never reported while a newer generation was hidden from it, nor after that")
    return passed(SLUG)


class _Run:
    """One history, trial or reference."""

    def __init__(self, reporting: Reporting) -> None:
        self.reporting = reporting

    @cached_property
    def statements(self) -> list[Statement]:
        return list(self.reporting.statements(observed))

    @cached_property
    def lapses(self) -> list[tuple[_Kind, Statement]]:
        """Statements that need no comparison to be wrong."""
        return [((lapse, said.of.resource, said.about), said) for said in self.statements if (lapse := _lapse(said))]

    @cached_property
    def tempted(self) -> bool:
        """Whether it reported on an object while, or after, a fault kept its caches behind the object's newest generation."""
        entries = self.reporting.history.entries
        fired = next((i for i, entry in enumerate(entries) if isinstance(entry, FaultFired)), len(entries))
        moments = [i for i, entry in enumerate(entries) if isinstance(entry, StepEnded | Released)]
        return any(
            fired < moment <= said.asked and self._is_behind(said.of, moment)
            for said in self.statements
            for moment in (*moments, said.asked)
        )

    def _is_behind(self, of: Incarnation, moment: int) -> bool:
        committed = max((change.generation for change in of.changes if change.index < moment), default=0)
        return self.reporting.shown[of.uid].cached.at(moment) < committed

    def acted_first(self, label: str, resource: str, generation: int) -> bool:
        """Whether it did something to the object's children between being shown this generation and reporting it."""
        said = next((said for said in self._on(label, resource) if said.generation >= generation), None)
        return said is not None and self.reporting.acted_before(said)

    def ends_with_newest(self, label: str, resource: str) -> bool:
        of = self.reporting.of_label(label, resource)
        return of is not None and observed(of.last.commit.object).get(OBSERVED) == of.last.generation

    def _on(self, label: str, resource: str) -> Iterator[Statement]:
        return (s for s in self.statements if s.about == OBSERVED and (s.of.label, s.of.resource) == (label, resource))


def _lapse(said: Statement) -> str:
    """What is wrong with a statement by itself; empty for nothing, and for an object that was never shown in this life."""
    cached, known = said.shown.cached.at(said.asked), said.shown.known.at(said.asked)
    if not known:
        return ""
    if said.last is not None and said.generation < said.last:
        return "back" if (cached or known) < said.last else ""
    return "unshown" if said.generation > known else ""


def _lapsed(evidence: Evidence, kind: _Kind, said: Statement) -> Finding:
    if kind[0] == "back":
        because = f"{_subject(said)} went back from generation {said.last} to {said.generation}"
        hidden, though = said.last or 0, f"though {said.last} had been reported, which its caches had not been shown"
    else:
        newest = said.shown.known.at(said.asked)
        because = f"{_subject(said)} says {said.generation}; the newest generation that the controller had been shown was {newest}"
        hidden, though = newest + 1, f"though it had been shown no generation after {newest}"
    return _found(evidence, said, hidden, because, though)


def _is_unacted(evidence: Evidence, said: Statement, run: _Run, references: Sequence[_Run]) -> bool:
    asked, of, generation = said.asked, said.of, said.generation
    learnt = said.shown.known.reached(generation, before=asked)
    brought, follows = of.reaching(generation), of.reaching(generation + 1)
    if said.about != OBSERVED or learnt is None or brought is None or said.shown.cached.at(asked) >= generation:
        return False
    entries = evidence.history.entries
    if any(isinstance(entry, Started) for entry in entries[brought.index : asked]) or _is_late_elsewhere(evidence, said):
        return False  # an earlier life may have acted; or it may have had to wait for something else
    shown = said.shown.cached.rises(generation, after=asked)
    end = follows.index if follows is not None else len(entries)
    return (
        not run.reporting.work.asked_on_others(of, after=learnt, before=asked)
        and shown is not None
        and run.reporting.work.done_to_children(of, after=shown, before=end) is not None
        and all(reference.acted_first(of.label, of.resource, generation) for reference in references)
    )


def _is_late_elsewhere(evidence: Evidence, said: Statement) -> bool:
    """Whether anything but the object's own resource was being kept from the controller then."""
    withheld = WithheldFrames()
    for entry in evidence.history.entries[: said.asked]:
        withheld.advance(entry)
    return bool(withheld.resources - {said.of.resource})


def _unacted(evidence: Evidence, said: Statement) -> Finding:
    because = f"{_subject(said)} says {said.generation} before anything was done for it; fault-free runs always acted first"
    though = f"though it knew generation {said.generation} from a live answer only, and acted on it when its cache showed it"
    return _found(evidence, said, said.generation, because, though)


def _left_behind(evidence: Evidence, of: Incarnation, run: _Run, references: Sequence[_Run]) -> Iterator[Finding]:
    claim, newest = observed(of.last.commit.object).get(OBSERVED), of.last.generation
    gone = of.last.commit.type == "DELETED" or "deletionTimestamp" in of.last.commit.object["metadata"]
    settled = next((i for i, entry in enumerate(evidence.history.entries) if isinstance(entry, Settled)), None)
    if gone or claim is None or claim >= newest or settled is None or of.resource not in evidence.primaries:
        return
    if too_soon(evidence, settled):
        return
    shown = run.reporting.shown[of.uid].cached
    since = shown.reached(newest, before=len(evidence.history.entries))
    wrote = [change for change in of.changes if change.by is not None and since is not None and change.by.index > since]
    if wrote and all(reference.ends_with_newest(of.label, of.resource) for reference in references):
        last = wrote[-1]
        assert last.by is not None
        because = (
            f"{full_name(last.commit)} ended with observed generation {claim} of {newest}; fault-free runs ended with the newest"
        )
        though = f"though it had been shown generation {newest}"
        yield Finding(SLUG, because, context(evidence, [_at(of, newest)], last.by.index, last.index), though)


def _found(evidence: Evidence, said: Statement, hidden: int, because: str, though: str) -> Finding:
    """With the commit of the generation that was hidden, if it was ever made."""
    before = [_at(said.of, hidden)] if said.of.reaching(hidden) else []
    return Finding(SLUG, because, context(evidence, before, said.asked, said.change.index), though)


def _at(of: Incarnation, generation: int) -> int:
    change = of.reaching(generation)
    assert change is not None
    return change.index


def _subject(said: Statement) -> str:
    field = said.about.removeprefix("status.")
    return f"{field} of {full_name(said.change.commit)}"
