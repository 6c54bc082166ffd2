"""What heals after a while is slow and not stuck; what never does is stuck for at least as long as it was waited for.

`retries_late` keeps in the Widget that its handler failed and when it may be called again, twenty seconds later, so that a restart
inherits that. `never_retries` keeps a time that never comes; `starts_over` comes in time, and makes again what it has made.
"""

import re
from collections.abc import Iterator

import pytest
import yaml

from staleproof.assess.store.artefacts import trial_report
from staleproof.assess.store.run_folder import HISTORY, read_history
from staleproof.assess.trial.long_wait import IN_HASTE
from staleproof.assess.trial.result import Result
from staleproof.assess.trial.session import Session
from staleproof.checks.judge import judge
from staleproof.checks.trial import indexed
from staleproof.checks.verdict import Outcome
from staleproof.core.fault import AnyFault, LoseAnswer, Reject, Restart, Window
from staleproof.core.plan.plan import Plan, Subject
from staleproof.core.plan.step import Apply, Patch, Rest

from .environments import CRDS, MANIFESTS, fixture, session_in, target

CONTENT = yaml.safe_load((MANIFESTS / "widget-content-sample.yaml").read_text())
PATIENCE_SECONDS, RETRY_SECONDS = 40.0, 20.0
SLUG, LOST = "converges-after-catch-up", "survives-lost-answer"
pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with session_in(tmp_path_factory, manifests=CRDS, patience=PATIENCE_SECONDS) as session:
        yield session


def tried(session: Session, subject: Subject, replicas: int) -> Result:
    """A create is rejected when the Widget grows, and then the controller is restarted."""
    session.use(subject)
    grows = Patch(target=target(CONTENT), patch={"spec": {"replicas": replicas}})
    faults = (Reject(resource="pods", verb="create", window=Window(2, 3)), Restart(window=Window(3)))
    steps = (Apply(object=CONTENT), grows, Rest(seconds=0.5))
    return session.trial(Plan(scenario="patience", title="a create is rejected", aims=(SLUG,), steps=steps, faults=faults))


def test_what_heals_when_it_is_waited_for_is_a_cost(session: Session) -> None:
    first = tried(session, fixture("habits", "retries_late"), 5)
    assert not first.failures
    assert first.of(SLUG).outcome is Outcome.PASS
    assert first.healed is not None
    assert 10.0 < first.healed.seconds <= RETRY_SECONDS
    assert "fault-free runs ended with 5" in first.healed.lacked
    assert trial_report(first, session.run.folder).healed is not None
    assert (first.folder / IN_HASTE / HISTORY).exists(), "nothing recorded is lost"
    assert judge(read_history(first.folder / HISTORY)) == tuple(first.verdicts)

    second = tried(session, fixture("habits", "retries_late"), 6)
    assert second.of(SLUG).outcome is Outcome.PASS
    assert second.healed is not None
    assert not (second.folder / IN_HASTE).exists(), "the run had learnt how long that takes"


def test_what_never_heals_is_stuck_for_at_least_as_long_as_it_was_waited_for(session: Session) -> None:
    first = tried(session, fixture("mutants", "never_retries"), 5)
    assert first.of(SLUG).outcome is Outcome.FAIL
    assert re.search(r"; stuck for at least 4\d s$", first.of(SLUG).worst.because)
    assert first.of(SLUG).worst.severity == "stuck"
    assert first.reproduced == (3, 3)
    assert judge(read_history(first.folder / HISTORY)) == tuple(first.verdicts)

    second = tried(session, fixture("mutants", "never_retries"), 6)
    assert re.search(r"; stuck for at least 4\d s$", second.of(SLUG).worst.because)
    assert not (second.folder / IN_HASTE).exists(), "it is waited for once for a cause"


def grown(session: Session, fault: AnyFault, slug: str) -> Result:
    """A fault while the Widget grows by one."""
    grows = Patch(target=target(CONTENT), patch={"spec": {"replicas": 4}})
    steps = (Apply(object=CONTENT), grows)
    return session.trial(Plan(scenario="patience", title=f"a create, {fault.tag}", aims=(slug,), steps=steps, faults=(fault,)))


@pytest.mark.parametrize(("folder", "name", "fails"), [("habits", "retries_late", False), ("mutants", "starts_over", True)])
def test_what_a_late_retry_makes_twice_is_waited_for(session: Session, folder: str, name: str, *, fails: bool) -> None:
    session.use(fixture(folder, name))
    rejected = grown(session, Reject(resource="pods", verb="create", window=Window(2, 3)), SLUG)
    assert not rejected.failures, "what was rejected was not made, and is made later"
    found = grown(session, LoseAnswer(resource="pods", verb="create", window=Window(2)), LOST)

    assert found.of(LOST).outcome is (Outcome.FAIL if fails else Outcome.PASS)
    trial = indexed(found.history, found.history.references)
    assert trial.settled is not None
    assert RETRY_SECONDS - 1 < trial.at(trial.settled) < RETRY_SECONDS * 1.5 + 20
