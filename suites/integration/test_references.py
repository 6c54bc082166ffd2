"""What a finding is compared with: fault-free runs, one of them as slow as the trial."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from staleproof.assess.run.worker import SessionOptions
from staleproof.assess.store.run_folder import HISTORY, read_history
from staleproof.assess.trial.references import REFERENCES
from staleproof.assess.trial.session import Session
from staleproof.checks.judge import judge
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.fault import Reject, SeverStream, SlowAnswer, Window
from staleproof.core.history.history import History
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.pace import lasted
from staleproof.core.plan.plan import Plan, Settle, Subject
from staleproof.core.plan.step import Apply, Patch, Touch
from staleproof.drive.cluster.manifests import read, read_crds

from .conftest import MANIFESTS
from .environments import fixture, target

PHASE_SECONDS, NEVER_SECONDS = 3.0, 1e6


def slow(phase_seconds: float) -> Subject:
    """A controller whose second phase begins after so long."""
    command = (sys.executable, "-m", "staleproof.fixtures.controllers.unhurried")
    return Subject(command=command, env={"PHASE_SECONDS": f"{phase_seconds}"})


def failed(history: History) -> list[Verdict]:
    return [verdict for verdict in judge(history) if verdict.outcome is Outcome.FAIL]


@pytest.mark.live
def test_what_a_controller_does_later_by_itself_is_no_finding(tmp_path: Path) -> None:
    """Its second phase begins long after the references have ended; the trial lasts longer, because an answer is slow."""
    (sample,) = read([MANIFESTS / "widget-sample.yaml"], "sample")
    primary = Target(sample["apiVersion"], sample["kind"], sample["metadata"]["name"])
    steps = (Apply(object=sample), Patch(target=primary, patch={"spec": {"replicas": 4}}))
    manifests = tuple(read_crds([MANIFESTS / "widget-crd.yaml"]))
    with Session(SessionOptions(subject=slow(NEVER_SECONDS), manifests=manifests, root=tmp_path)) as session:
        took = max(sum(lasted(reference)) for reference in session.references.repeat(Plan(scenario="references", steps=steps)))
        phase = max(PHASE_SECONDS, 3 * took)  # how long a reference takes is up to the machine
        late = 2 * phase
        session.use(slow(phase))
        answer = SlowAnswer(resource="pods", verb="create", by_seconds=late, window=Window(2), times=1)
        result = session.trial(Plan(scenario="references", steps=steps, faults=(answer,), settle=Settle(limit_seconds=2 * late)))
    quick, paced = result.history.references[:REFERENCES], result.history.references[REFERENCES]
    assert failed(replace(result.history, references=quick)), "or nothing is shown here"
    assert lasted(paced)[1] > late > phase > max(sum(lasted(reference)) for reference in quick)
    assert result.failures == []
    assert failed(read_history(result.folder / HISTORY)) == []


@pytest.mark.live
def test_the_other_faults_alone_are_tried_before_one_is_blamed(tmp_path: Path) -> None:
    """It gives up when its creates are rejected, whatever becomes of its watches."""
    (sample,) = read([MANIFESTS / "widget-sample.yaml"], "sample")
    manifests = tuple(read_crds([MANIFESTS / "widget-crd.yaml"]))
    rejects = Reject(resource="pods", verb="create", code=500, times=None, window=Window(seconds=8.0))
    faults = (rejects, SeverStream(resource="pods", how="reset", window=Window(2)))
    gives_up = fixture("mutants", "gives_up")
    with Session(SessionOptions(subject=gives_up, manifests=manifests, root=tmp_path, reruns=0)) as session:
        steps = (Apply(object=sample), Touch(target=target(sample)))
        result = session.trial(Plan(scenario="references", steps=steps, faults=faults))
    verdict = result.of("survives-stream-loss")
    assert verdict.outcome is Outcome.NOT_EXERCISED
    assert "with Reject alone it did not, either, in 2 runs" in verdict.why
    ablated = [each for each in result.history.references if each.header.role == "ablated"]
    assert [each.header.plan.faults for each in ablated] == [(rejects,)] * 2
    assert judge(read_history(result.folder / HISTORY)) == tuple(result.verdicts)
