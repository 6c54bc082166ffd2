"""honest-ready: say that a generation is Ready or Available only when its children have become so.

What "so" means is learnt: how many live children of each role there were at least whenever a reference said that this generation is
Ready. A finding needs all of this:

1. the controller said that the generation is Ready though at no time since it was committed there were so many children, in truth;
2. it had not asked for anything since the step in which that generation came, and in every reference it acted first: one that did
   something and says Ready too soon may have another idea of Ready (a quorum, an accepted spec);
3. something of those children, or of the object itself, was being kept from it.

Only conditions that name a generation, or stand in a status that does, are judged, and only of the workload's own objects. Left out
for honesty: too many children (more than wanted may well be ready), and whether the children are ready themselves: how much of that
a controller waits for cannot be learnt from two runs.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

from staleproof.checks.facts.object_history import Population
from staleproof.checks.facts.provenance import Incarnation
from staleproof.checks.facts.roles import Role
from staleproof.checks.facts.status_claims import Reporting, Statement, ready, reportings
from staleproof.checks.facts.withheld_frames import WithheldFrames
from staleproof.checks.story.phrases import full_name
from staleproof.checks.story.witnesses import context
from staleproof.checks.trial import MOST_FINDINGS, Evidence
from staleproof.checks.verdict import Finding, Verdict, failed, not_exercised, passed
from staleproof.core.entry import StepBegan

SLUG = "honest-ready"


def check(evidence: Evidence) -> Verdict:
    trial, others = reportings(evidence)
    run, references = _Run(trial), [_Run(other) for other in others]
    if not all(reference.statements for reference in references):
        return not_exercised(SLUG, "the controller reports neither Ready nor Available for a generation")
    findings = [found for said in run.statements for found in _judge(evidence, said, run, references)]
    if findings:
        return failed(SLUG, findings[:MOST_FINDINGS])
    if not _is_tempted(evidence, run, references):
        return not_exercised(
            SLUG, "there was no new generation to act on while its children, or it, were hidden from the controller"
        )
    return passed(SLUG)


class _Run:
    """One history, trial or reference."""

    def __init__(self, reporting: Reporting) -> None:
        self.reporting = reporting

    @cached_property
    def statements(self) -> list[Statement]:
        return list(self.reporting.statements(ready))

    def first(self, about: str, of: Incarnation, generation: int) -> Statement | None:
        """When it first said this of the object that another run calls so."""
        wanted = (about, generation, of.label, of.resource)
        return next((s for s in self.statements if (s.about, s.generation, s.of.label, s.of.resource) == wanted), None)

    def fewest(self, said: Statement) -> dict[Role, int]:
        """Per role of children, the fewest there were whenever a status write said so."""
        writes = [change.by.index for change in said.of.changes if change.by and _says(change.commit.object, said)]
        made = self.reporting.population
        roles = {role for role in made.counts if role.owner == said.of.label}
        return {role: min(_live(made, role, index) for index in writes) for role in roles}


def _judge(evidence: Evidence, said: Statement, run: _Run, references: Sequence[_Run]) -> Iterator[Finding]:
    brought = said.of.reaching(said.generation)
    if said.of.resource not in evidence.primaries or brought is None or said.change.by is None:
        return
    if run.reporting.work.asked_on_others(said.of, after=_step(evidence, brought.index), before=said.asked):
        return
    until = max(said.change.index, said.change.by.answer_index or said.asked)
    withheld = _withheld_at(evidence, said.asked)
    for role, fewest in sorted(_least(said.about, said.of, said.generation, references).items()):
        most = _most(run.reporting.population, role, brought.index, until)
        if most < fewest and withheld & {role.resource, said.of.resource}:
            subject = f"{full_name(said.change.commit)} said {said.about} for generation {said.generation}"
            because = f"{subject} with never more than {most} live {role.resource} since; fault-free runs had {fewest} by then"
            though = f"though it had done nothing for that generation, and news of {', '.join(sorted(withheld))} was kept from it"
            yield Finding(SLUG, because, context(evidence, [brought.index], said.asked, said.change.index), though)
            return


def _least(about: str, of: Incarnation, generation: int, references: Sequence[_Run]) -> dict[Role, int]:
    """Per role, the fewest children of any reference; empty where one of them never said so, or said so without having acted."""
    said = [reference.first(about, of, generation) for reference in references]
    if not all(each is not None and run.reporting.acted_before(each) for run, each in zip(references, said, strict=True)):
        return {}
    fewest = [run.fewest(each) for run, each in zip(references, said, strict=True) if each is not None]
    return {role: min(counts.get(role, 0) for counts in fewest) for role in {role for counts in fewest for role in counts}}


def _is_tempted(evidence: Evidence, run: _Run, references: Sequence[_Run]) -> bool:
    """Whether something was kept from the controller between a generation that asks for more children and its being Ready."""
    for of in run.reporting.objects.values():
        generations = {change.generation for change in of.changes} if of.resource in evidence.primaries else set()
        for generation, about in ((g, about) for g in sorted(generations) for about in ("Ready", "Available")):
            least = _least(about, of, generation, references)
            brought, said = of.reaching(generation), run.first(about, of, generation)
            if brought is None:
                continue
            end = said.asked if said else len(evidence.history.entries)
            short = {role for role, fewest in least.items() if _live(run.reporting.population, role, brought.index) < fewest}
            if any(_withheld_between(evidence, brought.index, end) & {role.resource, of.resource} for role in short):
                return True
    return False


def _says(obj: dict[str, object], said: Statement) -> bool:
    return ready(obj).get(said.about) == said.generation


def _step(evidence: Evidence, index: int) -> int:
    """Where the step began that this belongs to."""
    entries = evidence.history.entries
    return next((i for i in range(index, -1, -1) if isinstance(entries[i], StepBegan)), -1)


def _withheld_at(evidence: Evidence, index: int) -> set[str]:
    return _withheld_between(evidence, index - 1, index)


def _withheld_between(evidence: Evidence, since: int, until: int) -> set[str]:
    """Resources of which something was being kept from the controller at some time."""
    frames, found = WithheldFrames(), set[str]()
    for index, entry in enumerate(evidence.history.entries[:until]):
        frames.advance(entry)
        if index >= since:
            found |= frames.resources
    return found


def _live(made: Population, role: Role, index: int) -> int:
    """How many there were after the entry at this position."""
    counts = [count for at, count in made.counts.get(role, {}).items() if at <= index]
    return counts[-1] if counts else 0


def _most(made: Population, role: Role, since: int, until: int) -> int:
    during = [count for at, count in made.counts.get(role, {}).items() if since < at <= until]
    return max([_live(made, role, since), *during])
