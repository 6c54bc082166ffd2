"""What says nothing in one trial is tried once more, with a step that has its object; and what the time does not allow is reported.

`fleeting` throws one of its children away by itself, so a step that is to take that one away may come too late.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec
import pytest
import yaml

from staleproof.assess.trial.once_more import BROKEN_OFF, Undoable
from staleproof.assess.trial.result import Result
from staleproof.assess.trial.session import Session
from staleproof.checks.verdict import Outcome
from staleproof.core.fault import DelayStream, HideOwnWrite, Window
from staleproof.core.fault.model import OwnWrite
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Patch, Remove, Rest, Together, Touch
from staleproof.errors import OutOfTime

from .environments import CRDS, MANIFESTS, WIDGET, fixture, session_in, target

CONTENT = yaml.safe_load((MANIFESTS / "widget-content-sample.yaml").read_text())
TAKES_THE_KEY_AWAY = Plan(
    scenario="drawn",
    title="the key goes",
    aims=("converges-after-catch-up",),
    steps=(
        Apply(object=CONTENT),
        Patch(target=target(CONTENT), patch={"spec": {"replicas": 4}}),
        Remove(resource="secrets", nth=1),
        Touch(target=target(CONTENT)),
    ),
    faults=(DelayStream(resource="pods", by_seconds=0.2, window=Window(2)),),
)
HIDES_CREATES = Plan(
    scenario="own-writes",
    title="own creates are hidden",
    aims=("no-duplicate-create",),
    steps=(Apply(object=WIDGET), Touch(target=target(WIDGET))),
    faults=(HideOwnWrite(resource="pods", write=OwnWrite("create"), window=Window(1, 3)),),
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with session_in(tmp_path_factory, manifests=CRDS) as session:
        yield session


def outcomes(result: Result) -> set[Outcome]:
    return {verdict.outcome for verdict in result.verdicts}


def test_a_step_that_comes_too_late_for_its_object_is_done_to_another_one(session: Session) -> None:
    session.use(fixture("habits", "fleeting"))
    result = session.trial(TAKES_THE_KEY_AWAY)
    assert result.again == BROKEN_OFF
    done = result.plan.steps[2]
    assert isinstance(done, Remove)
    assert done.resource in ("pods", "configmaps")
    assert f"remove {done.resource} number 1 in place of remove secrets number 1" in result.plan.title
    assert result.interrupted == ""
    assert outcomes(result) == {Outcome.PASS, Outcome.NOT_EXERCISED}
    assert result.of("converges-after-catch-up").outcome is Outcome.PASS
    assert (result.folder / BROKEN_OFF / "history.jsonl.gz").exists(), "nothing recorded is lost"


@pytest.mark.live
def test_what_can_never_be_done_is_the_plan_s_own_fault(session: Session) -> None:
    session.use(fixture("deterministic"))
    plan = Plan(scenario="own", steps=(Apply(object=WIDGET), Remove(resource="jobs.batch"), Touch(target=target(WIDGET))))
    with pytest.raises(Undoable, match=r"step 2 \(remove jobs.batch number -1\): there are 0 such children"):
        session.trial(plan)


@pytest.mark.live
def test_a_sweep_goes_on_without_a_primary_that_the_api_server_does_not_accept(session: Session) -> None:
    session.use(fixture("deterministic"))
    good, bad = ({**WIDGET, "metadata": {**WIDGET["metadata"], "name": name}} for name in ("sweep-a", "sweep-b"))
    bad["spec"] = {**bad["spec"], "replicas": -1}
    plan = Plan(scenario="sweep", steps=(Together(steps=(Apply(object=good), Apply(object=bad))), Rest(seconds=0.1)))
    result = session.trial(plan)
    assert result.plan.steps == (Apply(object=good), Rest(seconds=0.1))
    assert result.interrupted == ""
    with pytest.raises(Undoable, match="sweep-b"):
        session.trial(msgspec.structs.replace(plan, scenario="own"))


def ending(session: Session, happened: Callable[[], bool]) -> None:
    """Let the time of the session be over as soon as this has happened."""
    began = time.monotonic()
    session.options = replace(session.options, ends=lambda: began if happened() else math.inf)


@pytest.mark.live
def test_a_finding_that_there_is_no_time_to_confirm_is_inconclusive(session: Session) -> None:
    session.use(fixture("naive"))
    begun = session.run.folder / "trials"
    ending(session, lambda: any(begun.glob("*/rerun-1-*")))
    try:
        result = session.trial(HIDES_CREATES)
    finally:
        session.options = replace(session.options, ends=lambda: math.inf)
    assert (result.failures, result.is_unconfirmed) == ([], True)
    verdict = result.of("no-duplicate-create")
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.why.startswith("unconfirmed, because the run ended first: pod/")
    confirmed = session.trial(HIDES_CREATES)
    assert [each.requirement for each in confirmed.failures] == ["no-duplicate-create"]
    assert confirmed.reproduced == (3, 3)


def test_a_trial_is_broken_off_when_the_time_is_over_and_the_next_one_is_not_begun(session: Session) -> None:
    session.use(fixture("deterministic"))
    session.references.of(HIDES_CREATES)
    end = time.monotonic() + 0.5
    session.options = replace(session.options, ends=lambda: end)
    try:
        with pytest.raises(OutOfTime):
            session.trial(HIDES_CREATES)
        before = time.monotonic()
        with pytest.raises(OutOfTime):
            session.trial(HIDES_CREATES)
        assert time.monotonic() - before < 5
    finally:
        session.options = replace(session.options, ends=lambda: math.inf)
    session.renew()
    assert session.trial(HIDES_CREATES).of("no-duplicate-create").outcome is Outcome.PASS
