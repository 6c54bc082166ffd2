"""Is the kit right about controllers that are known? Guilty ones are caught by the requirement written for it, every time; honest
ones are accused of nothing, ever.

STALEPROOF_REPEAT says how often each plan is run (once unless set; `ci/repeat` runs 20).
"""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from staleproof.assess import Session, SessionOptions
from staleproof.assess.observe import observe
from staleproof.assess.scenarios import canonical_plans
from staleproof.checks.verdict import Outcome
from staleproof.core.plan import Plan, Resync, Subject
from staleproof.drive.control_plane import KUBERNETES_VERSION, Silent
from staleproof.drive.control_plane.build import ensure_built
from staleproof.drive.manifests import read, read_crds

REPEAT = int(os.environ.get("STALEPROOF_REPEAT", "1"))
MANIFESTS = Path(__file__).parents[2] / "fixtures" / "manifests"
CAUGHT_BY = {
    "naive": {"no-duplicate-create", "no-excess-delete"},
    "no_preconditions": {"no-delete-of-unseen"},
    "expectations": set[str](),
    "deterministic": set[str](),
    "unhurried": set[str](),
    "kube-controller-manager": set[str](),
}
_BRISK_SECONDS = 0.25
KCM = (
    "--kubeconfig={kubeconfig} --controllers=replicaset-controller --leader-elect=false --use-service-account-credentials=false "
    "--kube-api-qps=1000 --kube-api-burst=2000 --bind-address=127.0.0.1 --secure-port=0"
)


@dataclass
class Row:
    """One controller: how often each requirement came out how, over all its trials."""

    controller: str
    trials: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    opportunities: Counter[str] = field(default_factory=Counter)
    inconclusive: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)


@pytest.fixture(scope="module")
def rows() -> Iterator[list[Row]]:
    made: list[Row] = []
    yield made
    table = Table(title=f"each canonical plan {REPEAT} times", title_justify="left")
    for heading in ("controller", "trials", "findings (of trials that could show one)", "inconclusive", "median s a trial"):
        table.add_column(heading)
    for row in made:
        found = ", ".join(f"{slug} {n} of {row.opportunities[slug]}" for slug, n in sorted(row.findings.items())) or "none"
        unknown = ", ".join(f"{slug} {n}" for slug, n in sorted(row.inconclusive.items())) or "none"
        table.add_row(row.controller, str(row.trials), found, unknown, f"{sorted(row.seconds)[len(row.seconds) // 2]:.2f}")
    Console(width=132).print("\n", table)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    options = SessionOptions(
        subject=_subject("naive"),
        manifests=tuple(read_crds([MANIFESTS / "widget-crd.yaml"])),
        root=tmp_path_factory.mktemp("staleproof"),
        reruns=0,  # here every run counts by itself
    )
    with Session(options) as running:
        yield running


@pytest.mark.parametrize("controller", CAUGHT_BY)
def test_controller(controller: str, session: Session, rows: list[Row]) -> None:
    session.use(_subject(controller))
    row = Row(controller)
    rows.append(row)
    sample = "replicaset-sample.yaml" if controller == "kube-controller-manager" else "widget-sample.yaml"
    observed = observe(session, read([MANIFESTS / sample], "sample")[0])
    plans = list(canonical_plans(observed))
    for plan in plans[:2] if observed.pause_seconds > _BRISK_SECONDS else plans:  # a slow one is only here for its pauses
        for _ in range(REPEAT if observed.relists_at_once or not _relists(plan) else 1):
            result = session.trial(plan)
            row.trials += 1
            row.seconds.append(result.seconds)
            for verdict in result.verdicts:
                aimed_at = verdict.requirement in plan.aims
                row.findings[verdict.requirement] += verdict.outcome is Outcome.FAIL
                row.opportunities[verdict.requirement] += aimed_at or verdict.outcome is Outcome.FAIL
                row.inconclusive[verdict.requirement] += verdict.outcome is Outcome.INCONCLUSIVE
    row.findings, row.inconclusive = +row.findings, +row.inconclusive
    assert set(row.findings) == CAUGHT_BY[controller]
    assert all(row.findings[slug] == row.opportunities[slug] for slug in row.findings), "a planted fault must be caught every time"
    assert not row.inconclusive


def _relists(plan: Plan) -> bool:
    """client-go waits longer after each 410, up to a minute: such plans are run once with it."""
    return plan.settle.resync or any(isinstance(step, Resync) for step in plan.steps)


def _subject(controller: str) -> Subject:
    if controller == "kube-controller-manager":
        folder = asyncio.run(ensure_built(KUBERNETES_VERSION, Silent()))
        return Subject(command=(str(folder / controller), *KCM.split()))
    return Subject(command=(sys.executable, "-m", f"staleproof.fixtures.controllers.{controller}"))
