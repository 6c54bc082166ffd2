"""Random legal plans against a real API server: whatever was done to a client, its copy is right in the end, object for object, and
nothing that the proxy showed it breaks a property of a watch.

STALEPROOF_PROPERTIES is the number of plans (a few unless set; `ci/properties` runs more), STALEPROOF_SEED selects them.
STALEPROOF_ONLY plays one of them.
"""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median

import pytest
from rich.console import Console
from rich.table import Table

from staleproof.checks.facts.fault_outcomes import FaultOutcome, fault_outcomes
from staleproof.core.history.entry import Committed, Delivered, Entry, Opened, Withheld
from staleproof.core.plan.plan import contradictions, decode, encode
from staleproof.drive.cluster.api import connect
from staleproof.drive.cluster.control_plane import RUNNER, ControlPlaneOptions, Silent, control_plane
from staleproof.drive.cluster.truth import watching

from .case import Case, drawn, spoilt
from .lane import Lane, Played, lane

COUNT = int(os.environ.get("STALEPROOF_PROPERTIES", "17"))
SEED = int(os.environ.get("STALEPROOF_SEED", "1"))
ONLY = os.environ.get("STALEPROOF_ONLY", "")
LANES = 3
_LONG_ENOUGH_SECONDS = 5.0


def cases() -> list[tuple[int, Case]]:
    numbered = list(enumerate(drawn(COUNT, SEED), 1))
    return [(number, case) for number, case in numbered if not ONLY or number == int(ONLY)]


def test_drawn_plans_are_legal_and_survive_encoding() -> None:
    found = cases()
    assert found == cases()
    for _, case in found:
        assert contradictions(case.plan) == []
        assert decode(encode(case.plan)) == case.plan


async def test_a_wrong_copy_is_found(tmp_path: Path) -> None:
    async with _lanes(tmp_path, 1) as (alone,):
        of_copy, of_history = (await alone.play(0, spoilt(), limit_seconds=_LONG_ENOUGH_SECONDS)).flaws
    assert of_copy.startswith("LIST + WATCH has {'b': ")
    assert of_history.startswith("history: Reliable: ")


async def test_every_copy_is_right_in_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    played = await _play(cases(), tmp_path)
    with capsys.disabled():
        _tell(played)
    assert len(played) == len(cases())
    flaws = [f"plan {each.number} of seed {SEED}: {flaw}" for each in played for flaw in each.flaws]
    assert not flaws, "\n".join([*flaws, f"histories: {tmp_path}"])
    if not ONLY:
        assert sum(fault.outcome == "fired" for each in played for fault in fault_outcomes(each.history)) >= len(played) / 2


async def _play(todo: Sequence[tuple[int, Case]], folder: Path) -> list[Played]:
    played: list[Played] = []
    left = iter(todo)
    async with _lanes(folder, LANES) as lanes, asyncio.TaskGroup() as group:

        async def work(on: Lane) -> None:
            for number, case in left:
                played.append(await on.play(number, case))

        for each in lanes:
            group.create_task(work(each))
    return sorted(played, key=lambda each: each.number)


@asynccontextmanager
async def _lanes(folder: Path, count: int) -> AsyncIterator[list[Lane]]:
    """One control plane with one truth, and a proxy for each lane."""
    lanes: list[Lane] = []

    def spread(entry: Entry) -> None:
        for each in lanes:
            each.take(entry)

    async with control_plane(ControlPlaneOptions(), folder / "control-plane", Silent()) as plane:
        access = plane.access(RUNNER)
        async with (
            connect(plane.server, access.tls(), access.headers) as api,
            watching(api, spread) as truth,
            AsyncExitStack() as stack,
        ):
            for number in range(count):
                (folder / f"lane-{number}").mkdir()
                lanes.append(await stack.enter_async_context(lane(plane, api, truth, folder / f"lane-{number}")))
            yield lanes


def _tell(played: Sequence[Played]) -> None:
    console = Console()
    faults = [fault for each in played for fault in fault_outcomes(each.history)]
    table = Table(title=f"{len(played)} random plans, seed {SEED}", title_justify="left")
    for heading in ("fault", "planned", "fired", "refused", "not fired"):
        table.add_column(heading, justify="left" if heading == "fault" else "right")
    for name in sorted({fault.name for fault in faults}):
        table.add_row(name, *_counts([fault for fault in faults if fault.name == name]))
    table.add_row("all", *_counts(faults), style="bold")
    console.print(table)
    entries = Counter(type(entry) for each in played for entry in each.history.entries)
    slowest = max(played, key=lambda each: each.catch_up_seconds)
    console.print(
        f"{sum(len(each.case.clients) for each in played)} clients, {entries[Opened]} streams, {entries[Committed]} commits, "
        f"{entries[Delivered]} frames shown, {entries[Withheld]} withheld; {sum(len(each.flaws) for each in played)} flaws",
        highlight=False,
    )
    console.print(
        f"caught up after {median(each.catch_up_seconds for each in played):.2f} s (median), "
        f"slowest {slowest.catch_up_seconds:.2f} s (plan {slowest.number})",
        highlight=False,
    )


def _counts(faults: Sequence[FaultOutcome]) -> list[str]:
    outcomes = Counter(fault.outcome for fault in faults)
    return [str(len(faults)), *(str(outcomes[word]) for word in ("fired", "refused", "not fired"))]
