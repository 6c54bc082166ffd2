"""The ways to keep a role in line that are measured, and the table of what each cost. Pure."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

POLL_SECONDS = 2.0
SAFETY_SECONDS = 10.0
"""Between two safety polls of what hears of changes."""


@dataclass(frozen=True, slots=True)
class Way:
    """A controller, its period, and whether a change outside is announced to those that listen."""

    title: str
    controller: str
    every_seconds: float
    is_announced: bool = False


WAYS = (
    Way("in the cluster, watched", "in_cluster", POLL_SECONDS),
    Way("periodic requeue", "periodic", POLL_SECONDS),
    Way("inline poll", "inline_poll", POLL_SECONDS),
    Way("inline poll, in Go", "go-account", POLL_SECONDS),
    Way("side-car poller that enqueues", "side_poller", POLL_SECONDS),
    Way("poller that writes `.status`", "status_poller", POLL_SECONDS),
    Way("LISTEN/NOTIFY with a safety poll", "listening", SAFETY_SECONDS, is_announced=True),
    Way("the same, the notification lost", "listening", SAFETY_SECONDS),
    Way("logical decoding with a safety poll", "decoding", SAFETY_SECONDS, is_announced=True),
)


@dataclass(frozen=True, slots=True)
class Repair:
    """After one change outside: seconds until the role was right again, and as long as the status said Ready all the same."""

    seconds: float
    wrong_seconds: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What a way cost. `calls`: made in `quiet_seconds` in which nothing happened, for so many objects."""

    way: Way
    objects: int
    calls: int
    quiet_seconds: float
    repairs: tuple[Repair, ...]

    @property
    def calls_a_minute(self) -> float:
        """Of each object."""
        return self.calls / self.objects / self.quiet_seconds * 60


def table(costs: Sequence[Cost]) -> str:
    """As Markdown."""
    heads = (
        "pattern",
        "period",
        "calls per object and minute",
        "seconds to repair: median, longest",
        "seconds until the status tells: median, longest",
    )
    rows = ["| " + " | ".join(heads) + " |", "|---|---|---|---|---|"]
    rows += ["| " + " | ".join(_cells(cost)) + " |" for cost in costs]
    return "\n".join(rows)


def _cells(cost: Cost) -> tuple[str, ...]:
    way = cost.way
    repaired = _spread(each.seconds for each in cost.repairs)
    wrong = _spread(each.wrong_seconds for each in cost.repairs)
    return way.title, f"{way.every_seconds:g} s", f"{cost.calls_a_minute:.1f}", repaired, wrong


def _spread(seconds: Iterable[float]) -> str:
    every = sorted(seconds)
    return f"{statistics.median(every):.2f}, {every[-1]:.2f}" if every else "-"
