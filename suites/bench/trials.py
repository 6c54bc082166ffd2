"""What trials cost, against what the controller itself works: pure, from what a run leaves behind.

The bound of a trial is 1.5 times the controller's own working time without faults together with the holds of its plan, and half a
second. In a step the controller has worked from the beginning until the last commit in the trial's namespace that changed anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from rich.table import Table

from staleproof.core.history.change import is_unmoved
from staleproof.core.history.entry import Committed, Settled, StepBegan
from staleproof.core.history.history import History, Position, requests
from staleproof.core.history.provenance import commits_of
from staleproof.core.history.request import BOOKKEEPING
from staleproof.core.history.resource_version import Revision
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest

FACTOR, SPARE_SECONDS = 1.5, 0.5
WORKERS = 4
PHASES = ("steps", "hold", "settle", "after")


@dataclass(frozen=True, slots=True)
class Timed:
    """A trial: its seconds, its bound (None: there is no reference to tell), and its seconds by phase."""

    seconds: float
    bound: float | None
    phases: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of a controller's plans by one checkout. `whole`: of all plans, to the end; `minutes`: from the command to its end.

    `trouble` says in a line why there may be fewer trials than there should be; empty: there was none.
    """

    controller: str
    checkout: str
    minutes: float
    whole: bool
    trials: Sequence[Timed]
    findings: int = 0
    inconclusive: int = 0
    trouble: str = ""

    def as_json(self) -> dict[str, object]:
        seconds = [trial.seconds for trial in self.trials]
        bounds = [trial.bound for trial in self.trials if trial.bound is not None]
        return {
            "controller": self.controller,
            "checkout": self.checkout,
            "minutes": round(self.minutes, 2),
            "whole": self.whole,
            "trials": len(self.trials),
            "median": _median(seconds),
            "p95": _p95(seconds),
            "medianBound": _median(bounds),
            "within": sum(trial.bound is not None and trial.seconds <= trial.bound for trial in self.trials),
            "beside": round(max(0.0, WORKERS * 60 * self.minutes - sum(seconds)), 2),
            **{phase: round(sum(trial.phases.get(phase, 0.0) for trial in self.trials), 2) for phase in PHASES},
            "findings": self.findings,
            "inconclusive": self.inconclusive,
            "trouble": self.trouble,
        }


def bound(plan: Plan, references: Sequence[History]) -> float | None:
    """Seconds; None without references."""
    if not references:
        return None
    return FACTOR * (max(map(working_seconds, references)) + holds(plan)) + SPARE_SECONDS


def working_seconds(reference: History) -> float:
    """How long the controller, and companions for it, had work to do in the steps of a workload; what changes nothing is none."""
    changes, worked, began, last = set(_changes(reference)), 0.0, None, 0.0
    for entry in reference.entries:
        match entry:
            case StepBegan():
                worked += last - began if began is not None else 0.0
                began = last = entry.at
            case Settled():
                break
            case Committed() if (entry.resource, entry.revision) in changes:
                last = max(last, entry.at)
    return worked + (last - began if began is not None else 0.0)


def _changes(reference: History) -> Iterator[tuple[str, Revision]]:
    """The commits in the trial's namespace that changed anything."""
    commits = [
        (Position(index), entry)
        for index, entry in enumerate(reference.entries)
        if isinstance(entry, Committed) and entry.namespace == reference.header.namespace and entry.resource not in BOOKKEEPING
    ]
    for commit in commits_of(commits, requests(reference.entries)):
        if not is_unmoved(commit.entry, commit.before, reference.header.plan.settle.moves):
            yield commit.entry.resource, commit.entry.revision


def holds(plan: Plan) -> float:
    """The seconds that the plan itself lets pass: its rests, and by how much its faults make something late."""
    rests = sum(step.seconds for step in plan.steps if isinstance(step, Rest))
    return rests + sum(_late(getattr(fault, "by_seconds", 0.0)) + (fault.window.seconds or 0.0) for fault in plan.faults)


def _late(seconds: float | Mapping[str, float]) -> float:
    return max(seconds.values()) if isinstance(seconds, Mapping) else seconds


HEADINGS = ("controller", "by", "plans", "min", "median s", "bound", "p95 s", "within", *PHASES, "beside", "failed", "unknown")


def table(runs: Sequence[Ran]) -> Table:
    """A row for each run, those of one controller together."""
    made = Table(
        title="runs of the standard profile on four workers",
        caption="min: in brackets when it was not all plans. bound: the median. within: trials within their bound. steps to after: "
        "seconds of all trials. beside: of the workers, beside trials (start, observation, references, the tail). failed, unknown: "
        "trials with a finding, or with something inconclusive.",
    )
    for heading in HEADINGS:
        made.add_column(heading, justify="left" if heading in ("controller", "by") else "right")
    order = list(dict.fromkeys(ran.controller for ran in runs))
    for ran in sorted(runs, key=lambda ran: order.index(ran.controller)):
        made.add_row(*_cells(ran))
    return made


def _cells(ran: Ran) -> list[str]:
    figures = ran.as_json()
    within = f"{figures['within']}/{sum(trial.bound is not None for trial in ran.trials)}"
    minutes = f"{ran.minutes:.1f}" if ran.whole else f"({ran.minutes:.1f})"
    costs = [_shown(figures[name]) for name in ("median", "medianBound", "p95")]
    split = [f"{figures[name]:.0f}" for name in (*PHASES, "beside")]
    verdicts = [str(ran.findings), str(ran.inconclusive)]
    return [ran.controller, ran.checkout, str(len(ran.trials)), minutes, *costs, within, *split, *verdicts]


def _shown(seconds: object) -> str:
    return "-" if seconds is None else f"{seconds:.1f}"


def _median(values: Sequence[float]) -> float | None:
    return round(median(values), 3) if values else None


def _p95(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return _median(values)
    return round(quantiles(values, n=20, method="inclusive")[18], 3)
