"""Which controllers are put under test when not all are: `ci/check` takes a few, `ci/nightly` all.

STALEPROOF_CONTROLLERS says which: names, separated by commas, or `few`: a mutant for each situation that faults put a controller
into, and six honest ones, others with each commit. Unset: all. The histories of all mutants are judged again in any case, by unit
tests.
"""

import hashlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from staleproof.assess.run_folder import read_history
from staleproof.checks.harm import SITUATIONS

from .known import GUILTY, HISTORIES, HONEST, Known

VARIABLE = "STALEPROOF_CONTROLLERS"
FEW = "few"
_HONEST = 6


def chosen() -> frozenset[str] | None:
    """The names of those that are put under test; None: all."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted == FEW:
        return frozenset(each.name for each in (*_guilty(), *in_turn(_quick(HONEST), _commit())))
    return frozenset(name.strip() for name in wanted.split(",")) if wanted else None


def in_turn(controllers: Sequence[Known], commit: str) -> list[Known]:
    """Six of them: with each commit others."""
    return sorted(controllers, key=lambda each: hashlib.sha256(f"{commit} {each.name}".encode()).digest())[:_HONEST]


def _guilty() -> Iterator[Known]:
    """For each situation the first mutant that was caught in it, and in as few others as possible."""
    effects = {each.name: _effects(each) for each in _quick(GUILTY)}
    for situation in SITUATIONS:
        caught = [each for each in _quick(GUILTY) if effects[each.name] & situation.effects]
        yield from sorted(caught, key=lambda each: len(effects[each.name]))[:1]


def _effects(mutant: Known) -> frozenset[str]:
    """Of the faults under which its history was made."""
    path = HISTORIES / mutant.kept_as
    faults = read_history(path).header.plan.faults if path.exists() else ()
    return frozenset(effect for fault in faults for effect in fault.effects)


def _quick(controllers: Sequence[Known]) -> list[Known]:
    return [each for each in controllers if not each.marks and not each.companions]


def _commit() -> str:
    """What is checked out; empty where there is no repository."""
    asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
