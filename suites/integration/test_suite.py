"""The conformance suite by its front door, against real controllers: honest ones pass, others are caught, the reports say so."""

import time

import jsonschema
import pytest

from staleproof.core.plan.stored import plain
from staleproof.drive.cluster.control_plane import KUBERNETES_VERSION
from staleproof.report.conformance import SCHEMA

from .conftest import KCM_ARGUMENTS, MANIFESTS, QUICK, WIDGETS, Done, Run, fixture_controller

REPLICASET = f"--staleproof-samples={MANIFESTS / 'replicaset-sample.yaml'}"
GUILTY = {"no-duplicate-create": "failed", "no-excess-delete": "failed"}
NO_OCCASION = {"isolates-objects", "no-time-travel"}
"""Cannot be exercised on a controller that reads live and changes nothing but its status."""
A_PART = ("-k", "own-writes or status")
"""Two of the nine scenarios: the others would add nothing here."""
HIDDEN = ("-k", "hide-creates or hide-deletes")


@pytest.fixture(scope="module")
def naive(suite: Run) -> Done:
    return suite(f"--controller-cmd={fixture_controller('naive')}", *WIDGETS, *QUICK, *HIDDEN, "--hypothesis-seed=7")


def test_a_naive_controller_is_caught(naive: Done) -> None:
    assert naive.code == 1, naive.output
    assert {slug: result for slug, result in naive.results.items() if result == "failed"} == GUILTY
    assert "is the 4th live pod of widget/sample" in naive.output
    assert "reproduced 3/3" in naive.output
    assert "staleproof replay" in naive.output
    assert naive.conformance["profiles"][0]["core"]["result"] == "failure"
    assert naive.conformance["seed"] == "7"


@pytest.mark.live
def test_xdist_gives_the_same_verdicts(suite: Run, naive: Done) -> None:
    arguments = (f"--controller-cmd={fixture_controller('naive')}", *WIDGETS, *QUICK, *HIDDEN, "--hypothesis-seed=7")
    done = suite("-n2", "--junitxml=junit.xml", *arguments)
    assert done.code == naive.code, done.output
    assert done.results == naive.results
    assert len(done.report["trials"]) == len(naive.report["trials"])
    ran = [trial["name"] for trial in done.report["trials"]]
    assert {name.partition("-")[0] for name in ran} == {"gw0", "gw1"}
    assert sorted(noted(done)) == sorted(ran), "each trial is noted by one test"


def noted(done: Done) -> list[str]:
    """The trials that tests needed, as their properties say."""
    return [part.partition('"')[0] for part in (done.folder / "junit.xml").read_text().split('name="staleproof.trial" value="')[1:]]


@pytest.mark.live
def test_a_worker_without_a_test_runs_plans_of_another(suite: Run) -> None:
    """One test has one plan, the other some ten."""
    two = ("-k", "own-writes/idempotence or restart/kills", "--staleproof-max-examples=0")
    done = suite("-n2", "--junitxml=junit.xml", f"--controller-cmd={fixture_controller('deterministic')}", *WIDGETS, *two)

    assert done.code == 0, done.output
    trials = done.report["trials"]
    assert {trial["name"].partition("-")[0] for trial in trials if trial["scenario"] == "restart"} == {"gw0", "gw1"}
    assert len({trial["title"] for trial in trials}) == len(trials), "each plan is run once"
    assert sorted(noted(done)) == sorted(trial["name"] for trial in trials)


def test_what_there_is_no_time_for_is_reported(suite: Run) -> None:
    arguments = ("--staleproof-minutes=0.01", "-k", "own-writes/hide-creates", "--junitxml=junit.xml")
    done = suite(f"--controller-cmd={fixture_controller('naive')}", *WIDGETS, *QUICK, *arguments)

    assert done.code == 10, done.output
    assert (done.report["trials"], noted(done), done.report["unlearnt"]) == ([], [], True)
    words = (
        "nothing failed, but too little was tried: the time was over while it was watched without faults; most would be reached by "
    )
    assert done.last.startswith(f"staleproof: {words}--staleproof-minutes 2;")
    assert done.conformance["submittable"] is False


@pytest.mark.slow
def test_a_run_ends_in_its_minutes_though_confirming_takes_long(suite: Run) -> None:
    """The controller is guilty, and each of its trials takes ten seconds."""
    began = time.monotonic()
    slow = ("-n2", "--staleproof-minutes=3", "--staleproof-max-examples=0", "--controller-env=PHASE_SECONDS=2")
    done = suite(f"--controller-cmd={fixture_controller('sluggish')}", *WIDGETS, *slow)

    assert time.monotonic() - began < 1.1 * 180, done.output
    assert done.code in (1, 10), done.output
    doubtful = [
        verdict["why"] for trial in done.report["trials"] for verdict in trial["verdicts"] if verdict["result"] == "inconclusive"
    ]
    assert all("unconfirmed" in why for why in doubtful), doubtful
    assert done.report["leftOut"]
    assert done.last.startswith(("staleproof: failed: ", "staleproof: nothing failed, but "))


@pytest.mark.live
def test_an_honest_controller_whose_kind_gives_many_faults_no_occasion_exits_with_0(suite: Run) -> None:
    """It writes a status and nothing else, so nothing can be hidden, killed or lost but that."""
    sample = f"--staleproof-samples={MANIFESTS / 'widget-content-sample.yaml'}"
    done = suite(f"--controller-cmd={fixture_controller('childless')} reports", WIDGETS[0], sample, *QUICK)
    assert done.code == 0, done.output
    assert "inconclusive" not in set(done.results.values())
    assert "not exercised" in set(done.results.values())
    assert done.last.startswith("staleproof: passed: "), done.last


@pytest.mark.live
def test_a_correct_controller_passes(suite: Run) -> None:
    """Among the controllers of a real cluster, as if none had been named."""
    done = suite(f"--controller-cmd={fixture_controller('deterministic')}", *WIDGETS, *QUICK, "--staleproof-companions=auto")
    assert done.code == 0, done.output
    line = "companions for Widget/sample: garbage-collector, kwok, namespace, scheduler: ready in"
    assert line in " ".join(done.output.split())
    unknown = {slug for slug, result in done.results.items() if result != "passed"}
    assert unknown == NO_OCCASION, done.output
    core = done.conformance["profiles"][0]["core"]
    assert (core["result"], core["statistics"]["failed"]) == ("partial", 0)


def test_the_reports_follow_their_schemas_and_hold_no_secret(naive: Done) -> None:
    jsonschema.validate(naive.conformance, SCHEMA)
    tests = naive.conformance["profiles"][0]["core"]["tests"]
    statistics = naive.conformance["profiles"][0]["core"]["statistics"]
    assert sum(statistics.values()) == len(tests)
    assert all(0 < test["faultsFired"] <= test["faultsPlanned"] for test in tests if test["result"] == "passed")
    kept = [path for path in naive.run_folder.rglob("*") if path.is_file()]
    assert not [path for path in kept if path.suffix in (".kubeconfig", ".pem", ".key", ".csv") or path.name == "config.json"]
    assert not [path for path in kept if b"Bearer " in plain(path.read_bytes())]
    trial = naive.run_folder / naive.report["trials"][0]["folder"]
    assert {path.name for path in trial.iterdir()} >= {"plan.json", "history.jsonl.gz", "controller.log", "proxy.log"}


@pytest.mark.live
def test_kube_controller_manager_passes(suite: Run, kube_controller_manager: str) -> None:
    done = suite(
        f"--controller-cmd={kube_controller_manager} --kubeconfig={{kubeconfig}} {KCM_ARGUMENTS}",
        REPLICASET,
        *QUICK,
        *A_PART,
    )
    assert done.code == 0, done.output
    assert done.results["no-duplicate-create"] == "passed"
    assert done.results["settles"] == "passed"
    assert done.conformance["environment"]["kubernetes"] == KUBERNETES_VERSION


@pytest.fixture(scope="module")
def kube_controller_manager(staleproof: Run) -> str:
    done = staleproof("control-plane", "path")
    assert done.code == 0, done.output
    return f"{done.output.splitlines()[-1]}/kube-controller-manager"
