"""`staleproof doctor` with real controllers says what was found and what to mend, and `staleproof init` writes what it takes."""

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from staleproof.drive.process.address import free_port

from .conftest import MANIFESTS, Done, Run, fixture_controller

CRD, SAMPLE = MANIFESTS / "widget-crd.yaml", MANIFESTS / "widget-sample.yaml"
WIDGETS = (f"--crds={CRD}", f"--samples={SAMPLE}")
OPERATOR = MANIFESTS / "guarded-operator.yaml"
GUARDED = f"--controller-cmd={fixture_controller('guarded')}"
CALM = "--webhook-port={webhook_port} --webhook-cert-dir={webhook_cert_dir} --metrics-port={metrics_port}"
"""Without the curiosity that its manifests ask for, and with metrics."""
METRICS = "--controller-metrics=http://127.0.0.1:{metrics_port}/metrics"
LEARNT = f"--controller-cmd={fixture_controller('expectations')}"
USAGE, ENVIRONMENT = 4, 11
MARKS = {"✓": "ok", "!": "warning", "✗": "failed", "–": "not asked"}  # noqa: RUF001  # as they are printed
NAMES = ("reachable", "watches", "reconciles", "restarts", "stays", "ports", "RBAC", "webhooks", "metrics")
MISPLACED = f"--controller-cmd={fixture_controller('misplaced')}"
CURE = "--controller-env=TMPDIR={webhook_cert_dir}"


def program(code: str) -> str:
    return f"--controller-cmd={shlex.join([sys.executable, '-c', code])}"


def outcomes(done: Done) -> dict[str, str]:
    """The outcome of each check, by the first word of its line."""
    lines = [re.match(rf"([{''.join(MARKS)}]) (\w+)", line) for line in done.output.splitlines()]
    return {found[2]: MARKS[found[1]] for found in lines if found}


def test_nothing_is_in_the_way(staleproof: Run) -> None:
    arguments = (f"--controller-manifests={OPERATOR}", f"--controller-args={CALM}", METRICS)
    done = staleproof("doctor", GUARDED, *arguments, *WIDGETS)
    assert done.code == 0, done.output
    assert outcomes(done) == dict.fromkeys(NAMES, "ok"), done.output
    assert "create pods ×3" in done.output  # noqa: RUF001  # as above
    assert "as widget-system/widget-controller it may do what it asked for" in done.output
    assert "called: default.widgets.staleproof.dev" in done.output
    assert "→" not in done.output


@dataclass(frozen=True)
class Sick:
    """What is given, what is found, and what is said about it."""

    arguments: tuple[str, ...]
    found: dict[str, str]
    shown: tuple[str, ...]
    code: int = ENVIRONMENT
    start_seconds: str = "30"


WELL = dict.fromkeys(("reachable", "watches", "reconciles", "restarts", "stays", "ports"), "ok")
SICK = {
    "it exits at once": Sick(
        (program("import sys; print('no lease today'); sys.exit(3)"), *WIDGETS),
        dict.fromkeys(NAMES, "not asked") | {"reachable": "failed"},
        ("it exits by itself, with code 3", "→ its log says why", "| no lease today"),
    ),
    "it ignores the kubeconfig": Sick(
        ("--controller-cmd=sh -c 'echo thinking; exec sleep 600'", *WIDGETS),
        dict.fromkeys(NAMES, "not asked") | {"reachable": "failed"},
        ("it runs, and asked for nothing through the proxy in", "→ let it use the kubeconfig that it is given", "| thinking"),
        start_seconds="6",
    ),
    "its metrics are elsewhere": Sick(
        (LEARNT, "--controller-metrics=http://127.0.0.1:{metrics_port}/metrics", *WIDGETS),
        WELL | {"RBAC": "not asked", "webhooks": "not asked", "metrics": "failed"},
        ("none at http://127.0.0.1:", "→ does it serve them there? {metrics_port}"),
    ),
    "it dies soon after its first watches": Sick(
        (f"{MISPLACED} --certificate", *WIDGETS),
        dict.fromkeys(NAMES, "not asked") | {"reachable": "failed"},
        (
            "it exits by itself, with code 1, ",
            "3 times in a row",
            "; it finds no certificate for its webhooks",
            CURE,
            "serving-certs/tls.crt: no such file or directory",
        ),
    ),
    "its Lease has no namespace": Sick(
        (f"{MISPLACED} --lease-namespace=widget-system", *WIDGETS),
        dict.fromkeys(NAMES, "not asked") | {"reachable": "ok", "watches": "failed"},
        ("its Lease is to be in the namespace widget-system, which is not there", "→ --controller-args=--leader-elect=false"),
        start_seconds="6",
    ),
    "it reacts to nothing": Sick(
        (LEARNT, f"--crds={CRD}", f"--samples={MANIFESTS / 'replicaset-sample.yaml'}"),
        WELL | dict.fromkeys(("RBAC", "webhooks", "metrics"), "not asked") | {"watches": "warning", "reconciles": "failed"},
        ("it did nothing within", "→ is it the controller of this kind", "and not replicasets.apps"),
        USAGE,
    ),
}


@pytest.mark.live
@pytest.mark.parametrize("sick", SICK.values(), ids=SICK)
def test_what_is_wrong_is_reported(sick: Sick, staleproof: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALEPROOF_CONTROLLER_START_SECONDS", sick.start_seconds)
    done = staleproof("doctor", *sick.arguments)
    assert (done.code, outcomes(done)) == (sick.code, sick.found), done.output
    assert "Traceback" not in done.output
    assert [text for text in sick.shown if text not in done.output] == []


@pytest.mark.live
def test_what_helps_against_a_missing_certificate_and_what_else_is_seen_then(staleproof: Run) -> None:
    """It stays up with the option that the doctor names, and has other habits that only a cluster can do with."""
    port = free_port()
    done = staleproof("doctor", f"{MISPLACED} --certificate --talks-to-pods --port={port}", CURE, *WIDGETS)
    assert done.code == 0, done.output
    expected = WELL | dict.fromkeys(("RBAC", "webhooks", "metrics"), "not asked") | {"reconciles": "warning", "ports": "warning"}
    assert outcomes(done) == expected, done.output
    assert "times the error below; it runs commands in pods" in done.output
    assert "does not have a host assigned" in done.output
    assert f"it always listens on {port}" in done.output


@pytest.mark.live
def test_a_role_that_is_too_narrow(staleproof: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that it is about shows it, and the exit code is that of wrong input."""
    monkeypatch.setenv("STALEPROOF_CONTROLLER_START_SECONDS", "20")
    unbound = [each for each in yaml.safe_load_all(OPERATOR.read_text()) if each["kind"] != "ClusterRoleBinding"]
    (tmp_path / "operator.yaml").write_text(yaml.safe_dump_all(unbound))
    done = staleproof("doctor", GUARDED, "--controller-manifests=operator.yaml", *WIDGETS, folder=tmp_path)
    assert done.code == USAGE, done.output
    found = dict.fromkeys(NAMES, "not asked") | {"reachable": "ok", "watches": "failed", "RBAC": "failed"}
    assert outcomes(done) == found, done.output
    assert "to list widgets.staleproof.dev: not allowed by its Role" in done.output


@pytest.mark.live
def test_what_init_writes_is_enough(staleproof: Run, suite: Run, tmp_path: Path) -> None:
    """For the doctor, and for pytest, which then runs the suite by itself."""
    crds, samples = tmp_path / "config" / "crd" / "bases", tmp_path / "config" / "samples"
    for folder, manifest in ((crds, CRD), (samples, SAMPLE)):
        folder.mkdir(parents=True)
        (folder / manifest.name).write_bytes(manifest.read_bytes())
    written = staleproof("init", LEARNT, folder=tmp_path)
    assert written.code == 0, written.output
    assert yaml.safe_load((tmp_path / "staleproof.yaml").read_text())["samples"] == ["config/samples"]
    done = staleproof("doctor", folder=tmp_path)
    assert done.code == 0, done.output
    assert outcomes(done) == WELL | dict.fromkeys(("RBAC", "webhooks", "metrics"), "not asked"), done.output
    judged = suite("--staleproof-profile=smoke", "--staleproof-max-examples=0", "-k", "idempotence", folder=tmp_path)
    assert "1 passed" in judged.output, judged.output
    assert "--controller-cmd" in judged.output
    assert "(staleproof.yaml)" in judged.output
