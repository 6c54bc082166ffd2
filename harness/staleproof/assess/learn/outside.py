"""What fault-free runs show of what a controller keeps in external systems: what is there for the primary, and when it calls."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from staleproof.assess.learn.accepted_moves import step_at
from staleproof.checks.trial import Trial
from staleproof.core.declared import AnyDeclared
from staleproof.core.external import changes_something, otherwise
from staleproof.core.history.entry import Called, ExternalState, Held
from staleproof.core.operator.observed import Calls, Outside
from staleproof.drive.trial.environment import Environment


@dataclass(frozen=True, slots=True)
class Adapter:
    """What the adapter of a declared system can do, what is said of nothing in it (`ExternalSystem.bare`), and in which kinds of
    things the system keeps its notifications for the controller."""

    declared: AnyDeclared
    can: tuple[str, ...]
    bare: Mapping[str, Mapping[str, Any]]
    backlog_kinds: frozenset[str] = frozenset()


async def adapters(environment: Environment) -> list[Adapter]:
    """Those of the systems that run."""
    running = environment.external.systems.values()
    return [
        Adapter(each.declared, tuple(sorted(each.relayed.capabilities())), each.relayed.bare, each.relayed.backlog_kinds)
        for each in running
    ]


def calls(life: Sequence[Trial]) -> tuple[Calls, ...]:
    """Calls for the trial's objects that change something, by step; of each the fewest in any run."""
    counts = [Counter(_changing(trial)) for trial in life]
    kinds = sorted(set.intersection(*(set(each) for each in counts)))
    return tuple(Calls(step, system, min(each[step, system] for each in counts)) for step, system in kinds)


def outside(life: Sequence[Trial], known: Sequence[Adapter]) -> tuple[Outside, ...]:
    """What each system holds for the trial's objects when the first step is over."""
    return tuple(each for adapter in known for each in _kinds(life, adapter))


def _changing(trial: Trial) -> Iterator[tuple[int, str]]:
    for _, call in trial.every(Called):
        if call.name and changes_something(call.verb):
            yield step_at(trial, call.at), call.system


def _kinds(life: Sequence[Trial], adapter: Adapter) -> Iterator[Outside]:
    declared = adapter.declared
    within = 0.0 if declared.repairs == "never" else declared.repairs_within
    kept = {kind: names for kind in adapter.backlog_kinds if (names := _names(life, declared.name, kind))}
    held = [Counter(each.kind for each in _held(trial, declared.name) if each.kind not in kept) for trial in life]
    kinds = sorted(set.intersection(*(set(each) for each in held)))
    for kind in kinds:
        first = next(each for each in _held(life[0], declared.name) if each.kind == kind)
        changed = otherwise(first.fields, adapter.bare.get(kind, {}))
        yield Outside(declared.name, kind, min(each[kind] for each in held), changed, adapter.can, within)
    for kind, names in sorted(kept.items()):
        yield Outside(declared.name, kind, 0, {}, adapter.can, within, names)
    if not kinds:
        yield Outside(declared.name, can=adapter.can, repairs_within=within)


def _names(life: Sequence[Trial], system: str, kind: str) -> tuple[str, ...]:
    """What there is of a kind in every run under the same name, so that it is of no trial."""
    return tuple(
        sorted(set.intersection(*({each.external for each in _all(trial, system) if each.kind == kind} for trial in life)))
    )


def _held(trial: Trial, system: str) -> list[Held]:
    """What it holds for the trial's objects at the end of the first step."""
    return [each for each in _all(trial, system) if each.name]


def _all(trial: Trial, system: str) -> Sequence[Held]:
    """What it holds then."""
    ended = next((run.ended for run in trial.steps[:1] if run.ended is not None), 0)
    states = [entry for index, entry in trial.every(ExternalState) if index < ended and entry.system == system]
    return states[-1].objects if states else ()
