"""Wrong input and broken controllers: each is refused with a message that says what is wrong, where, and what to do next."""

import os
import re
import sys
from pathlib import Path

import pytest

from .conftest import MANIFESTS, WIDGETS, Done, Run, fixture_controller

NAIVE = f"--controller-cmd={fixture_controller('naive')}"
CRDS, SAMPLES = WIDGETS
REPLICA_SET = SAMPLES.replace("widget-sample", "replicaset-sample")
ENVIRONMENT, INCONCLUSIVE, USAGE = 11, 10, 4


OPEN = "{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}"
KEPT = {"v1": "false", "v1beta1": "true", "v1alpha1": "false"}
VERSIONS = ", ".join(f"{{name: {name}, served: true, storage: {kept}, schema: {OPEN}}}" for name, kept in KEPT.items())
ENDED = f"{{name: v0, served: false, storage: false, schema: {OPEN}}}"
UNSERVED = "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://127.0.0.1:1/convert'}}}"


def crd(versions: str, conversion: str = "{strategy: None}") -> str:
    """Of things.example.com."""
    return (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n"
        "spec: {group: example.com, scope: Namespaced, names: {plural: things, kind: Thing}, "
        f"versions: [{versions}], conversion: {conversion}}}\n"
    )


def thing(version: str) -> str:
    return f"apiVersion: example.com/{version}\nkind: Thing\nmetadata: {{name: t}}\nspec: {{size: 1}}\n"


def program(code: str) -> str:
    return f'--controller-cmd={sys.executable} -c "{code}"'


def is_refused(done: Done, code: int, *texts: str) -> None:
    """It ended with this exit code, said all this, and showed no traceback through staleproof."""
    assert done.code == code, done.output
    assert "Traceback" not in done.output
    workers = re.search(r"created: (\d+)/", done.output)
    assert done.output.count("ERROR at") <= int(workers[1] if workers else 1), "what is wrong is said once, not by each test"
    assert "harness/staleproof" not in done.output.replace("harness/staleproof/plugin", "")
    plain = " ".join(done.output.split())
    assert [text for text in texts if text not in plain] == []


@pytest.mark.parametrize(
    ("arguments", "code", "texts"),
    [
        (("--controller-cmd=./no-such-manager",), USAGE, ("no-such-manager", "build the program")),
        ((program("import sys; print('no lease today'); sys.exit(3)"),), ENVIRONMENT, ("exited with code 3", "no lease today")),
        (
            ("--controller-cmd=sh -c 'echo thinking; exec sleep 600'", "--controller-start-seconds=2"),
            ENVIRONMENT,
            ("opened no watch within 2 s", "thinking"),
        ),
    ],
    ids=["it does not exist", "it exits", "it never opens a watch"],
)
def test_a_controller_that_does_not_start(arguments: tuple[str, ...], code: int, texts: tuple[str, ...], suite: Run) -> None:
    """The end of its log is shown. A program that is not there is the user's to mend, and no new try finds it."""
    is_refused(suite(*arguments, *WIDGETS), code, *texts)


@pytest.mark.live
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--controller-cmd=manager 'unbalanced", *WIDGETS), "No closing quotation"),
        ((NAIVE, "--controller-image=example.com/none", *WIDGETS), "name one controller"),
        ((NAIVE, CRDS, REPLICA_SET), "the controller did nothing for ReplicaSet/sample"),
        ((NAIVE, CRDS, "--staleproof-samples=nosuch"), "--staleproof-samples: nosuch does not exist"),
        ((NAIVE, CRDS), "no primary to work with"),
        ((NAIVE, CRDS, "--staleproof-replay=nosuch"), "no plan 'nosuch'"),
    ],
    ids=[
        "a command line that no shell would take",
        "two controllers",
        "a controller that ignores the sample",
        "samples that do not exist",
        "no sample",
        "a plan that does not exist",
    ],
)
def test_a_run_that_makes_no_sense(arguments: tuple[str, ...], text: str, suite: Run) -> None:
    is_refused(suite(*arguments), USAGE, text)


@pytest.mark.parametrize(
    ("option", "content", "texts"),
    [
        pytest.param(
            "--staleproof-crds",
            "a: [",
            (": not YAML",),
            marks=pytest.mark.live,
        ),
        ("--staleproof-crds", "- 1\n", ("expected a Kubernetes object",)),
        (
            "--staleproof-crds",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
            ("expected CustomResourceDefinitions, found ConfigMap/a",),
        ),
        pytest.param(
            "--staleproof-crds",
            "kind: CustomResourceDefinition\n",
            ("apiVersion, metadata.name missing",),
            marks=pytest.mark.live,
        ),
        (
            "--staleproof-crds",
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: wrong.example.com}\n"
            "spec: {group: example.com, scope: Namespaced, names: {plural: things, kind: Thing}, versions: []}\n",
            ("the API server rejected CustomResourceDefinition/wrong.example.com",),
        ),
        pytest.param(
            "--staleproof-crds",
            crd("{name: v1, served: true, storage: true}"),
            ("the API server rejected CustomResourceDefinition/things.example.com", "spec.versions[0].schema", "if only"),
            marks=pytest.mark.live,
        ),
        (
            "--staleproof-samples",
            "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g}\n",
            ("the API server does not know example.com/v1 Gadget", "--staleproof-crds"),
        ),
        pytest.param(
            "--staleproof-samples",
            "apiVersion: staleproof.dev/v1\nkind: Widget\nmetadata: {name: w}\nspec: {replicas: -1}\n",
            ("apply Widget/w", "spec.replicas"),
            marks=pytest.mark.live,
        ),
        (
            "--staleproof-mutations",
            "only: [spec.contnet]\n",
            ("--staleproof-mutations: Widget/sample: only: 'spec.contnet' is no field of it", "did you mean 'spec.content'?"),
        ),
    ],
)
def test_a_manifest_that_is_refused(option: str, content: str, texts: tuple[str, ...], suite: Run, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(content)
    rest = [word for word in WIDGETS if not word.startswith(option)]
    is_refused(suite(NAIVE, f"{option}={manifest}", *rest), USAGE, *texts)


@pytest.mark.live
@pytest.mark.parametrize(
    ("conversion", "version", "code", "texts"),
    [
        (
            "{strategy: None}",
            "v0",
            USAGE,
            (
                "Thing/t is written in example.com/v0, which the API server does not serve",
                "give it in example.com/v1 or example.com/v1beta1 or example.com/v1alpha1",
            ),
        ),
        (UNSERVED, "v1", ENVIRONMENT, ("conversion webhook for example.com/v1", "take", "spec.conversion")),
    ],
    ids=["a version that is not served", "the conversion is not served"],
)
def test_several_versions(conversion: str, version: str, code: int, texts: tuple[str, ...], suite: Run, tmp_path: Path) -> None:
    definition, sample = tmp_path / "crd.yaml", tmp_path / "sample.yaml"
    definition.write_text(crd(f"{VERSIONS}, {ENDED}", conversion))
    sample.write_text(thing(version))
    is_refused(suite(NAIVE, CRDS, f"--staleproof-crds={definition}", f"--staleproof-samples={sample}"), code, *texts)


@pytest.mark.live
def test_a_cluster_that_is_not_on_this_machine_needs_permission(suite: Run, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: far\n"
        "clusters: [{name: far, cluster: {server: 'https://cluster.example.com:6443'}}]\n"
        "users: [{name: me, user: {token: t}}]\ncontexts: [{name: far, context: {cluster: far, user: me}}]\n"
    )
    done = suite(NAIVE, *WIDGETS, f"--staleproof-kubeconfig={kubeconfig}")
    is_refused(done, USAGE, "--staleproof-allow-remote-cluster")


def test_a_variable_that_is_set_and_empty(suite: Run) -> None:
    done = suite(*WIDGETS, env={**os.environ, "STALEPROOF_CONTROLLER_CMD": ""})
    is_refused(done, USAGE, "STALEPROOF_CONTROLLER_CMD is set but empty")


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--staleproof-max-examples=abc", "--staleproof-max-examples: expected a whole number, 0 or more, found 'abc'"),
        ("--staleproof-inconclusive=nope", "--staleproof-inconclusive: expected one of ok, fail, found 'nope'"),
        (
            "--controller-env=NAME",
            "--controller-env: expected NAME=VALUE, found something else (not shown here, as it may be secret)",
        ),
        ("--staleproof-dir=/proc/nowhere", "cannot make a run folder in /proc/nowhere"),
    ],
)
def test_a_malformed_option_starts_nothing(option: str, text: str, suite: Run) -> None:
    done = suite(NAIVE, *WIDGETS, option)
    is_refused(done, USAGE, text)
    assert "collected" not in done.output


@pytest.mark.live
def test_the_folders_of_kubebuilder_are_read(suite: Run, tmp_path: Path) -> None:
    """They look as its scaffold lays them out, with kustomize's files; one plan is enough to see that all was applied."""
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
