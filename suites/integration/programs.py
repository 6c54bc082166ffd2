"""The programs that tests run, as fixtures; a test is skipped where what it needs cannot be had. And what runs on this machine."""

import gc
import os
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio
from testcontainers.core.docker_client import DockerClient

from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.process.images import Recipe, make_image, reach_engine
from staleproof.drive.programs.build import ensure_built
from staleproof.drive.programs.cache import cache_root
from staleproof.drive.programs.kubernetes import COMPANIONS, SERVERS
from staleproof.drive.programs.toolchain import find_go
from staleproof.errors import SetupError


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def programs() -> Path:
    """The cache's folder with Kubernetes' programs, which are built if they are not there."""
    return await ensure_built(SERVERS, COMPANIONS)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def go(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The go command."""
    try:
        return await find_go(cache_root(os.environ), tmp_path_factory.mktemp("go"), Silent())
    except SetupError as err:
        pytest.skip(f"there is no Go: {err}")


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerClient]:
    """The container engine."""
    try:
        found = reach_engine(instead="skip these tests", limit_seconds=10)
    except SetupError as err:
        why = str(err)
    else:
        with closing(found.client):
            yield found
        return
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        gc.collect()  # the docker library does not close a socket on which nothing answers
    pytest.skip(why)


@pytest.fixture(scope="module")
def kube_controller_manager_image(engine: DockerClient, programs: Path) -> str:
    """An image that has nothing but kube-controller-manager, as a controller under test."""
    name = "kube-controller-manager"
    recipe = Recipe(image=f"staleproof-test:{name}", program=programs / COMPANIONS.name, names=(name,))
    make_image(engine, recipe)
    return recipe.image


def wrapped(folder: Path, programs: Path, *flags: str) -> Path:
    """Assets as envtest has them, whose kube-apiserver gets some more flags."""
    folder.mkdir()
    (folder / "etcd").symlink_to(programs / "etcd")
    (folder / "kube-apiserver").write_text(f'#!/bin/sh\nexec {programs / "kube-apiserver"} "$@" {" ".join(flags)}\n')
    (folder / "kube-apiserver").chmod(0o755)
    return folder


def command_lines() -> dict[int, list[bytes]]:
    """Of every living process, by its id: the words that started it."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found[int(path.parent.name)] = path.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
    return found
