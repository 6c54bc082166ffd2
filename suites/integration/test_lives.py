"""Faults about the controller's process, on a real controller: killed at a write, restarted, kept down, paused.

One environment serves the whole file. The controller is the honest one with deterministic names: whatever is done to its process,
the pods that the Widget wants are there in the end, and no others.
"""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from staleproof.core.entry import Asked, Committed, Continued, Entry, FaultFired, FaultMissed, Settled, Started, StepBegan, Stopped
from staleproof.core.fault import AnyFault, Kill, Pause, Refuse, Restart, Window
from staleproof.core.history import History
from staleproof.core.plan import Apply, Patch, Plan, Subject, Target, Touch
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.cluster.truth import Key
from staleproof.drive.trial.environment import Environment, EnvironmentOptions, environment
from staleproof.drive.trial.run import TrialSpec, run_trial

MANIFESTS = Path(__file__).parents[2] / "fixtures" / "manifests"
SAMPLE: dict[str, Any] = yaml.safe_load((MANIFESTS / "widget-sample.yaml").read_text())
WIDGET = Target(SAMPLE["apiVersion"], SAMPLE["kind"], SAMPLE["metadata"]["name"])
SCALED = 5
LIMIT_SECONDS = 60.0


class Stage:
    def __init__(self, runner: asyncio.Runner, made: Environment, folder: Path) -> None:
        self._runner, self._environment, self._folder = runner, made, folder

    def run(self, *faults: AnyFault) -> History:
        steps = (Apply(object=SAMPLE), Touch(target=WIDGET), Patch(target=WIDGET, patch={"spec": {"replicas": SCALED}}))
        plan = Plan(scenario="lives", steps=steps, faults=faults)
        folder = self._folder / str(len(list(self._folder.iterdir())))
        trial = TrialSpec(plan=plan, folder=folder, converged=missing, deadline_seconds=LIMIT_SECONDS)
        return self._runner.run(run_trial(trial, self._environment))


def missing(live: Mapping[Key, Any]) -> str:
    """What the Widget still lacks."""
    pods = sum(resource == "pods" for resource, _, _ in live)
    return "" if pods == SCALED else f"{pods} pods of {SCALED}"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("lives")
    crd = list(yaml.safe_load_all((MANIFESTS / "widget-crd.yaml").read_text()))
    subject = Subject(command=(sys.executable, "-m", "staleproof.fixtures.controllers.deterministic"))
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        made = runner.run(
            stack.enter_async_context(
                environment(EnvironmentOptions(subject=subject, manifests=crd), folder / "environment", Silent())
            )
        )
        (folder / "trials").mkdir()
        try:
            yield Stage(runner, made, folder / "trials")
        finally:
            runner.run(stack.aclose())


def of(history: History, *kinds: type[Entry]) -> list[Any]:
    return [entry for entry in history.entries if isinstance(entry, kinds)]


def names_created(history: History) -> list[str]:
    return sorted(entry.name for entry in of(history, Committed) if entry.resource == "pods" and entry.type == "ADDED")


def is_well(history: History) -> None:
    """It ended as it should have, and nothing was made twice."""
    assert [entry.ok for entry in of(history, Settled)] == [True]
    assert len(names_created(history)) == len(set(names_created(history))) == SCALED


@pytest.mark.parametrize(("moment", "committed"), [("before", 1), ("after", 2)])
def test_a_kill_at_a_write_leaves_it_done_or_undone(stage: Stage, moment: Any, committed: int) -> None:  # noqa: ANN401  # a Literal
    history = stage.run(Kill(resource="pods", verb="create", nth=2, moment=moment))
    is_well(history)
    (stopped,) = of(history, Stopped)
    _, again = of(history, Started)
    assert again.life == stopped.life + 1
    assert again.pid
    by_then = [e for e in of(history, Committed) if e.resource == "pods" and e.type == "ADDED" and e.at <= stopped.at]
    assert len(by_then) == committed
    asked = [entry for entry in of(history, Asked) if entry.resource == "pods" and entry.verb == "create"]
    assert len(asked) >= SCALED + (moment == "before")  # what was not done was asked for again


@pytest.mark.parametrize("gently", [False, True])
def test_a_restart_ends_one_life_and_begins_the_next_before_the_step_is_done(stage: Stage, gently: bool) -> None:  # noqa: FBT001
    history = stage.run(Restart(window=Window(from_step=2), gently=gently))
    is_well(history)
    (stopped,), (_, started) = of(history, Stopped), of(history, Started)
    second = of(history, StepBegan)[1]
    assert stopped.at <= started.at <= second.at
    assert [entry.on for entry in of(history, FaultFired)] == [f"the controller was {'stopped' if gently else 'killed'}"]


def test_a_controller_that_stays_down_does_nothing_until_the_fault_closes(stage: Stage) -> None:
    history = stage.run(Restart(window=Window(from_step=2), stays_down=True))
    is_well(history)
    (stopped,), (_, started) = of(history, Stopped), of(history, Started)
    third = of(history, StepBegan)[2]
    assert stopped.at < third.at < started.at
    assert not [entry for entry in of(history, Asked) if stopped.at < entry.at < started.at]


def test_a_paused_controller_does_nothing_and_goes_on_in_the_same_life(stage: Stage) -> None:
    history = stage.run(Pause(window=Window(from_step=2)))
    is_well(history)
    (stopped,), (continued,) = of(history, Stopped), of(history, Continued)
    assert stopped.paused
    assert stopped.life == continued.life
    assert len(of(history, Started)) == 1
    assert not [entry for entry in of(history, Asked) if stopped.at < entry.at < continued.at]


def test_a_controller_that_cannot_connect_for_a_while_recovers(stage: Stage) -> None:
    history = stage.run(Refuse(window=Window(from_step=2, seconds=1.0)))
    is_well(history)
    assert of(history, FaultFired)


def test_a_kill_at_a_write_that_never_comes_is_reported_as_missed(stage: Stage) -> None:
    history = stage.run(Kill(resource="pods", verb="create", nth=50))
    is_well(history)
    (missed,) = of(history, FaultMissed)
    assert "number 50" in missed.why
    assert not of(history, Stopped)
