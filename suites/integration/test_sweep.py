"""A search among many moves: generic options find the switch that owns live data, and accuse no careful controller."""

import shutil
from pathlib import Path

import pytest

from .conftest import MANIFESTS, Run, fixture_controller

GIVEN = (
    f"--staleproof-crds={MANIFESTS / 'platform-crd.yaml'}",
    "--staleproof-companions=auto",
    "--staleproof-patience=5",
    "-k",
    "sweep",
)


@pytest.fixture
def samples(tmp_path: Path) -> str:
    shutil.copy(MANIFESTS / "platform-sample.yaml", tmp_path / "sample.yaml")
    return f"--staleproof-samples={tmp_path}"


@pytest.mark.live
def test_what_a_switch_owns_is_lost_by_an_old_view(suite: Run, samples: str) -> None:
    done = suite(f"--controller-cmd={fixture_controller('switched')} trusting", samples, *GIVEN)
    assert done.code == 1, done.output
    assert "destroyed" in done.output
    found = [trial for trial in done.report["trials"] if trial["crash"]]
    assert found
    assert all(trial["again"] == "suspect" and trial["title"].endswith("alone") for trial in found), "a sweep accuses no controller"
    slugs = {each["requirement"] for trial in found for each in trial["verdicts"] if each["result"] == "failed"}
    assert "no-time-travel" in slugs


@pytest.mark.live
def test_a_controller_that_looks_again_is_not_accused(suite: Run, samples: str) -> None:
    done = suite(f"--controller-cmd={fixture_controller('switched')} reassured", samples, *GIVEN)
    assert done.code == 0, done.output
    assert {trial["scenario"] for trial in done.report["trials"]} == {"sweep"}
    titles = [trial["title"] for trial in done.report["trials"]]
    assert any("spec.archive" in title and "spec.gateway" in title for title in titles), "what owns live data is tried"
