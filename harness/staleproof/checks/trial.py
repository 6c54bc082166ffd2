"""What every checker looks at: the trial, its references, and what was learnt from both, worked out once."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from staleproof.checks.facts.baseline import Baseline, learn
from staleproof.checks.facts.fault_outcomes import planned_faults
from staleproof.checks.facts.object_history import Population, names_of, population
from staleproof.checks.facts.roles import Names, Role, learn_names
from staleproof.core.entry import Broke, Committed, Exited, FaultClosed, FaultOpened, Settled
from staleproof.core.history import History, is_work, requests
from staleproof.core.watch_properties import unexplained

MOST_FINDINGS = 10
"""A checker stops at so many findings of one trial: more say nothing new."""


@dataclass(frozen=True)
class Evidence:
    """A trial to be judged, and the fault-free references to compare it with."""

    history: History
    references: tuple[History, ...]

    @cached_property
    def trouble(self) -> str:
        """Why this trial proves nothing about anything, if so."""
        unfinished = "" if self.history.complete else "the trial was not recorded to its end"
        return _interrupted(self.history) or unfinished or _unlike_a_watch(self.history)

    @cached_property
    def unfired(self) -> str:
        """The planned faults that did nothing, in words, with the reason of each."""
        silent = [str(fault) for fault in planned_faults(self.history) if fault.outcome != "fired"]
        return f"planned faults never fired: {'; '.join(silent)}" if silent else ""

    @cached_property
    def reference_trouble(self) -> str:
        """Why the references cannot be compared with, if so."""
        if len(self.references) < 2:
            return f"it needs at least 2 fault-free references of the same workload, found {len(self.references)}"
        troubles = (_unusable(reference, self.history) for reference in self.references)
        return next((f"reference {n} {trouble}" for n, trouble in enumerate(troubles, 1) if trouble), "")

    @cached_property
    def idle(self) -> str:
        """Set when the controller never wrote anything: then it cannot have done anything right or wrong."""
        wrote = any(is_work(request.asked) for request in requests(self.history.entries))
        return "" if wrote else "the controller never wrote anything"

    @cached_property
    def primaries(self) -> frozenset[str]:
        """Resources that the workload applies."""
        return frozenset(primary.rpartition("/")[0] for primary in self.history.header.primaries)

    @cached_property
    def names(self) -> Names:
        """What the references' names have in common."""
        return learn_names([names_of(reference) for reference in self.references])

    @cached_property
    def population(self) -> Population:
        return population(self.history, self.names)

    @cached_property
    def reference_populations(self) -> tuple[Population, ...]:
        return tuple(population(reference, self.names) for reference in self.references)

    @cached_property
    def baseline(self) -> Baseline:
        return learn(self.references, self.names)

    @cached_property
    def _extremes(self) -> dict[Role, tuple[int, int]]:
        roles = {role for made in self.reference_populations for role in made.counts}
        return {
            role: (
                max(made.peak(role) for made in self.reference_populations),
                min(made.trough(role) for made in self.reference_populations),
            )
            for role in roles
        }

    @property
    def roles(self) -> Collection[Role]:
        """All that any reference had."""
        return self._extremes.keys()

    def most(self, role: Role) -> int:
        """The most live objects of this role that any reference had."""
        return self._extremes.get(role, (0, 0))[0]

    def fewest(self, role: Role) -> int:
        """The fewest live objects of this role that any reference had after its peak."""
        return self._extremes.get(role, (0, 0))[1]

    @cached_property
    def _spans(self) -> tuple[tuple[int, int], ...]:
        """Where each fault opened and closed."""
        entries = self.history.entries
        closed = {entry.fault: i for i, entry in enumerate(entries) if isinstance(entry, FaultClosed)}
        opened = [(i, entry.fault) for i, entry in enumerate(entries) if isinstance(entry, FaultOpened)]
        return tuple((i, closed.get(fault, len(entries))) for i, fault in opened)

    def faults_open_at(self, index: int) -> Iterator[int]:
        """The openings of the faults that acted at this position."""
        return (opened for opened, closed in self._spans if opened < index < closed)

    def commit_of(self, uid: str) -> Committed:
        """The first commit of an incarnation."""
        entry = self.history.entries[self.population.children[uid].created]
        assert isinstance(entry, Committed)
        return entry


def _interrupted(history: History) -> str:
    for entry in history.entries:
        if isinstance(entry, Broke):
            return f"the harness broke ({entry.where}): {entry.why}"
        if isinstance(entry, Exited):
            return f"the controller exited with code {entry.code} during the trial"
    return ""


def _unlike_a_watch(history: History) -> str:
    """Whether the controller was shown what no API server shows, and nobody asked for it."""
    found = unexplained(history)
    if not found:
        return ""
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"the self-check failed, which is a bug of staleproof, not of the controller: {found[0]}{more}"


def _unusable(reference: History, trial: History) -> str:
    """What is wrong with a reference, as the end of a sentence."""
    interrupted = _interrupted(reference)
    if interrupted:
        return f"proves nothing: {interrupted}"
    if reference.header.plan.faults or reference.header.plan.reference.steps != trial.header.plan.reference.steps:
        return "is not a fault-free run of the same workload"
    settled = [entry for entry in reference.entries if isinstance(entry, Settled)]
    if not reference.complete or not settled:
        return "was not recorded to its end"
    flaw = _unlike_a_watch(reference)
    if flaw:
        return f"proves nothing: {flaw}"
    return "" if settled[-1].ok else f"did not settle although there was no fault ({settled[-1].why or 'no reason given'})"
