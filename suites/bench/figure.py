"""Figures: the measured value, its target, and the table that shows them. Nothing is measured here."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

BURST_RATIO = 1 / 2.5
GET_RATIO = 1 / 2
ADDED_LATENCY_MS = 0.3
ENTRIES_PER_SECOND = 100_000
PROXY_MB = 110
STREAM_KB = 600
IDLE_SHARE = 0.02
HELD_KB = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table. `met` is None if there is no target, `direct` if there is nothing to compare with."""

    name: str
    unit: str
    value: float
    direct: float | None = None
    target: str = ""
    met: bool | None = None

    @property
    def ratio(self) -> float | None:
        """Value to direct."""
        return None if not self.direct else self.value / self.direct

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"ratio": self.ratio}


def burst(name: str, direct: float, ratio: float) -> Figure:
    """Events per second of a burst: direct, and through the proxy, which may be slower by BURST_RATIO."""
    return at_least(name, "events/s", direct, ratio, limit=BURST_RATIO)


def at_least(name: str, unit: str, direct: float, ratio: float, *, limit: float) -> Figure:
    """A rate: direct, and through the proxy, which may be slower by this ratio."""
    target, met = f"≥ 1/{1 / limit:g}", ratio >= limit
    return Figure(name=name, unit=unit, direct=direct, value=direct * ratio, target=target, met=met)


def at_most(name: str, unit: str, value: float, limit: float, *, target: str = "") -> Figure:
    """A figure with an upper limit; `target` is how the table shows it."""
    return Figure(name=name, unit=unit, value=value, target=target or f"≤ {limit:g} {unit.partition('/')[0]}", met=value <= limit)


def table(figures: Sequence[Figure]) -> Table:
    made = Table(title="proxy and checkers, medians of interleaved rounds")
    for heading in ("", "direct", "proxied", "unit", "ratio", "target", "met"):
        made.add_column(heading, justify="left" if heading in ("", "unit", "target", "met") else "right")
    for figure in figures:
        made.add_row(
            figure.name,
            "" if figure.direct is None else _number(figure.direct),
            _number(figure.value),
            figure.unit,
            _ratio(figure.ratio),
            figure.target,
            {True: "yes", False: "NO", None: ""}[figure.met],
        )
    return made


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _ratio(ratio: float | None) -> str:
    if ratio is None:
        return ""
    return f"1/{1 / ratio:.2f}" if ratio < 1 else f"{ratio:.2f}"
