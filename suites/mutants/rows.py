"""What drawn plans showed of each controller: a row for each, and two tables.

Rows are kept as they come, in the folder that STALEPROOF_ROWS names, one file for each, so that an interruption takes nothing with
it; beside them, one file for each trial of an honest controller that people will want to look at. A controller that has a row there
is not tried again; and rows of several runs, put into one folder, make one table.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import msgspec

from staleproof.assess.store.run_folder import HISTORY, exported, write_atomically
from staleproof.assess.trial.result import Result
from staleproof.core.plan.fingerprint import fingerprint

FOUND = (
    "mutant", "its requirement", "trials", "s", "found with", "violates", "s to shrink", "steps", "faults", "reproduced",
    "failed as well, after",
)  # fmt: skip
NOT_ACCUSED = ("honest controller", "plans", "trials", "findings", "inconclusive", "fails truly", "could not run", "s in all")
_SEARCHED, _MOST_STEPS, _MOST_FAULTS = 0.90, 3, 2
_PLANS, _INCONCLUSIVE = 1000, 0.03


class Guilty(msgspec.Struct, frozen=True, kw_only=True, tag="guilty"):
    """A mutant.

    Attributes:
        requirement: the one that was written for it.
        trials: until the first finding, or all of them.
        seconds: what these trials took, with observing the controller and their fault-free runs.
        found: the title of the smallest plan; empty: nothing was found that came back.
        violates: which requirements are violated in that plan.
        steps, faults: of that plan; those as it was drawn if no smaller plan was found.
        reproduced: how often the finding came back, and in how many runs of the smallest plan.
        others: which requirements failed in a trial, each with the number of its first trial.
        flaky: findings that did not come back.
        refused: plans that could not be run, and why.
    """

    name: str
    seed: str
    requirement: str
    trials: int = 0
    seconds: float = 0.0
    found: str = ""
    violates: tuple[str, ...] = ()
    steps: int = 0
    faults: int = 0
    shrink_seconds: float = 0.0
    reproduced: tuple[int, int] = (0, 0)
    others: dict[str, int] = {}
    flaky: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[str, ...]:
        failed = sorted(self.others.items(), key=lambda each: each[1])
        also = [f"{slug} {number}" for slug, number in failed if slug not in self.violates]
        lost = {"did not come back": self.flaky, "could not run": self.refused}
        notes = ", ".join([*also, *(f"{len(plans)} {what}" for what, plans in lost.items() if plans)])
        sizes = f"{self.shrink_seconds:.0f}", str(self.steps), str(self.faults), "/".join(map(str, self.reproduced))
        found = (self.found, ", ".join(self.violates), *sizes) if self.found else ("NOT FOUND", "", "", "", "", "")
        return (self.name, self.requirement, str(self.trials), f"{self.seconds:.0f}", *found, notes)


class Honest(msgspec.Struct, frozen=True, kw_only=True, tag="honest"):
    """An honest controller.

    Attributes:
        plans: how many were run; `trials`: with those that were run again because of a finding.
        findings: in words.
        inconclusive: for each plan in which something is inconclusive, why.
        truly: titles of plans in which it fails and is known to (`Known.counts`).
        refused: plans that could not be run, and why.
    """

    name: str
    seed: str
    plans: int = 0
    trials: int = 0
    seconds: float = 0.0
    findings: tuple[str, ...] = ()
    inconclusive: tuple[str, ...] = ()
    truly: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[str, ...]:
        reasons = [f"{len(each)}: {' | '.join(each)}" if each else "none" for each in (self.inconclusive, self.truly, self.refused)]
        return (self.name, str(self.plans), str(self.trials), str(len(self.findings)), *reasons, f"{self.seconds:.0f}")


Row = Guilty | Honest


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows in a folder; empty: nothing is kept."""

    folder: str

    def has(self, row: Row) -> bool:
        """Whether there is one of this controller."""
        return bool(self.folder) and self._path(row).exists()

    def keep(self, row: Row) -> None:
        if self.folder:
            write_atomically(self._path(row), msgspec.json.encode(row) + b"\n")

    def attach(self, row: Row, result: Result) -> None:
        """Keep one file of a trial, for `staleproof check` and `staleproof replay`: pytest removes its folders soon."""
        if self.folder:
            write_atomically(
                self._path(row).with_suffix(f".{fingerprint(result.plan)}.jsonl.gz"), exported(result.folder / HISTORY)
            )

    def rows(self) -> list[Row]:
        """All of them, by name."""
        found = Path(self.folder).glob("*.json") if self.folder else ()
        return sorted((msgspec.json.decode(path.read_bytes(), type=Row) for path in found), key=lambda row: row.name)

    def _path(self, row: Row) -> Path:
        return Path(self.folder) / f"{type(row).__name__.lower()}-{re.sub(r'[^a-z0-9_-]+', '-', row.name)}.json"


KEPT = Kept(os.environ.get("STALEPROOF_ROWS", ""))


def in_short(rows: list[Row]) -> Iterator[str]:
    """What all rows come to, and what is wanted."""
    guilty = [row for row in rows if isinstance(row, Guilty)]
    found = [row for row in guilty if row.found]
    if guilty:
        own = sum(row.requirement in row.violates for row in found)
        yield (
            f"{len(found)} of {len(guilty)} mutants found ({len(found) / len(guilty):.0%}, wanted {_SEARCHED:.0%}), "
            f"{own} of them by the requirement that was written for it"
        )
    if found:
        steps, faults = median(row.steps for row in found), median(row.faults for row in found)
        again = sum(row.reproduced == (5, 5) for row in found)
        yield (
            f"median of the smallest plans: {steps:g} steps (wanted {_MOST_STEPS}), {faults:g} faults (wanted {_MOST_FAULTS}); "
            f"reproduced 5/5: {again} of {len(found)}; median trials to the first finding {median(row.trials for row in found):g}, "
            f"seconds to shrink {median(row.shrink_seconds for row in found):.0f}"
        )
    honest = [row for row in rows if isinstance(row, Honest)]
    plans = sum(row.plans for row in honest)
    if plans:
        unknown = sum(len(row.inconclusive) for row in honest)
        yield (
            f"{len(honest)} honest controllers, {plans} plans (wanted {_PLANS}), {sum(row.trials for row in honest)} trials: "
            f"{sum(len(row.findings) for row in honest)} findings (wanted 0), {unknown} inconclusive "
            f"({unknown / plans:.1%}, wanted < {_INCONCLUSIVE:.0%})"
        )
