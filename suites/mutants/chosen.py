"""Which controllers are put under test when not all are: `ci/check` takes a few, `ci/nightly` all.

STALEPROOF_CONTROLLERS says which: names, separated by commas, or `few`: a mutant for each situation that faults put a controller
into, and three honest ones, each in two scenarios: others with each commit. Unset: all. The histories of all mutants are judged
again in any case, by unit tests.
"""

import functools
import hashlib
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from staleproof.assess.store.run_folder import read_history
from staleproof.checks.cause import SITUATIONS
from staleproof.core.history.history import History

from .known import HISTORIES, Known
from .table import GUILTY, HONEST

VARIABLE = "STALEPROOF_CONTROLLERS"
_FEW = "few"
_HONEST, _SCENARIOS = 3, 2


@functools.cache
def chosen() -> frozenset[str] | None:
    """The names of those that are put under test; None: all."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted == _FEW:
        honest = in_turn((each.name for each in _quick(HONEST)), _HONEST, _commit())
        return frozenset((*(each.name for each in _guilty()), *honest))
    return frozenset(name.strip() for name in wanted.split(",")) if wanted else None


def scenarios_for(honest: Known, every: Iterable[str]) -> frozenset[str]:
    """Of these, the scenarios that an honest one is tried in."""
    wanted = frozenset(honest.about or every)
    if os.environ.get(VARIABLE) != _FEW:
        return wanted
    return frozenset(in_turn(wanted, _SCENARIOS, f"{_commit()} {honest.name}"))


def in_turn(names: Iterable[str], count: int, commit: str) -> list[str]:
    """So many of them: with each commit others."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{commit} {name}".encode()).digest())[:count]


def _guilty() -> Iterator[Known]:
    """For each situation the mutant that was caught in it soonest."""
    kept = {each.name: read_history(HISTORIES / each.kept_as) for each in _quick(GUILTY) if (HISTORIES / each.kept_as).exists()}
    for situation in SITUATIONS:
        caught = [each for each in _quick(GUILTY) if each.name in kept and _effects(kept[each.name]) & situation.effects]
        yield from sorted(caught, key=lambda each: kept[each.name].entries[-1].at)[:1]


def _effects(history: History) -> frozenset[str]:
    """Of the faults under which it was made."""
    return frozenset(effect for fault in history.header.plan.faults for effect in fault.effects)


def _quick(controllers: Sequence[Known]) -> list[Known]:
    return [each for each in controllers if not each.marks and not each.companions]


@functools.cache
def _commit() -> str:
    """What is checked out; empty where there is no repository."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
