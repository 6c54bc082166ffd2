"""What every checker looks at: the trial, its references, and what was learnt from both, worked out once."""

from dataclasses import dataclass
from functools import cached_property

from staleproof.checks.end_state import Baseline, learn
from staleproof.checks.population import Named, Population, Role, names_of, population
from staleproof.core.entry import Broke, Committed, Delivered, Exited, FaultFired, Listed, Opened, Released, Settled, Withheld
from staleproof.core.history import History


@dataclass(frozen=True)
class Evidence:
    """A trial to be judged. References are in the history, or given."""

    history: History
    references: tuple[History, ...]

    @cached_property
    def trouble(self) -> str:
        """Why this trial proves nothing about anything, if so."""
        for entry in self.history.entries:
            if isinstance(entry, Broke):
                return f"the harness broke ({entry.where}): {entry.why}"
            if isinstance(entry, Exited):
                return f"the controller exited with code {entry.code} during the trial"
        return "" if self.history.complete else "the trial was not recorded to its end"

    @cached_property
    def unfired(self) -> str:
        """The planned faults that did nothing, in words."""
        fired = {entry.fault for entry in self.history.entries if isinstance(entry, FaultFired)}
        faults = self.history.header.plan.faults
        silent = [f"{type(fault).__struct_config__.tag} of {fault.resource}" for i, fault in enumerate(faults) if i not in fired]
        return f"planned faults never fired: {', '.join(silent)}" if silent else ""

    @cached_property
    def reference_trouble(self) -> str:
        """Why the references cannot be compared with, if so."""
        if len(self.references) < 2:
            return f"it needs at least 2 fault-free references of the same workload, found {len(self.references)}"
        for reference in self.references:
            settled = [entry for entry in reference.entries if isinstance(entry, Settled)]
            if not reference.complete or not settled or not settled[-1].ok:
                return "a reference did not settle: without any fault the controller kept writing, or was interrupted"
        return ""

    @cached_property
    def stable_names(self) -> frozenset[Named]:
        """Child names that every reference used."""
        names = [names_of(reference) for reference in self.references]
        return frozenset(set.intersection(*names)) if names else frozenset()

    @cached_property
    def population(self) -> Population:
        return population(self.history, self.stable_names)

    @cached_property
    def reference_populations(self) -> tuple[Population, ...]:
        return tuple(population(reference, self.stable_names) for reference in self.references)

    def most(self, role: Role) -> int:
        """The most live children of this role that any reference had."""
        return max((made.peak(role) for made in self.reference_populations), default=0)

    def fewest(self, role: Role) -> int:
        """The fewest live children of this role that any reference had after its peak."""
        return min((made.trough(role) for made in self.reference_populations), default=0)

    @cached_property
    def baseline(self) -> Baseline:
        return learn(self.references, self.stable_names)

    @cached_property
    def own_creates(self) -> frozenset[str]:
        """uids of what the controller created."""
        return frozenset(uid for uid, child in self.population.children.items() if child.creator is not None)

    def withheld(self, uids: frozenset[str]) -> list[tuple[int, Withheld]]:
        """Frames about these objects that were kept back."""
        entries = enumerate(self.history.entries)
        return [(i, entry) for i, entry in entries if isinstance(entry, Withheld) and entry.uid in uids]

    def poked_after(self, index: int) -> int | None:
        """Where the controller was next made to look at a primary again, before everything was released."""
        primaries = {primary.rpartition("/")[0] for primary in self.history.header.primaries}
        streams = {entry.stream: entry.resource for entry in self.history.entries if isinstance(entry, Opened)}
        for i in range(index + 1, len(self.history.entries)):
            match self.history.entries[i]:
                case Released():
                    return None
                case Delivered(stream=stream, uid=uid) if uid and streams.get(stream) in primaries:
                    return i
                case Listed(resource=resource) if resource in primaries:
                    return i
        return None

    def commit_of(self, uid: str) -> Committed:
        """The first commit of an incarnation."""
        entry = self.history.entries[self.population.children[uid].created]
        assert isinstance(entry, Committed)
        return entry
