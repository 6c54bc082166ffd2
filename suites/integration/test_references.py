"""What a finding is compared with: fault-free runs, one of them as slow as the trial."""

import sys
from dataclasses import replace
from pathlib import Path

from staleproof.assess import Session
from staleproof.assess.run_folder import HISTORY, read_history
from staleproof.assess.session import REFERENCES, SessionOptions
from staleproof.checks.judge import judge
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.fault import SlowAnswer, Window
from staleproof.core.history import History
from staleproof.core.pace import lasted
from staleproof.core.plan import Apply, Patch, Plan, Subject, Target
from staleproof.drive.cluster.manifests import read, read_crds

from .conftest import MANIFESTS

PHASE_SECONDS, LATE_SECONDS = 3.0, 6.0
SLOW = Subject(
    command=(sys.executable, "-m", "staleproof.fixtures.controllers.unhurried"), env={"PHASE_SECONDS": f"{PHASE_SECONDS}"}
)


def failed(history: History) -> list[Verdict]:
    return [verdict for verdict in judge(history) if verdict.outcome is Outcome.FAIL]


def test_what_a_controller_does_later_by_itself_is_no_finding(tmp_path: Path) -> None:
    """Its second phase begins long after the references have ended; the trial lasts longer, because an answer is slow."""
    (sample,) = read([MANIFESTS / "widget-sample.yaml"], "sample")
    primary = Target(sample["apiVersion"], sample["kind"], sample["metadata"]["name"])
    plan = Plan(
        scenario="references",
        steps=(Apply(object=sample), Patch(target=primary, patch={"spec": {"replicas": 4}})),
        faults=(SlowAnswer(resource="pods", verb="create", by_seconds=LATE_SECONDS, window=Window(2), times=1),),
    )
    options = SessionOptions(subject=SLOW, manifests=tuple(read_crds([MANIFESTS / "widget-crd.yaml"])), root=tmp_path)
    with Session(options) as session:
        result = session.trial(plan)
    *quick, slow = result.history.references
    assert failed(replace(result.history, references=tuple(quick))), "or nothing is shown here"
    assert len(quick) == REFERENCES
    assert lasted(slow)[1] > LATE_SECONDS > PHASE_SECONDS > max(sum(lasted(reference)) for reference in quick)
    assert result.failures == []
    assert failed(read_history(result.folder / HISTORY)) == []
