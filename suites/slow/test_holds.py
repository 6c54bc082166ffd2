"""Holds that outlast kube-controller-manager's expectations (5 minutes): with the gates StaleControllerConsistency* off, its
controllers create their pods a second time; with the gates on, they do not.

Each test has a control plane, a proxy and a kube-controller-manager of its own, and mostly waits: run them all at once
(`ci/slow`). The table goes to the terminal, and into the page that STALEPROOF_HOLDS names.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from staleproof.assess.run.worker import SessionOptions
from staleproof.assess.trial.result import Result
from staleproof.assess.trial.session import Session
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome
from staleproof.core.fault import HideOwnWrite, OwnWrite, Window
from staleproof.core.history.entry import Metrics
from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.plan import Plan, Settle, Subject
from staleproof.core.plan.step import Apply, Rest, Touch
from staleproof.drive.cluster.manifests import read
from staleproof.drive.programs.build import ensure_built
from staleproof.drive.programs.kubernetes import COMPANIONS

pytestmark = pytest.mark.slow

MANIFESTS = Path(__file__).parents[2] / "fixtures" / "manifests"
HELD_SECONDS = 310.0
"""Ten seconds more than controller.ExpectationsTimeout."""
GATES = {"replicaset": "ReplicaSet", "daemonset": "DaemonSet", "job": "Job"}
WANTED_PODS = 3
FLAGS = (
    "--kubeconfig={kubeconfig} --leader-elect=false --use-service-account-credentials=false --kube-api-qps=1000 "
    "--kube-api-burst=2000 --bind-address=127.0.0.1 --secure-port={metrics_port} "
    "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics --authentication-skip-lookup=true"
)
METRICS = "https://127.0.0.1:{metrics_port}/metrics"


@pytest.mark.parametrize("gate", ["false", "true"], ids=["gate-off", "gate-on"])
@pytest.mark.parametrize("kind", GATES)
def test_pods_are_hidden_for_longer_than_expectations_last(
    kind: str, gate: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    sample = read([MANIFESTS / f"{kind}-sample.yaml"], "sample")[0]
    nodes = tuple(read([MANIFESTS / "nodes.yaml"], "nodes"))  # a DaemonSet wants one pod on each
    options = SessionOptions(subject=_subject(kind, gate), manifests=nodes, root=tmp_path, metrics=METRICS)
    with Session(options) as session:
        result = session.trial(_plan(sample))
    record_property("hold", _row(kind, gate, result))
    found = {verdict.requirement for verdict in result.failures}
    assert found == (set() if gate == "true" else {"no-duplicate-create"})
    assert not [verdict for verdict in result.verdicts if verdict.outcome is Outcome.INCONCLUSIVE]
    assert _most_pods(result) == (WANTED_PODS if gate == "true" else 2 * WANTED_PODS)
    assert (_skips(result) > 0) is (gate == "true")
    assert (result.of("reports-skips").outcome is Outcome.PASS) is (gate == "true")


def _row(kind: str, gate: str, result: Result) -> list[str]:
    """The row of one trial in the table."""
    held = next(fault for fault in result.faults)
    came_back, runs = result.reproduced
    found = ", ".join(f"{verdict.requirement} ({came_back} of {runs} runs)" for verdict in result.failures) or "none"
    pods = f"{_most_pods(result, of_references=True)} → {_most_pods(result)}"
    skips = f"{_skips(result)}, reports-skips {result.of('reports-skips').outcome.name.lower().replace('_', ' ')}"
    return [kind, "on" if gate == "true" else "off", held.outcome, pods, found, skips, f"{result.seconds:.0f}"]


def _most_pods(result: Result, *, of_references: bool = False) -> int:
    """The highest number of live pods at any moment."""
    trial = Trial(result.history, result.history.references)
    folds = [object_history(each) for each in (trial.references if of_references else (trial,))]
    return max(fold.peak(role) for fold in folds for role in fold.counts if role.resource == "pods")


def _skips(result: Result) -> int:
    """How many syncs the controller says it has skipped, in the last reading of its metrics."""
    readings = [entry for entry in result.history.entries if isinstance(entry, Metrics)]
    return sum(sample.value for sample in readings[-1].samples if sample.name.endswith("_stale_sync_skips_total"))


def _plan(sample: Manifest) -> Plan:
    target = Target(sample["apiVersion"], sample["kind"], sample["metadata"]["name"])
    return Plan(
        scenario="own-writes",
        title=f"hide own creates of pods for {HELD_SECONDS:g} s, then touch",
        aims=("no-duplicate-create", "converges-after-catch-up"),
        steps=(Apply(object=sample), Rest(seconds=HELD_SECONDS), Touch(target=target)),
        faults=(HideOwnWrite(resource="pods", window=Window(), write=OwnWrite("create")),),
        settle=Settle(idle_seconds=2.0, limit_seconds=60.0, deadline_seconds=60.0),
    )


def _subject(kind: str, gate: str) -> Subject:
    folder = asyncio.run(ensure_built(COMPANIONS))
    more = (f"--controllers={kind}-controller", f"--feature-gates=StaleControllerConsistency{GATES[kind]}={gate}")
    return Subject(command=(str(folder / "kube-controller-manager"), *FLAGS.split(), *more))
