"""A subject of two programs: each has a token, a life and a log of its own; what happens to one does not happen to the other."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from msgspec import structs

from staleproof.core.fault import HoldStream, Kill, Restart, Window
from staleproof.core.history.entry import Asked, Committed, FaultClosed, Opened, Released, Started, StepBegan, Stopped, Withheld
from staleproof.core.history.history import History
from staleproof.core.plan.plan import FurtherProgram, Plan, Subject
from staleproof.core.plan.step import Apply, Patch, Rest
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.trial.environment import EnvironmentOptions, environment
from staleproof.errors import SetupError

from .environments import CRDS, WIDGET, Player, fixture, of, target

WIDGETS = "widgets.staleproof.dev"
GROWN = Patch(target=target(WIDGET), patch={"spec": {"replicas": 5}})


def with_reporter(*command: str) -> Subject:
    """A controller that makes pods, and beside it a program that reports what a Widget asks for."""
    usual = fixture("childless", "reports").command
    return structs.replace(fixture("deterministic"), also=(FurtherProgram(name="reporter", command=command or usual),))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def player(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Player]:
    folder = tmp_path_factory.mktemp("environment")
    (folder / "trials").mkdir()
    options = EnvironmentOptions(subject=with_reporter(), manifests=CRDS)
    async with environment(options, folder / "environment", Silent()) as made:
        yield Player(made, folder / "trials")


def writing_phases(history: History, client: str) -> list[str]:
    """In which phases this one of them asked to write a status: the number of the step, or nothing once a fault has closed."""
    phase, found = "", list[str]()
    for entry in history.entries:
        match entry:
            case StepBegan(step=step):
                phase = str(step)
            case FaultClosed():
                phase = ""
            case Asked(subresource="status") if entry.client == client:
                found.append(phase)
    return list(dict.fromkeys(found))


@pytest.mark.live
async def test_one_is_held_back_and_the_other_goes_on(player: Player) -> None:
    hold = HoldStream(resource=WIDGETS, program="reporter", window=Window(2))
    history = await player.play(Plan(scenario="programs", steps=(Apply(object=WIDGET), GROWN, Rest(seconds=0.5)), faults=(hold,)))
    assert history.header.programs == ("reporter",)
    assert {entry.client for entry in of(history, Asked, Opened)} == {"controller", "reporter"}
    streams = {entry.stream: entry.client for entry in of(history, Opened)}
    assert {streams[entry.stream] for entry in of(history, Withheld)} == {"reporter"}
    released = of(history, Released)[0].at
    pods = [entry.at for entry in of(history, Committed) if entry.resource == "pods" and entry.type == "ADDED"]
    assert len(pods) == 5
    assert max(pods) < released, "the controller is shown the change"
    assert (writing_phases(history, "reporter"), writing_phases(history, "controller")) == (["1", ""], ["1", "2"])


@pytest.mark.live
async def test_one_is_restarted_and_killed_at_its_write_and_the_other_lives_on(player: Player) -> None:
    restart = Restart(program="reporter", window=Window(2))
    kill = Kill(resource=WIDGETS, verb="update", subresource="status", program="reporter", window=Window(3))
    grown = Patch(target=target(WIDGET), patch={"spec": {"replicas": 4}})
    history = await player.play(
        Plan(scenario="programs", steps=(Apply(object=WIDGET), GROWN, grown, Rest(seconds=0.5)), faults=(restart, kill))
    )
    assert [(entry.program, entry.fault) for entry in of(history, Stopped)] == [("reporter", 0), ("reporter", 1)]
    lives = [(entry.program, entry.life) for entry in of(history, Started)]
    first = {program: life for program, life in reversed(lives)}
    assert lives == [("", first[""]), *(("reporter", first["reporter"] + n) for n in range(3))]
    assert "3" in writing_phases(history, "reporter")


@pytest.mark.live
async def test_each_has_a_log_of_its_own_without_its_token(player: Player) -> None:
    await player.play(Plan(scenario="programs", steps=(Apply(object=WIDGET),)))
    controller, reporter, _ = player.environment.logs
    assert (controller.name, reporter.name) == ("controller.log", "reporter.log")
    tokens = set(player.environment.bus.tokens.values())
    assert len(tokens) == 1
    assert tokens <= set(player.environment.secrets)
    kept = {path.name for path in Path(player._folder).glob("*/*.log")}
    assert {"controller.log", "reporter.log", "proxy.log"} <= kept


@pytest.mark.live
async def test_one_that_exits_before_any_trial_is_named(tmp_path: Path) -> None:
    options = EnvironmentOptions(subject=with_reporter(sys.executable, "-c", "print('no database'); exit(3)"), manifests=CRDS)
    async with environment(options, tmp_path, Silent()) as made:
        with pytest.raises(
            SetupError, match=r"reporter, a program of the subject \(also\), exited with code 3 before any trial"
        ) as refused:
            await made.controller_ready()
    assert "no database" in str(refused.value)
