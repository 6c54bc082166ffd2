"""Measures the checkers on a generated history: 100,000 entries, a trial and the two references it is compared with.

The entries are those that a correct replica controller causes: Widgets, three pods for each, one of which is deleted later.
"""

import time
from dataclasses import replace
from statistics import median

import msgspec

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.judge import judge
from staleproof.core.fault import HideOwnWrite
from staleproof.core.history.entry import FaultFired
from staleproof.core.history.history import History

from ..unit.checks.script import WIDGETS, Script, reference
from .figure import ENTRIES_PER_SECOND, Figure
from .rig import say

ENTRIES = 100_000
_RUNS = 3
_REPLICAS = 3
PER_WIDGET = 2 + 4 * _REPLICAS + 4
_PER_HISTORY = ENTRIES // 3 // PER_WIDGET


def history() -> tuple[History, tuple[History, ...]]:
    """The trial and its references."""
    trial = Script(HideOwnWrite(resource="pods")).adds(FaultFired, fault=0, on="ADDED pods")
    return played(trial, _PER_HISTORY), (played(reference(1), _PER_HISTORY), played(reference(2), _PER_HISTORY))


def played(script: Script, widgets: int) -> History:
    """The history of so many Widgets, each with PER_WIDGET entries."""
    names = [f"widget-{number}" for number in range(widgets)]
    for name in names:
        pods = [f"{name}-{nth}" for nth in range(_REPLICAS)]
        script.applied(name, spec={"replicas": _REPLICAS}).creates(*pods, owner=name, generated=f"{name}-").deletes(pods[-1])
    played = script.ends()
    primaries = tuple(f"{WIDGETS}/{name}" for name in names)
    return replace(played, header=msgspec.structs.replace(played.header, primaries=primaries))


def measure(found: list[Figure], *, until: float) -> None:
    """The speed of each checker on its own, with everything that it has to work out first, is added to `found`.

    `until`: from when on no other is measured (`time.monotonic`).
    """
    trial, references = history()
    total = len(trial.entries) + sum(len(reference.entries) for reference in references)
    for requirement in REQUIREMENTS:
        if time.monotonic() >= until:
            say("bench: no time left for the other checkers")
            return
        say(f"checker {requirement.slug}: {total:,} entries")
        seconds = []
        for _ in range(_RUNS):
            began = time.perf_counter()
            judge(trial, references, requirements=[requirement])
            seconds.append(time.perf_counter() - began)
        speed = total / median(seconds)
        target, met = f"≥ {ENTRIES_PER_SECOND:,}", speed >= ENTRIES_PER_SECOND
        found.append(Figure(name=f"checker {requirement.slug}", unit="entries/s", value=speed, target=target, met=met))
