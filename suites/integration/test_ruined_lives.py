"""What one trial has done to the controller is not held against the next one: that begins in a new life, and says so."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from staleproof.assess.store.run_folder import HISTORY, read_history
from staleproof.assess.trial.result import Result
from staleproof.assess.trial.session import Session
from staleproof.checks.verdict import Outcome
from staleproof.core.fault import SeverStream, Window
from staleproof.core.history.entry import Exited, Probed, Started
from staleproof.core.plan.plan import Plan, Settle, Subject
from staleproof.core.plan.step import Apply, Patch
from staleproof.drive.trial.environment import Environment
from staleproof.errors import SetupError

from .environments import CRDS, WIDGET, fixture, of, session_in, target

PLAN = Plan(
    scenario="lives",
    title="a stream breaks off",
    steps=(Apply(object=WIDGET), Patch(target=target(WIDGET), patch={"spec": {"replicas": 5}})),
    faults=(SeverStream(resource="pods", window=Window(from_step=2)),),
    settle=Settle(deadline_seconds=2.0),
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with session_in(tmp_path_factory, manifests=CRDS) as session:
        session.use(fixture("deterministic"))
        yield session


def signals(session: Session, number: int) -> None:
    """Do this to the controller's process between two trials."""

    async def sent(env: Environment) -> None:
        assert env.lives.program is not None
        await env.lives.program.send_signal(number)
        if number == signal.SIGKILL:
            await env.lives.program.wait()

    session.call(sent)


def outcomes(result: Result) -> set[Outcome]:
    return {verdict.outcome for verdict in result.verdicts}


@pytest.mark.live
def test_a_controller_that_was_left_doing_nothing_gets_a_new_life_and_the_trial_before_is_named(session: Session) -> None:
    first = session.trial(PLAN)
    assert outcomes(first) == {Outcome.PASS, Outcome.NOT_EXERCISED}
    assert not of(first.history, Probed), "a controller that has just converged is at work"

    signals(session, signal.SIGSTOP)
    second = session.trial(PLAN)
    assert second.failures == []
    why = second.of("converges-after-catch-up").why
    assert why.startswith("it did nothing any more, but not when the trial was run again in a new life: trial 001 (a stream")
    assert of(second.history, Started)[0].life > of(first.history, Started)[0].life
    assert second.of("survives-stream-loss").outcome is Outcome.PASS, "the new life is judged"

    before = read_history(aside(second))
    assert [entry.works for entry in of(before, Probed)] == [False]
    third = session.trial(PLAN)
    assert outcomes(third) == {Outcome.PASS, Outcome.NOT_EXERCISED}


def aside(result: Result) -> Path:
    """The history of the run that does not count."""
    (path,) = [path for path in result.folder.glob(f"*/{HISTORY}") if "rerun" not in path.parent.name]
    return path


def test_a_controller_that_died_between_two_trials_is_named_with_the_first(session: Session) -> None:
    first = session.trial(PLAN)
    signals(session, signal.SIGKILL)
    second = session.trial(PLAN)
    named = f"when trial {first.name} (a stream breaks off) was over, its process exited by itself between two trials (code 137"
    assert second.of("converges-after-catch-up").why.startswith(named)
    assert second.failures == []
    assert not of(second.history, Exited)


def frail(crashes: Path) -> Subject:
    """A controller that reads what is left of an earlier life and panics at the start, as often as the file has lines."""
    panics = 'if [ -s "$CRASHES" ]; then sed -i 1d "$CRASHES"; echo "panic: my checkpoint is corrupt"; exit 2; fi; '
    start = f"{panics}exec {sys.executable} -m staleproof.fixtures.controllers.deterministic"
    return Subject(command=("sh", "-c", start), env={"CRASHES": str(crashes)})


def test_a_life_that_cannot_begin_after_a_trial_is_tried_again_and_the_trial_is_named(session: Session, tmp_path: Path) -> None:
    crashes = tmp_path / "crashes"
    session.use(frail(crashes))
    first = session.trial(PLAN)
    crashes.write_text("once\n")
    session.renew()
    second = session.trial(PLAN)
    named = (
        f"when trial {first.name} (a stream breaks off) was over, its process exited by itself between two trials (code 2: panic: "
    )
    assert second.of("converges-after-catch-up").why.startswith(named)
    assert second.of("survives-stream-loss").outcome is Outcome.PASS, "the new life is judged"
    assert second.failures == []


@pytest.mark.live
def test_a_controller_that_never_starts_again_after_a_trial_does_not_end_the_run(session: Session, tmp_path: Path) -> None:
    crashes = tmp_path / "crashes"
    session.use(frail(crashes))
    first = session.trial(PLAN)
    crashes.write_text("again\n" * 1000)
    session.renew()
    second = session.trial(PLAN)
    assert second.failures == []
    assert Outcome.PASS not in outcomes(second)
    assert of(second.history, Exited)
    crashes.unlink()
    session.renew()
    third = session.trial(PLAN)
    assert third.of("survives-stream-loss").outcome is Outcome.PASS
    assert not of(third.history, Exited)
    assert f"when trial {first.name} " in second.of("converges-after-catch-up").why


def test_a_controller_that_never_starts_is_a_fault_of_the_surroundings(session: Session, tmp_path: Path) -> None:
    crashes = tmp_path / "crashes"
    crashes.write_text("again\n" * 1000)
    session.use(frail(crashes))
    with pytest.raises(SetupError, match=r"exited with code 2 before any trial\.(.|\n)*my checkpoint is corrupt"):
        session.ready()
