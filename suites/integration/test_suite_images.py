"""The conformance suite with `--controller-image`: images of our own static programs, nothing pulled. Skipped without an engine."""

import io
import json
import os
import re
import tarfile
from pathlib import Path

import pytest
import pytest_asyncio
import yaml
from testcontainers.core.docker_client import DockerClient

from staleproof.drive.cluster.control_plane import KUBERNETES_VERSION, Silent
from staleproof.drive.cluster.control_plane.container import control_plane_image, make_control_plane_image
from staleproof.drive.process.images import NOBODY, Recipe, make_image
from staleproof.drive.programs.go_program import GoProgram, ensure_go_program

from .conftest import KCM_ARGUMENTS, MANIFESTS, QUICK, WIDGETS, Run

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")} | {
    "TESTCONTAINERS_RYUK_DISABLED": "true"
}
IN_CLUSTER = "staleproof-test:in-cluster-widget"
PORT = 8080


@pytest.mark.live
def test_kube_controller_manager_as_an_image_passes(kube_controller_manager_image: str, suite: Run) -> None:
    done = suite(
        f"--controller-image={kube_controller_manager_image}",
        "--controller-network=host",
        f"--controller-args=kube-controller-manager --kubeconfig={{kubeconfig}} {KCM_ARGUMENTS}",
        f"--staleproof-samples={MANIFESTS / 'replicaset-sample.yaml'}",
        *QUICK,
        "-k",
        "own-writes/hide-creates",
        env=ENVIRONMENT,
    )
    assert done.code == 0, done.output
    assert done.results["no-duplicate-create"] == "passed"
    assert done.conformance["implementation"]["imageDigest"].startswith("sha256:")
    assert done.conformance["environment"]["notes"]["network"] == "host"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def go_naive(go: Path) -> Path:
    return await ensure_go_program(GoProgram("go-naive", MANIFESTS.parent / "go-naive"), Silent())


@pytest.mark.live
def test_a_naive_controller_in_go_is_caught(engine: DockerClient, suite: Run, go_naive: Path) -> None:
    recipe = Recipe(image="staleproof-go-naive:latest", program=go_naive, entrypoint=("go-naive",))
    make_image(engine, recipe)
    done = suite(f"--controller-image={recipe.image}", *WIDGETS, *QUICK, "-k", "hide-creates", env=ENVIRONMENT)
    assert done.code == 1, done.output
    assert done.results["no-duplicate-create"] == "failed"
    assert re.search(r"the \d+th live pod of widget/sample", done.output), "beyond the third"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def in_cluster(engine: DockerClient, go: Path) -> str:
    """A manager that asks `rest.InClusterConfig` alone, and runs as `nobody`, in an image whose /var/run is a link, as in most."""
    program = await ensure_go_program(GoProgram("go-widget", MANIFESTS.parent / "go-widget"), Silent())
    root = io.BytesIO()
    with tarfile.open(fileobj=root, mode="w") as tar:
        tar.add(program, "manager")
        for name, kind, target in (
            ("run", tarfile.DIRTYPE, ""),
            ("var", tarfile.DIRTYPE, ""),
            ("var/run", tarfile.SYMTYPE, "/run"),
        ):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname, entry.mode = kind, target, 0o755
            tar.addfile(entry)
    repository, _, tag = IN_CLUSTER.partition(":")
    entrypoint = json.dumps(["/manager", "--in-cluster", "--leader-elect", f"--metrics-bind-address=:{PORT}"])
    changes = [f"ENTRYPOINT {entrypoint}", f"USER {NOBODY}", "LABEL org.opencontainers.image.version=v1.4.0"]
    engine.client.api.import_image_from_data(root.getvalue(), repository=repository, tag=tag, changes=changes)
    return IN_CLUSTER


@pytest.mark.live
def test_a_manager_with_in_cluster_configuration_only_passes_with_two_workers(suite: Run, in_cluster: str) -> None:
    """Both serve their metrics on the same port, each in a container of its own."""
    done = suite(
        f"--controller-image={in_cluster}",
        f"--controller-metrics=http://127.0.0.1:{PORT}/metrics",
        *WIDGETS,
        *QUICK,
        "-k",
        "hide-creates or restart/restarts",
        "-n",
        "2",
        env=ENVIRONMENT,
    )
    assert done.code == 0, done.output
    assert {trial["scenario"] for trial in done.report["trials"]} == {"own-writes", "restart"}
    assert done.results["no-duplicate-create"] == "passed"
    assert done.conformance["environment"]["notes"]["network"] == "bridge"
    assert done.conformance["environment"]["notes"]["imageLabels"] == "org.opencontainers.image.version=v1.4.0"
    assert done.conformance["implementation"]["imageDigest"].startswith("sha256:")


SERVING, LEADING = 9443, "/tmp/k8s-webhook-server/serving-certs"


def installed(folder: Path, image: str) -> Path:
    """The manifests of a Widget controller, with this image in the place of its own, as the manager in it is called: it validates
    Widgets, finds its certificate where controller-runtime looks for it, holds a Lease, and patches what it claims."""
    manifests = [each for each in yaml.safe_load_all((MANIFESTS / "guarded-operator.yaml").read_text())]
    kept = [each for each in manifests if each["kind"] != "MutatingWebhookConfiguration"]
    by_kind = {each["kind"]: each for each in kept}
    (container,) = by_kind["Deployment"]["spec"]["template"]["spec"]["containers"]
    container |= {"image": image, "args": [f"--webhook-port={SERVING}"]}
    container["volumeMounts"][0]["mountPath"] = LEADING
    by_kind["ClusterRole"]["rules"] += [
        {"apiGroups": ["staleproof.dev"], "resources": ["widgets"], "verbs": ["patch"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]},
        {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
    ]
    path = folder / "operator.yaml"
    path.write_text(yaml.safe_dump_all(kept))
    return path


@pytest.mark.live
def test_the_webhooks_of_a_container_are_called_across_its_bridge(suite: Run, in_cluster: str, tmp_path: Path) -> None:
    """As its ServiceAccount, under its own Roles, and in each of its lives."""
    done = suite(
        f"--controller-image={in_cluster}",
        f"--controller-manifests={installed(tmp_path, in_cluster)}",
        f"--controller-metrics=http://127.0.0.1:{PORT}/metrics",
        *WIDGETS,
        *QUICK,
        "-k",
        "restart/restarts",
        env=ENVIRONMENT,
    )
    assert done.code == 0, done.output
    assert done.results["survives-restart"] == "passed"
    environment = done.conformance["environment"]
    assert environment["network"] == "bridge"
    assert re.search(r"validate\.widgets\.staleproof\.dev\D+[1-9]", environment["webhooks"]), environment["webhooks"]
    assert "system:serviceaccount:widget-system:widget-controller" in environment["rbac"]
    assert not done.report.get("refused"), done.report["refused"]


def test_an_image_that_looks_for_its_api_server_elsewhere_is_reported(engine: DockerClient, programs: Path, suite: Run) -> None:
    """A program that does not even try: etcd."""
    make_control_plane_image(engine, KUBERNETES_VERSION)
    done = suite(
        f"--controller-image={control_plane_image(KUBERNETES_VERSION)}",
        "--controller-args=etcd --data-dir=/dev/shm/data",
        "--controller-start-seconds=3",
        *WIDGETS,
        *QUICK,
        "-k",
        "hide-creates",
        env=ENVIRONMENT,
    )
    assert done.code == 11, done.output
    text = " ".join(done.output.split())
    assert "opened no watch within 3 s. It has asked for nothing through the proxy: no traffic was seen." in text
    assert "KUBERNETES_SERVICE_HOST" in text
    assert "Does a firewall of this machine drop what comes from containers?" in text


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("no-such-network", "the engine has no network 'no-such-network'"),
        ("none", "expected host, or a network of the kind bridge; 'none' is one of the kind 'null'"),
    ],
)
def test_a_network_that_leads_nowhere_is_refused(network: str, message: str, engine: DockerClient, suite: Run) -> None:
    done = suite("--controller-image=any", f"--controller-network={network}", *WIDGETS, "-k", "hide-creates", env=ENVIRONMENT)
    assert done.code == 4, done.output
    assert message in " ".join(done.output.split())
