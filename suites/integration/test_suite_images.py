"""The conformance suite with `--controller-image`: images of our own static programs, nothing pulled. Skipped without an engine."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from testcontainers.core.docker_client import DockerClient

from staleproof.drive.cluster.control_plane import KUBERNETES_VERSION, Silent
from staleproof.drive.cluster.control_plane.build import ensure_built
from staleproof.drive.cluster.control_plane.cache import cache_root
from staleproof.drive.cluster.control_plane.container import control_plane_image, make_control_plane_image
from staleproof.drive.cluster.control_plane.toolchain import find_go
from staleproof.drive.cluster.go_program import GoProgram, ensure_go_program
from staleproof.drive.process.images import Recipe, make_image, reach_engine
from staleproof.errors import SetupError

from .conftest import KCM_ARGUMENTS, MANIFESTS, QUICK, WIDGETS, Run

GO_NAIVE = MANIFESTS.parent / "go-naive"
ENVIRONMENT = {**os.environ, "TESTCONTAINERS_RYUK_DISABLED": "true"}


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerClient]:
    try:
        found = reach_engine(instead="skip these tests", limit_seconds=10)
    except SetupError as err:
        pytest.skip(str(err))
    with closing(found.client):
        yield found


def test_kube_controller_manager_as_an_image_passes(engine: DockerClient, suite: Run) -> None:
    asyncio.run(ensure_built(KUBERNETES_VERSION, Silent()))
    make_control_plane_image(engine, KUBERNETES_VERSION)
    done = suite(
        f"--controller-image={control_plane_image(KUBERNETES_VERSION)}",
        f"--controller-args=kube-controller-manager --kubeconfig={{kubeconfig}} {KCM_ARGUMENTS}",
        f"--staleproof-samples={MANIFESTS / 'replicaset-sample.yaml'}",
        *QUICK,
        "-k",
        "own_writes",
        env=ENVIRONMENT,
    )
    assert done.code == 0, done.output
    assert done.results["no-duplicate-create"] == "passed"
    assert done.conformance["implementation"]["imageDigest"].startswith("sha256:")


def test_a_naive_controller_in_go_is_caught(engine: DockerClient, suite: Run, tmp_path: Path) -> None:
    try:
        asyncio.run(find_go(cache_root(os.environ), tmp_path, Silent()))
    except SetupError as err:
        pytest.skip(f"there is no Go to build fixtures/go-naive with: {err}")
    program = asyncio.run(ensure_go_program(GoProgram("go-naive", GO_NAIVE), Silent()))
    recipe = Recipe(image="staleproof-go-naive:latest", program=program, entrypoint=("go-naive",))
    make_image(engine, recipe)
    done = suite(f"--controller-image={recipe.image}", *WIDGETS, *QUICK, "-k", "hide-creates", env=ENVIRONMENT)
    assert done.code == 1, done.output
    assert done.results["no-duplicate-create"] == "failed"
    assert "the 4th live pod of widget/sample" in done.output
