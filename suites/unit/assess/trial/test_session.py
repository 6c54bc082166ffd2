"""What a worker makes of a trial: a sweep accuses no controller, whichever attempt it is that is carried out."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from staleproof.assess.run.worker import SessionOptions
from staleproof.assess.trial.references import Hopeless
from staleproof.assess.trial.result import Result
from staleproof.assess.trial.session import Session
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.core.plan.plan import Plan, Subject
from staleproof.core.plan.step import Apply, Together

from ...judged import result

FOUND = Verdict("no-time-travel", Outcome.FAIL, (Finding("it changed w-a", (0,), requirement="no-time-travel", severity="undone"),))
NOTHING = Verdict("no-time-travel", Outcome.PASS)


def sweep(*verdicts: Verdict, interrupted: str = "") -> Result:
    """What came of a sweep of two primaries."""
    found = result("expectations-hidden-creates")
    applied = [Apply(object={"apiVersion": "v1", "kind": "W", "metadata": {"name": name}}) for name in ("w-a", "w-b")]
    plan = structs.replace(found.plan, scenario="sweep", steps=(Together(steps=tuple(applied)),))
    return replace(found, plan=plan, reproduced=(0, 0), verdicts=verdicts, interrupted=interrupted)


class Scripted(Session):
    """A worker whose attempts come to these results, one after the other."""

    def __init__(self, folder: Path, *attempts: Result | Exception) -> None:
        super().__init__(SessionOptions(subject=Subject(command=("./manager",)), run_secret="r"), folder=folder)
        self.attempts, self.ran, self.notes = list(attempts), list[Plan](), list[str]()
        shared: Any = SimpleNamespace(references=lambda plans: contextlib.nullcontext())
        self.wanted = shared

    def _attempt(self, plan: Plan, folder: Path, reruns: int) -> tuple[Result, str]:
        self.ran.append(plan)
        folder.mkdir(parents=True, exist_ok=True)
        came = self.attempts.pop(0)
        if isinstance(came, Exception):
            raise came
        return replace(came, plan=plan), ""

    def has_time(self, seconds: float) -> bool:
        return True

    def note(self, name: str, text: str) -> None:
        self.notes.append(name)

    def renew(self) -> None:
        """There is no process that could be started anew."""


def trial(tmp_path: Path, attempts: Sequence[Result | Exception]) -> tuple[Result, Scripted]:
    worker = Scripted(tmp_path, *attempts)
    return worker._trial(sweep().plan, 2), worker


BROKEN_OFF = sweep(NOTHING, interrupted="a step of the workload could not be done: it is still there")


@pytest.mark.parametrize("before", [[], [BROKEN_OFF]], ids=["carried out", "carried out the second time"])
def test_what_is_suspected_in_a_sweep_and_not_seen_alone_accuses_no_controller(tmp_path: Path, before: list[Result]) -> None:
    came, worker = trial(tmp_path, [*before, sweep(FOUND), sweep(NOTHING)])
    assert not came.failures
    assert len(worker.ran) == len(before) + 2, "w-a is run alone"
    assert worker.notes == ["suspected in the sweep 001, and not seen alone"]


def test_a_suspect_whose_fault_free_runs_are_of_no_use_stays_open(tmp_path: Path) -> None:
    came, _ = trial(tmp_path, [sweep(FOUND), Hopeless("nothing can be judged")])
    assert came.is_unconfirmed
    assert not came.failures


def test_a_sweep_that_is_broken_off_twice_stands_as_that(tmp_path: Path) -> None:
    came, worker = trial(tmp_path, [BROKEN_OFF, BROKEN_OFF])
    assert came.interrupted == BROKEN_OFF.interrupted
    assert len(worker.ran) == 2
