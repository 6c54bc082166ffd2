"""Containers, on a real engine and with images made here: the control plane, and a controller under test.

Nothing is pulled. Where no engine answers, the tests that need one are skipped; the messages about its absence are tested
everywhere.
"""

import asyncio
import ipaddress
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client
from testcontainers.core.config import testcontainers_config
from testcontainers.core.docker_client import DockerClient

from staleproof.core.plan.plan import Subject
from staleproof.drive.cluster.access import Access
from staleproof.drive.cluster.control_plane import (
    CONTROLLER,
    KUBERNETES_VERSION,
    RUNNER,
    ControlPlane,
    ControlPlaneOptions,
    Silent,
    container,
    control_plane,
)
from staleproof.drive.cluster.control_plane.container import control_plane_image, make_control_plane_image
from staleproof.drive.process.address import free_port
from staleproof.drive.process.container import Container, ContainerCommand
from staleproof.drive.process.images import ImageRequest
from staleproof.drive.process.network import THIS_MACHINE
from staleproof.drive.process.reaper import RUN_LABEL, this_run
from staleproof.drive.subject.image import controller_container, controller_network
from staleproof.errors import SetupError, UsageError

from .conftest import KCM_ARGUMENTS, MANIFESTS
from .proxy_client import LIMIT_SECONDS, limited, until
from .users import api_client

pytestmark = pytest.mark.usefixtures("own_plane")

IMAGE = control_plane_image(KUBERNETES_VERSION)
NOT_HERE = "staleproof.invalid/no-such-controller:v1"  # .invalid resolves nowhere (RFC 2606)
WAITS_FOR_EVER = ("etcd", "--data-dir=/scratch/data", "--listen-peer-urls=http://127.0.0.1:0")


@pytest.fixture(autouse=True)
def _no_reaper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ryuk's image would have to be pulled; these tests look after their containers themselves."""
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", True)


@pytest.fixture(scope="module")
def image(engine: DockerClient, programs: Path) -> str:
    """Our programs alone, made from the cache."""
    make_control_plane_image(engine, KUBERNETES_VERSION)
    return IMAGE


def of_process(engine: DockerClient, pid: int) -> list[Any]:
    found = engine.client.containers.list(all=True, filters={"label": RUN_LABEL}, ignore_removed=True)
    return [each for each in found if f"/{pid}/" in each.labels[RUN_LABEL]]


def of_this_process(engine: DockerClient) -> list[Any]:
    return of_process(engine, os.getpid())


def direct(plane: ControlPlane, folder: Path) -> client.ApiClient:
    plane.write_kubeconfig(folder / "runner.kubeconfig", user=RUNNER)
    return api_client(folder / "runner.kubeconfig")


@asynccontextmanager
async def waiting(folder: Path) -> AsyncIterator[Container]:
    """A container that runs until it is stopped."""
    port = free_port()
    urls = (f"--listen-client-urls=http://127.0.0.1:{port}", f"--advertise-client-urls=http://127.0.0.1:{port}")
    made = await Container.start(
        ContainerCommand(
            name="waiting",
            image=ImageRequest(name=IMAGE, advice="", pull=False),
            log=folder / "waiting.log",
            instead="skip this test",
            arguments=(*WAITS_FOR_EVER, *urls),
            scratch=("/scratch",),
        )
    )
    try:
        yield made
    finally:
        await made.stop()


async def test_a_control_plane_of_containers_is_ready_and_leaves_none_behind(
    engine: DockerClient, image: str, tmp_path: Path
) -> None:
    options = ControlPlaneOptions(provider="container")
    async with control_plane(options, tmp_path, Silent()) as plane:
        assert (plane.version, plane.provider) == (KUBERNETES_VERSION, "container")
        assert len(of_this_process(engine)) == 2
        with direct(plane, tmp_path) as api:
            made = client.CoreV1Api(api).create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name="here")))
            assert made.metadata
            assert made.metadata.name == "here"
        for each in of_this_process(engine):
            assert not each.attrs["HostConfig"]["Privileged"]
    assert of_this_process(engine) == []
    assert (tmp_path / "etcd.log").exists()
    assert "Serving securely" in (tmp_path / "apiserver.log").read_text()
    assert list(tmp_path.glob("control-plane-*")) == []


async def test_a_program_that_exits_while_starting_is_reported_with_its_last_lines(
    engine: DockerClient, kube_controller_manager_image: str, tmp_path: Path
) -> None:
    """An image whose etcd is something else: kube-controller-manager does not know etcd's flags."""
    found = engine.client.images.get(kube_controller_manager_image)
    assert found.tag("staleproof-test", "not-etcd")
    command = ContainerCommand(
        name="etcd",
        image=ImageRequest(name="staleproof-test:not-etcd", advice="", pull=False),
        log=tmp_path / "etcd.log",
        instead="skip this test",
        arguments=("kube-controller-manager", "--no-such-flag"),
    )

    async def never() -> bool:
        return False

    try:
        made = await Container.start(command)
        try:
            with pytest.raises(SetupError, match=r"(?s)etcd: exited with code 1 before.*unknown flag: --no-such-flag"):
                await made.ready(never, limit_seconds=LIMIT_SECONDS)
        finally:
            await made.stop()
    finally:
        engine.client.images.remove("staleproof-test:not-etcd")


async def test_the_automatic_choice_takes_containers_only_where_the_image_is(image: str) -> None:
    assert await container.applies(ControlPlaneOptions()) == f"Docker has the image {IMAGE}"
    assert await container.applies(ControlPlaneOptions(version="v0.0.1")) is None
    assert "was given" in str(await container.applies(ControlPlaneOptions(image="anything")))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ControlPlaneOptions(provider="container", image=NOT_HERE), f"(?s){NOT_HERE}.*cannot be pulled.*or leave it out"),
        (ControlPlaneOptions(provider="container", version="v0.0.1"), "staleproof control-plane build"),
    ],
    ids=["a named image that does not exist", "no image and an empty cache"],
)
async def test_a_control_plane_without_its_image_is_reported_with_the_next_step(
    options: ControlPlaneOptions, message: str, engine: DockerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path / "empty"))
    with pytest.raises(SetupError, match=message):
        async with control_plane(options, tmp_path, Silent()):
            pass


async def test_a_controller_image_does_its_work(engine: DockerClient, kube_controller_manager_image: str, tmp_path: Path) -> None:
    """The subject is kube-controller-manager's ReplicaSet controller, which is not root in its container."""
    arguments = ("kube-controller-manager", "--kubeconfig={kubeconfig}", *KCM_ARGUMENTS.split())
    log = tmp_path / "controller.log"
    async with control_plane(ControlPlaneOptions(provider="cache"), tmp_path, Silent()) as plane:
        with direct(plane, tmp_path) as api:
            sample: Any = yaml.safe_load((MANIFESTS / "replicaset-sample.yaml").read_text())
            client.AppsV1Api(api).create_namespaced_replica_set("default", sample)

            def pods() -> int:
                return len(client.CoreV1Api(api).list_namespaced_pod("default").items)

            subject, access = Subject(image=kube_controller_manager_image, arguments=arguments), plane.access(CONTROLLER)
            async with controller_container(subject, access, log, THIS_MACHINE) as controller:
                assert controller.image_digest.startswith("sha256:")
                process = Path(f"/proc/{controller.pid}")  # the engine's own process for a moment, until it becomes ours
                await until(lambda: b"--controllers=replicaset-controller" in (process / "cmdline").read_bytes())
                assert process.stat().st_uid != os.getuid(), "not the owner of the kubeconfig"
                await until(lambda: pods() == 3, every_seconds=0.05)
                assert controller.running
                assert controller.exit_code is None
            assert not controller.running
            assert await controller.wait() == controller.exit_code
    assert of_this_process(engine) == []
    assert "Caches are synced" in log.read_text()


@pytest.mark.parametrize(
    ("image", "error", "message"),
    [
        (NOT_HERE, SetupError, f"(?s)no image '{NOT_HERE}' on this machine, and it cannot be pulled: .*docker build"),
        ("Not An Image", UsageError, "'Not An Image' is not the name of an image"),
        (" ", UsageError, "--controller-image is empty"),
    ],
)
async def test_a_controller_image_that_cannot_be_used_is_reported(
    image: str, error: type[Exception], message: str, engine: DockerClient, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        await run_once(Subject(image=image), tmp_path)


async def test_a_container_reaches_this_machine_at_its_address_in_the_network(engine: DockerClient, image: str) -> None:
    """Whatever the network, bridge or one of the user's: where we listen is no address of other machines'."""
    made = engine.client.networks.create("staleproof-test", driver="bridge", labels={RUN_LABEL: this_run()})
    try:
        subnet = ipaddress.ip_network(engine.client.api.inspect_network(made.id)["IPAM"]["Config"][0]["Subnet"])
        found = await controller_network(Subject(image=image, network="staleproof-test"))
        assert ipaddress.ip_address(found.reach.listen) in subnet
        assert found.reach.host == found.reach.listen
        usual = await controller_network(Subject(image=image))
        assert usual.name == "bridge"
        assert usual.reach != found.reach
    finally:
        made.remove()


async def run_once(subject: Subject, folder: Path) -> str:
    """Run a controller until it exits; how that is reported, wherever it was noticed."""
    nowhere = Access(server="https://127.0.0.1:1", token="none")  # no controller gets so far as to use it
    try:
        async with controller_container(subject, nowhere, folder / "controller.log", THIS_MACHINE) as controller:
            await controller.wait()
            return f"the controller exited with code {controller.exit_code}\n{controller.account()}"
    except SetupError as err:
        if "exited" not in str(err):
            raise
        return str(err)


async def test_a_controller_that_exits_at_once_is_reported_with_its_exit_code_and_last_lines(
    kube_controller_manager_image: str, tmp_path: Path
) -> None:
    message = await run_once(
        Subject(image=kube_controller_manager_image, arguments=("kube-controller-manager", "--no-such-flag")), tmp_path
    )
    assert "exited with code 1" in message
    assert f"Image: {kube_controller_manager_image} (sha256:" in message
    assert "  | " in message
    assert "unknown flag: --no-such-flag" in message


async def test_a_program_that_the_image_lacks_is_reported(engine: DockerClient, image: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"(?s)does not start: .*no-such-program.*Check the command"):
        await run_once(Subject(image=image, arguments=("no-such-program",)), tmp_path)
    assert of_this_process(engine) == []


async def test_an_unavailable_reaper_is_reported_with_the_way_around_it(
    image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", False)
    monkeypatch.setattr(testcontainers_config, "ryuk_image", NOT_HERE)
    with pytest.raises(SetupError, match=f"(?s){NOT_HERE}.*TESTCONTAINERS_RYUK_DISABLED=true"):
        await run_once(Subject(image=image), tmp_path)


@pytest.mark.parametrize("what", ["controller", "control plane"])
async def test_a_missing_engine_is_reported_with_the_way_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    options = ControlPlaneOptions(provider="container")

    async def use_containers() -> None:
        if what == "controller":
            await run_once(Subject(image="anything"), tmp_path)
        async with control_plane(options, tmp_path, Silent()):
            pass

    advice = {"controller": "--controller-cmd", "control plane": "another control plane provider"}[what]
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # no other process can have it, and none listens
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{deaf.getsockname()[1]}")
        assert await container.applies(options) is None
        with pytest.raises(SetupError, match=f"(?s)Docker is not reachable at tcp://127.0.0.1:.*refused.*Start it, or .*{advice}"):
            await use_containers()


async def test_an_engine_on_another_machine_is_refused_because_loopback_is_not_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    assert await container.applies(ControlPlaneOptions()) is None
    with pytest.raises(SetupError, match="is another machine"):
        await run_once(Subject(image="anything"), tmp_path)


async def test_a_paused_container_still_stops_and_a_second_stop_changes_nothing(
    engine: DockerClient, image: str, tmp_path: Path
) -> None:
    async with waiting(tmp_path) as made:
        await made.send_signal(signal.SIGSTOP)
        code = await made.stop()
        assert (made.exit_code, made.running) == (code, False)
        assert await made.stop() == code
        await made.send_signal(signal.SIGTERM)  # no process is left: nothing happens
    assert of_this_process(engine) == []


async def test_the_exit_code_of_a_killed_container_tells_the_signal(image: str, tmp_path: Path) -> None:
    async with waiting(tmp_path) as made:
        os.kill(made.pid, signal.SIGKILL)
        async with limited():
            assert await made.wait() == 128 + signal.SIGKILL


async def test_a_container_that_a_user_removes_has_exited(engine: DockerClient, image: str, tmp_path: Path) -> None:
    async with waiting(tmp_path) as made:
        (found,) = of_this_process(engine)
        await asyncio.to_thread(found.remove, force=True)
        async with limited():
            await made.wait()
        assert not made.running


async def test_cancelling_a_start_leaves_no_container(engine: DockerClient, image: str, tmp_path: Path) -> None:
    async def start() -> None:
        async with waiting(tmp_path):
            await asyncio.Event().wait()

    starting = asyncio.ensure_future(start())
    await until(lambda: bool(of_this_process(engine)), every_seconds=0.05)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert of_this_process(engine) == []


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from suites.integration.test_containers import waiting
from staleproof.drive.process.reaper import _sweeper

async def main():
    async with waiting(Path(sys.argv[2])) as made:
        print(os.getpid(), made.pid, flush=True)
        if sys.argv[3] == "with the sweeper":
            _sweeper().kill()
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def killed(folder: Path, how: str) -> tuple[int, int]:
    """A run that was killed: its process id, and that of the program in its container."""
    env = {**os.environ, "TESTCONTAINERS_RYUK_DISABLED": "true"}
    argv = [sys.executable, "-c", KILLED, str(Path(__file__).parents[2]), str(folder), how]
    done = subprocess.run(
        argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=LIMIT_SECONDS, check=False
    )
    assert done.returncode == -signal.SIGKILL
    run, inside = (int(word) for word in done.stdout.split())
    assert inside > 0
    return run, inside


async def test_the_sweeper_removes_the_containers_of_a_killed_run_and_of_no_other(
    engine: DockerClient, image: str, tmp_path: Path
) -> None:
    async with waiting(tmp_path) as ours:
        run, inside = killed(tmp_path, "alone")
        await until(lambda: of_process(engine, run) == [], every_seconds=0.05)
        assert not Path(f"/proc/{inside}").exists()
        assert ours.running


async def test_the_next_start_removes_what_the_sweeper_could_not_remove_and_nothing_else(
    engine: DockerClient, image: str, tmp_path: Path
) -> None:
    run, inside = killed(tmp_path, "with the sweeper")
    assert len(of_process(engine, run)) == 1
    async with waiting(tmp_path) as ours:
        assert of_process(engine, run) == []
        assert not Path(f"/proc/{inside}").exists()
        async with waiting(tmp_path):
            assert ours.running
            assert len(of_this_process(engine)) == 2
