"""Wrong input and broken controllers: each is refused in words that say what, where and what to do next."""

import os
import sys
from pathlib import Path

import pytest

from .conftest import MANIFESTS, WIDGETS, Done, Run, fixture_controller

NAIVE = f"--controller-cmd={fixture_controller('naive')}"
CRDS, SAMPLES = WIDGETS
ENVIRONMENT, INCONCLUSIVE, USAGE = 11, 10, 4


def _plain(done: Done) -> str:
    """The output, which must not be a traceback through staleproof."""
    assert "Traceback" not in done.output
    assert "harness/staleproof" not in done.output.replace("harness/staleproof/plugin", "")
    return " ".join(done.output.split())


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("./no-such-manager", "no-such-manager"),
        (f"{sys.executable} -c 'import sys; print(\"no lease today\"); sys.exit(3)'", "exited with code 3"),
    ],
)
def test_a_controller_that_does_not_start(command: str, told: str, suite: Run) -> None:
    done = suite(f"--controller-cmd={command}", *WIDGETS)
    assert done.code == ENVIRONMENT, done.output
    assert told in _plain(done)
    if "lease" in command:
        assert "no lease today" in done.output, "the end of its log is shown"


def test_a_controller_that_never_opens_a_watch(suite: Run) -> None:
    command = f"{sys.executable} -c 'import signal; print(\"thinking\", flush=True); signal.pause()'"
    done = suite(f"--controller-cmd={command}", *WIDGETS, "--controller-start-seconds=2")
    assert done.code == ENVIRONMENT, done.output
    assert "opened no watch within 2 s" in _plain(done)
    assert "thinking" in done.output


def test_a_command_line_that_no_shell_would_take(suite: Run) -> None:
    done = suite("--controller-cmd=manager 'unbalanced", *WIDGETS)
    assert done.code == USAGE, done.output
    assert "No closing quotation" in _plain(done)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a: [", "is not YAML"),
        ("- 1\n", "expected a Kubernetes object"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "expected CustomResourceDefinitions, found ConfigMap/a"),
        ("kind: CustomResourceDefinition\n", "apiVersion, metadata.name missing"),
        (
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: wrong.example.com}\n"
            "spec: {group: example.com, scope: Namespaced, names: {plural: things, kind: Thing}, versions: []}\n",
            "the API server rejected CustomResourceDefinition/wrong.example.com",
        ),
    ],
)
def test_an_invalid_crd(content: str, told: str, suite: Run, tmp_path: Path) -> None:
    crd = tmp_path / "crd.yaml"
    crd.write_text(content)
    done = suite(NAIVE, f"--staleproof-crds={crd}", SAMPLES)
    assert done.code == USAGE, done.output
    assert told in _plain(done)


def test_a_sample_of_an_unknown_kind(suite: Run, tmp_path: Path) -> None:
    sample = tmp_path / "sample.yaml"
    sample.write_text("apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g}\n")
    done = suite(NAIVE, CRDS, f"--staleproof-samples={sample}")
    assert done.code == USAGE, done.output
    assert "the API server does not know example.com/v1 Gadget" in _plain(done)
    assert "--staleproof-crds" in done.output


def test_a_sample_that_the_api_server_rejects(suite: Run, tmp_path: Path) -> None:
    sample = tmp_path / "sample.yaml"
    sample.write_text("apiVersion: staleproof.dev/v1\nkind: Widget\nmetadata: {name: w}\nspec: {replicas: -1}\n")
    done = suite(NAIVE, CRDS, f"--staleproof-samples={sample}")
    assert done.code == USAGE, done.output
    assert "apply Widget/w" in _plain(done)
    assert "spec.replicas" in done.output


def test_a_controller_that_ignores_the_sample(suite: Run) -> None:
    """The sample is fine, and nobody does anything for it."""
    replicaset = SAMPLES.replace("widget-sample", "replicaset-sample")
    done = suite(NAIVE, CRDS, replicaset)
    assert done.code == USAGE, done.output
    assert "the controller created nothing for ReplicaSet/sample" in _plain(done)


def test_two_controllers(suite: Run) -> None:
    done = suite(NAIVE, "--controller-image=example.com/none", *WIDGETS)
    assert done.code == USAGE
    assert "name one controller" in done.output


def test_a_cluster_that_is_not_on_this_machine_needs_permission(suite: Run, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: far\n"
        "clusters: [{name: far, cluster: {server: 'https://cluster.example.com:6443'}}]\n"
        "users: [{name: me, user: {token: t}}]\ncontexts: [{name: far, context: {cluster: far, user: me}}]\n"
    )
    done = suite(NAIVE, *WIDGETS, f"--staleproof-kubeconfig={kubeconfig}")
    assert done.code == USAGE, done.output
    assert "--staleproof-allow-remote-cluster" in _plain(done)


def test_a_variable_that_is_set_and_empty(suite: Run) -> None:
    done = suite(*WIDGETS, env={**os.environ, "STALEPROOF_CONTROLLER_CMD": ""})
    assert done.code == USAGE
    assert "STALEPROOF_CONTROLLER_CMD is set but empty" in done.output


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--staleproof-max-examples=abc", "--staleproof-max-examples: expected a whole number, 0 or more, found 'abc'"),
        ("--staleproof-inconclusive=nope", "--staleproof-inconclusive: expected one of ok, fail, found 'nope'"),
        ("--controller-env=NAME", "--controller-env: expected NAME=VALUE, found 'NAME'"),
        ("--staleproof-dir=/proc/nowhere", "cannot make a run folder in /proc/nowhere"),
    ],
)
def test_a_malformed_option_starts_nothing(option: str, told: str, suite: Run) -> None:
    done = suite(NAIVE, *WIDGETS, option)
    assert done.code == USAGE, done.output
    assert told in _plain(done)
    assert "collected" not in done.output


def test_samples_and_plans_that_do_not_exist(suite: Run) -> None:
    done = suite(NAIVE, CRDS, "--staleproof-samples=nosuch")
    assert done.code == USAGE, done.output
    assert "--staleproof-samples: nosuch does not exist" in _plain(done)
    done = suite(NAIVE, CRDS)
    assert done.code == USAGE, done.output
    assert "no primary to work with" in _plain(done)
    done = suite(NAIVE, CRDS, "--staleproof-replay=nosuch")
    assert done.code == USAGE, done.output
    assert "no plan 'nosuch'" in _plain(done)


def test_the_folders_of_kubebuilder_are_read(suite: Run, tmp_path: Path) -> None:
    """As its scaffold lays them out, kustomize's files among them; one plan is enough to see that all was applied."""
    crds, samples = tmp_path / "config" / "crd", tmp_path / "config" / "samples"
    (crds / "bases").mkdir(parents=True)
    (crds / "patches").mkdir()
    samples.mkdir()
    (crds / "bases" / "widgets.yaml").write_bytes((MANIFESTS / "widget-crd.yaml").read_bytes())
    (crds / "kustomization.yaml").write_text("resources: [bases/widgets.yaml]\n")
    (crds / "kustomizeconfig.yaml").write_text("nameReference: []\n")
    (crds / "patches" / "cainjection_in_widgets.yaml").write_text(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.staleproof.dev}\n"
    )
    (samples / "widget.yaml").write_bytes((MANIFESTS / "widget-sample.yaml").read_bytes())
    (samples / "kustomization.yaml").write_text("resources: [widget.yaml]\n")
    honest = f"--controller-cmd={fixture_controller('deterministic')}"
    done = suite(honest, f"--staleproof-crds={crds}", f"--staleproof-samples={samples}", "-k", "idempotence")
    assert done.code in (0, INCONCLUSIVE), done.output
    assert "1 passed" in done.output
