"""What a trial may cost, from the plan and the references; and the table."""

from typing import Any, Literal

import pytest
from rich.console import Console

from staleproof.core.fault import DelayStream, HoldStream, Skew, Window
from staleproof.core.history.entry import Committed, Entry, Settled, StepBegan, StepEnded
from staleproof.core.history.history import Header, History
from staleproof.core.history.resource_version import Revision
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest

from ...bench.trials import Ran, Timed, bound, holds, table, working_seconds

PLAN = Plan(scenario="x", steps=(Rest(seconds=2.0), Rest(seconds=1.0)))


def commit(at: float, resource: str = "pods", namespace: str = "ns", *, kind: Literal["ADDED", "MODIFIED"] = "ADDED") -> Committed:
    stated = {"metadata": {"name": "a"}, "status": {"lastHeartbeatTime": f"2026-01-01T00:00:0{int(at)}Z"}}
    named: dict[str, Any] = {"namespace": namespace, "name": "a", "uid": "u"}
    return Committed(at=at, resource=resource, type=kind, **named, revision=Revision(int(at * 10)), object=stated)


def reference(*entries: Entry) -> History:
    return History(Header(role="reference", plan=PLAN, namespace="ns", primaries=(), environment={}, started=""), entries)


def steps(*commits: Entry) -> History:
    """Two steps, with a long wait after each."""
    return reference(
        StepBegan(at=1.0, step=1, does=""), *commits, StepEnded(at=9.0, step=1, idle=True), StepBegan(at=10.0, step=2, does="")
    )


def test_the_controller_has_worked_until_its_last_commit_of_each_step() -> None:
    assert working_seconds(steps()) == 0.0
    assert working_seconds(steps(commit(1.2), commit(3.0))) == 2.0
    assert working_seconds(steps(commit(3.0, namespace="other"), commit(4.0, "leases.coordination.k8s.io"))) == 0.0
    beats = [commit(1.2), *(commit(at, kind="MODIFIED") for at in (2.0, 4.0, 6.0))]
    assert working_seconds(steps(*beats)) == pytest.approx(0.2)
    late = reference(StepBegan(at=1.0, step=1, does=""), commit(1.5), Settled(at=5.0, ok=True), commit(6.0))
    assert working_seconds(late) == 0.5


def test_a_plan_holds_as_long_as_it_rests_and_as_its_faults_are_late() -> None:
    assert holds(PLAN) == 3.0
    late = (
        DelayStream(resource="pods", by_seconds=1.5),
        Skew(by_seconds={"pods": 1.0, "configmaps": 4.0}),
        HoldStream(resource="pods", window=Window(seconds=6.0)),
    )
    assert holds(Plan(scenario="x", steps=PLAN.steps, faults=late)) == 14.5


def test_the_bound_follows_the_slowest_reference() -> None:
    assert bound(PLAN, [steps(), steps(commit(3.0))]) == 1.5 * (2.0 + 3.0) + 0.5
    assert bound(PLAN, []) is None


def test_the_table_says_what_was_not_measured() -> None:
    trials = [Timed(1.0, 2.0, {"steps": 0.5}), Timed(3.0, 2.0, {"steps": 2.5}), Timed(2.0, None, {})]
    complete = Ran(controller="A", checkout="this", minutes=1.25, whole=True, trials=trials)
    none = Ran(controller="A", checkout="old", minutes=0.5, whole=False, trials=(), trouble="its time was over")
    row = complete.as_json()
    assert (row["median"], row["medianBound"], row["p95"], row["within"], row["steps"]) == (2.0, 2.0, 2.9, 1, 3.0)
    assert row["beside"] == 4 * 75 - 6
    console = Console(width=190)
    with console.capture() as capture:
        console.print(table([complete, none]))
    lines = [line for line in capture.get().splitlines() if "│ A" in line]
    assert [[cell.strip() for cell in line.strip("│ ").split("│")][:8] for line in lines] == [
        ["A", "this", "3", "1.2", "2.0", "2.0", "2.9", "1/2"],
        ["A", "old", "0", "(0.5)", "-", "-", "-", "0/0"],
    ]
