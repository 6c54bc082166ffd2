"""Samples of the schemas of well-known operators are accepted by the real API server, and moves are found for each kind.

A command of its own runs it (ci/crds), because it takes minutes, and writes docs/crds.md. STALEPROOF_DRAWN is how many samples are
drawn of each kind.
"""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from rich.console import Console
from rich.table import Table

from staleproof.drive.cluster.api import Api
from staleproof.drive.cluster.control_plane import ControlPlaneOptions, Silent, control_plane

from .public_crds import Answers, Kind, ask, published, serve
from .stage import direct_api

pytestmark = pytest.mark.crds

DRAWN = int(os.environ.get("STALEPROOF_DRAWN", "10"))
LEAST_KINDS, LEAST_OPERATORS, LEAST_ACCEPTED = 30, 15, 0.95
LIMIT_SECONDS = 300.0
HEADINGS = ("kind", "objects drawn", "accepted", "moves", "asked", "accepted", "moves by kind")
WIDTH = 200


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crowd(go: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Api, Sequence[Kind]]]:
    """An API server that serves them all."""
    kinds = published(go)
    folder = tmp_path_factory.mktemp("crds")
    async with control_plane(ControlPlaneOptions(), folder, Silent()) as plane, direct_api(plane) as api:
        async with asyncio.timeout(LIMIT_SECONDS):
            await serve(api, kinds)
        yield api, kinds


async def test_what_is_drawn_is_accepted(crowd: tuple[Api, Sequence[Kind]], capsys: pytest.CaptureFixture[str]) -> None:
    api, kinds = crowd
    every = [await ask(api, kind, DRAWN) for kind in kinds]
    with capsys.disabled():
        tell(every)
    if page := os.environ.get("STALEPROOF_CRDS_PAGE"):
        write(Path(page), every)

    assert len(every) >= LEAST_KINDS
    assert len({kind.module for kind in kinds}) >= LEAST_OPERATORS
    drawn, accepted = sum(each.drawn for each in every), sum(each.accepted for each in every)
    assert accepted >= LEAST_ACCEPTED * drawn, [f"{each.kind}: {why}" for each in every for why in each.refused]
    assert [each.kind for each in every if each.accepted and not each.moves] == []


def summary(every: Sequence[Answers]) -> str:
    drawn, accepted = sum(each.drawn for each in every), sum(each.accepted for each in every)
    tried, allowed = sum(each.tried_moves for each in every), sum(each.accepted_moves for each in every)
    return (
        f"{len(every)} kinds: {accepted} of {drawn} drawn objects accepted ({accepted / drawn:.1%}), "
        f"{allowed} of {tried} moves ({allowed / tried:.1%})"
    )


def rows(every: Sequence[Answers]) -> list[list[str]]:
    found = []
    for each in every:
        by_kind = ", ".join(f"{kind} {count}" for kind, count in each.moves.most_common())
        figures = (each.drawn, each.accepted, each.moves.total(), each.tried_moves, each.accepted_moves)
        found.append([each.kind, *map(str, figures), by_kind])
    return found


def reasons(every: Sequence[Answers]) -> list[list[str]]:
    """How often, of which kind, what was refused and why; the most frequent first."""
    found = Counter[tuple[str, str, str]]()
    for each in every:
        found.update({(each.kind, "object", why[:WIDTH]): count for why, count in each.refused.items()})
        found.update({(each.kind, "move", why[:WIDTH]): count for why, count in each.refused_moves.items()})
    return [[str(count), *words] for words, count in found.most_common()]


def tell(every: Sequence[Answers]) -> None:
    table = Table(title=summary(every), title_justify="left")
    for heading in HEADINGS:
        table.add_column(heading)
    for row in rows(every):
        table.add_row(*row)
    console = Console(width=WIDTH)
    console.print()
    console.print(table)
    for words in reasons(every):
        console.print(": ".join(words), markup=False, highlight=False)


def write(page: Path, every: Sequence[Answers]) -> None:
    """Put the tables into the page, between their markers."""
    begin, end = "<!-- crds: begin -->\n", "<!-- crds: end -->"
    before, _, rest = page.read_text().partition(begin)
    text = f"{summary(every)}.\n\n{_table(HEADINGS, rows(every))}\n### What was refused, and why\n\n"
    text += _table(("times", "kind", "what", "why"), reasons(every))
    page.write_text(f"{before}{begin}{text}{end}{rest.partition(end)[2]}")


def _table(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *([" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in cells)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
