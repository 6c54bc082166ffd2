"""The conformance suite with `--controller-image`: images of our own static programs, nothing pulled. Skipped without an engine."""

import os
from pathlib import Path

import pytest_asyncio
from testcontainers.core.docker_client import DockerClient

from staleproof.drive.cluster.control_plane import KUBERNETES_VERSION, Silent
from staleproof.drive.cluster.control_plane.container import control_plane_image, make_control_plane_image
from staleproof.drive.cluster.go_program import GoProgram, ensure_go_program
from staleproof.drive.process.images import Recipe, make_image

from .conftest import KCM_ARGUMENTS, MANIFESTS, QUICK, WIDGETS, Run

ENVIRONMENT = {**os.environ, "TESTCONTAINERS_RYUK_DISABLED": "true"}


def test_kube_controller_manager_as_an_image_passes(engine: DockerClient, programs: Path, suite: Run) -> None:
    make_control_plane_image(engine, KUBERNETES_VERSION)
    done = suite(
        f"--controller-image={control_plane_image(KUBERNETES_VERSION)}",
        f"--controller-args=kube-controller-manager --kubeconfig={{kubeconfig}} {KCM_ARGUMENTS}",
        f"--staleproof-samples={MANIFESTS / 'replicaset-sample.yaml'}",
        *QUICK,
        "-k",
        "own-writes",
        env=ENVIRONMENT,
    )
    assert done.code == 0, done.output
    assert done.results["no-duplicate-create"] == "passed"
    assert done.conformance["implementation"]["imageDigest"].startswith("sha256:")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def go_naive(go: Path) -> Path:
    return await ensure_go_program(GoProgram("go-naive", MANIFESTS.parent / "go-naive"), Silent())


def test_a_naive_controller_in_go_is_caught(engine: DockerClient, suite: Run, go_naive: Path) -> None:
    recipe = Recipe(image="staleproof-go-naive:latest", program=go_naive, entrypoint=("go-naive",))
    make_image(engine, recipe)
    done = suite(f"--controller-image={recipe.image}", *WIDGETS, *QUICK, "-k", "hide-creates", env=ENVIRONMENT)
    assert done.code == 1, done.output
    assert done.results["no-duplicate-create"] == "failed"
    assert "the 4th live pod of widget/sample" in done.output
