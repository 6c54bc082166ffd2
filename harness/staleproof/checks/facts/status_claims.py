"""What the controller says in a status about a generation, and when it says something new.

`observed` reads status.observedGeneration and that of each condition. `ready` reads for which generation Ready or Available is
True: the condition's own, or that of the whole status. Only the controller's own commits are statements, and only those by which
the claim changed: what an update carries along was said before.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from staleproof.checks.facts.object_history import Population
from staleproof.checks.facts.provenance import Change, Incarnation, incarnations
from staleproof.checks.facts.shown_generations import Shown, shown_generations
from staleproof.checks.facts.work import Work, work
from staleproof.checks.trial import Evidence
from staleproof.core.history import History
from staleproof.core.plan import Manifest

OBSERVED = "status.observedGeneration"
READY = ("Ready", "Available")

Claims = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Statement:
    """An own commit by which a claim changed. `last` is what had been claimed the last time before; None for never."""

    about: str
    generation: int
    last: int | None
    of: Incarnation
    change: Change
    asked: int
    shown: Shown


@dataclass(frozen=True)
class Reporting:
    """The objects of one history, and what the controller had been shown, had done and said of their generations."""

    history: History
    population: Population

    @cached_property
    def objects(self) -> dict[str, Incarnation]:
        return incarnations(self.history)

    @cached_property
    def shown(self) -> dict[str, Shown]:
        return shown_generations(self.history, self.objects)

    @cached_property
    def work(self) -> Work:
        return work(self.history, self.population)

    def statements(self, read: Callable[[Manifest], Claims]) -> Iterator[Statement]:
        """Object by object, each in the order of its commits."""
        for uid, of in self.objects.items():
            last: dict[str, int] = {}
            for change in of.changes:
                claims = read(change.commit.object)
                if change.by is not None and change.commit.type != "DELETED":
                    before = read(change.before) if change.before else {}
                    for about in [about for about in claims if claims[about] != before.get(about)]:
                        yield Statement(about, claims[about], last.get(about), of, change, change.by.index, self.shown[uid])
                last.update(claims)

    def acted_before(self, said: Statement) -> bool:
        """Whether it did something to the object's children between being shown the generation and saying this."""
        shown = said.shown.known.reached(said.generation, before=said.asked)
        return shown is not None and self.work.done_to_children(said.of, after=shown, before=said.asked) is not None

    def of_label(self, label: str, resource: str) -> Incarnation | None:
        """The incarnation that another run of the workload calls so."""
        return next((each for each in self.objects.values() if each.label == label and each.resource == resource), None)


def reportings(evidence: Evidence) -> tuple[Reporting, list[Reporting]]:
    """Of the trial, and of its references."""
    references = [Reporting(*pair) for pair in zip(evidence.references, evidence.reference_populations, strict=True)]
    return Reporting(evidence.history, evidence.population), references


def observed(obj: Manifest) -> Claims:
    """Path → generation."""
    status = _status(obj)
    claims = {OBSERVED: status.get("observedGeneration")}
    claims |= {f"status.conditions[{each['type']}].observedGeneration": each.get("observedGeneration") for each in _conditions(obj)}
    return {path: generation for path, generation in claims.items() if isinstance(generation, int)}


def ready(obj: Manifest) -> Claims:
    """Condition → the generation it is True for. One that names no generation, in a status that names none, claims nothing."""
    whole = _status(obj).get("observedGeneration")
    claims = {
        each["type"]: each.get("observedGeneration", whole)
        for each in _conditions(obj)
        if each["type"] in READY and each.get("status") == "True"
    }
    return {condition: generation for condition, generation in claims.items() if isinstance(generation, int)}


def _status(obj: Manifest) -> Mapping[str, Any]:
    status = obj.get("status")
    return status if isinstance(status, dict) else {}


def _conditions(obj: Manifest) -> list[Mapping[str, Any]]:
    conditions = _status(obj).get("conditions")
    found = conditions if isinstance(conditions, list) else []
    return [each for each in found if isinstance(each, dict) and isinstance(each.get("type"), str)]
