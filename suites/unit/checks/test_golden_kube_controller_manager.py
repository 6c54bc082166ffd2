"""Trials of kube-controller-manager v1.36.3, judged again: docs/kube-controller-manager.md says what was found in them, and why."""

import gzip
from pathlib import Path

import pytest

from staleproof.checks.judge import judge
from staleproof.checks.verdict import Outcome
from staleproof.core.history import decode

HISTORIES = Path(__file__).parents[3] / "fixtures" / "histories"
OURS = HISTORIES / "kube-controller-manager"
FOUND = {
    "replicaset-held-gate-on": set(),
    "replicaset-held-gate-off": {"no-duplicate-create"},
    "job-held-gate-on": set(),
    "job-held-gate-off": {"no-duplicate-create"},
    "daemonset-held-gate-on": set(),
    "daemonset-held-gate-off": {"no-duplicate-create"},
    "daemonset-recreated": {"honest-observed-generation"},
    "statefulset-pod-recreated": {"no-delete-of-unseen"},
    "endpointslice-creates-rejected": {"backs-off", "converges-after-catch-up"},
    "deployment-replicasets-late": {"no-blind-retry"},
}


def test_every_history_is_judged() -> None:
    assert {path.name.partition(".")[0] for path in OURS.iterdir()} == set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_is_judged_as_it_was(name: str) -> None:
    outcomes = {verdict.requirement: verdict.outcome for verdict in judge(decode(_read(OURS / f"{name}.jsonl.gz")))}

    assert {slug for slug, outcome in outcomes.items() if outcome is Outcome.FAIL} == FOUND[name]
    assert {slug for slug, outcome in outcomes.items() if outcome is Outcome.INCONCLUSIVE} == set()
    if name.endswith("gate-on"):  # it counted the syncs that it skipped
        assert outcomes["reports-skips"] is Outcome.PASS


@pytest.mark.parametrize("path", sorted(HISTORIES.rglob("*.jsonl*")), ids=lambda path: path.name)
def test_a_kept_history_does_not_say_where_it_was_made(path: Path) -> None:
    [command, *_] = decode(_read(path)).header.plan.controller.command

    assert Path(command).name == command


def _read(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
