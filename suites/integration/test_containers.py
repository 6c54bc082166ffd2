"""Containers, on a real engine and with images made here: the control plane, and a controller under test.

Nothing is pulled. Where no engine answers, the tests that need one are skipped; what is said in its absence is tested
everywhere.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config
from testcontainers.core.config import testcontainers_config
from testcontainers.core.docker_client import DockerClient

from staleproof.core.plan import Subject
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
from staleproof.drive.cluster.control_plane.build import ensure_built
from staleproof.drive.cluster.control_plane.container import control_plane_image, make_control_plane_image
from staleproof.drive.process.container import Container, ContainerCommand
from staleproof.drive.process.images import ImageRequest, reach_engine
from staleproof.drive.process.reaper import RUN_LABEL, is_orphan
from staleproof.drive.subject.image import controller_container
from staleproof.errors import SetupError, UsageError

LIMIT_SECONDS = 60.0
IMAGE = control_plane_image(KUBERNETES_VERSION)
NOT_HERE = "staleproof.invalid/no-such-controller:v1"  # .invalid resolves nowhere (RFC 2606)
WAITS_FOR_EVER = ("etcd", "--data-dir=/scratch/data", "--listen-peer-urls=http://127.0.0.1:0")


@pytest.fixture(autouse=True)
def _no_reaper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ryuk's image would have to be pulled; these tests look after their containers themselves."""
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", True)


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerClient]:
    try:
        found = reach_engine(instead="skip these tests", limit_seconds=10)
    except SetupError as err:
        pytest.skip(str(err))
    with closing(found.client):
        yield found


@pytest.fixture(scope="module")
def image(engine: DockerClient) -> str:
    """Our programs alone, made from the cache."""
    asyncio.run(ensure_built(KUBERNETES_VERSION, Silent()))
    make_control_plane_image(engine, KUBERNETES_VERSION)
    return IMAGE


def of_process(engine: DockerClient, pid: int) -> list[Any]:
    found = engine.client.containers.list(all=True, filters={"label": RUN_LABEL}, ignore_removed=True)
    return [each for each in found if f"/{pid}/" in each.labels[RUN_LABEL]]


def of_this_process(engine: DockerClient) -> list[Any]:
    return of_process(engine, os.getpid())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        while not condition():
            await asyncio.sleep(0.05)


def api_of(plane: ControlPlane, folder: Path) -> client.ApiClient:
    plane.write_kubeconfig(folder / "runner.kubeconfig", user=RUNNER)
    made: client.ApiClient = config.new_client_from_config(  # type: ignore[no-untyped-call]  # no annotations there
        str(folder / "runner.kubeconfig")
    )
    return made


def nobody(folder: Path) -> Path:
    """A kubeconfig for controllers that never come to use it; only its owner may read it."""
    path = folder / "kubeconfig"
    path.touch(mode=0o600)
    return path


@asynccontextmanager
async def waiting(folder: Path) -> AsyncIterator[Container]:
    """A container that runs until it is told to stop."""
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


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_control_plane_of_containers_is_ready_and_leaves_none_behind(engine: DockerClient, image: str, tmp_path: Path) -> None:
    async def body() -> None:
        options = ControlPlaneOptions(provider="container")
        async with control_plane(options, tmp_path, Silent()) as plane:
            assert (plane.version, plane.provider) == (KUBERNETES_VERSION, "container")
            assert len(of_this_process(engine)) == 2
            with api_of(plane, tmp_path) as api:
                made = client.CoreV1Api(api).create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name="here")))
                assert made.metadata
                assert made.metadata.name == "here"
            for each in of_this_process(engine):
                assert not each.attrs["HostConfig"]["Privileged"]

    asyncio.run(body())
    assert of_this_process(engine) == []
    assert (tmp_path / "etcd.log").exists()
    assert "Serving securely" in (tmp_path / "apiserver.log").read_text()
    assert list(tmp_path.glob("control-plane-*")) == []


def test_a_program_that_exits_while_starting_is_told_with_its_last_lines(engine: DockerClient, image: str, tmp_path: Path) -> None:
    """An image whose etcd is something else: kube-controller-manager does not know etcd's flags."""
    found = engine.client.images.get(image)
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

    async def body() -> None:
        made = await Container.start(command)
        try:
            with pytest.raises(SetupError, match=r"(?s)etcd: exited with code 1 before.*unknown flag: --no-such-flag"):
                await made.ready(never, limit_seconds=LIMIT_SECONDS)
        finally:
            await made.stop()

    try:
        asyncio.run(body())
    finally:
        engine.client.images.remove("staleproof-test:not-etcd")


def test_the_automatic_choice_takes_containers_only_where_the_image_is(image: str) -> None:
    assert asyncio.run(container.applies(ControlPlaneOptions())) == f"Docker has the image {IMAGE}"
    assert asyncio.run(container.applies(ControlPlaneOptions(version="v0.0.1"))) is None
    assert "was given" in str(asyncio.run(container.applies(ControlPlaneOptions(image="anything"))))


def test_a_named_image_that_is_nowhere_is_told(engine: DockerClient, tmp_path: Path) -> None:
    async def body() -> None:
        options = ControlPlaneOptions(provider="container", image=NOT_HERE)
        with pytest.raises(SetupError, match=f"(?s){NOT_HERE}.*cannot be pulled.*or leave it out"):
            async with control_plane(options, tmp_path, Silent()):
                pass

    asyncio.run(body())


def test_without_an_image_and_with_an_empty_cache_the_next_step_is_told(
    engine: DockerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path / "empty"))

    async def body() -> None:
        options = ControlPlaneOptions(provider="container", version="v0.0.1")
        with pytest.raises(SetupError, match="staleproof control-plane build"):
            async with control_plane(options, tmp_path, Silent()):
                pass

    asyncio.run(body())


def test_a_controller_image_does_its_work(engine: DockerClient, image: str, tmp_path: Path) -> None:
    """kube-controller-manager's ReplicaSet controller as the subject, as a user who is not root in there."""
    subject = Subject(
        image=image,
        arguments=(
            "kube-controller-manager",
            "--kubeconfig={kubeconfig}",
            "--controllers=replicaset-controller",
            "--leader-elect=false",
            "--use-service-account-credentials=false",
            "--kube-api-qps=1000",
            "--kube-api-burst=2000",
            "--bind-address=127.0.0.1",
            f"--secure-port={free_port()}",
            "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
            "--authentication-skip-lookup=true",
        ),
    )
    kubeconfig, log = tmp_path / "controller.kubeconfig", tmp_path / "controller.log"

    async def body() -> None:
        async with control_plane(ControlPlaneOptions(provider="cache"), tmp_path, Silent()) as plane:
            plane.write_kubeconfig(kubeconfig, user=CONTROLLER)
            with api_of(plane, tmp_path) as api:
                client.AppsV1Api(api).create_namespaced_replica_set("default", replica_set(3))

                def pods() -> int:
                    return len(client.CoreV1Api(api).list_namespaced_pod("default").items)

                async with controller_container(subject, kubeconfig, log) as controller:
                    assert controller.image_digest.startswith("sha256:")
                    assert b"--controllers=replicaset-controller" in Path(f"/proc/{controller.pid}/cmdline").read_bytes()
                    assert Path(f"/proc/{controller.pid}").stat().st_uid != os.getuid(), "not the owner of the kubeconfig"
                    await until(lambda: pods() == 3)
                    assert controller.running
                    assert controller.exit_code is None
                assert not controller.running
                assert await controller.wait() == controller.exit_code

    asyncio.run(body())
    assert of_this_process(engine) == []
    assert "Caches are synced" in log.read_text()


def replica_set(replicas: int) -> client.V1ReplicaSet:
    labels = {"app": "sample"}
    pod = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=labels),
        spec=client.V1PodSpec(containers=[client.V1Container(name="main", image="registry.k8s.io/pause:3.10")]),
    )
    return client.V1ReplicaSet(
        metadata=client.V1ObjectMeta(name="sample"),
        spec=client.V1ReplicaSetSpec(replicas=replicas, selector=client.V1LabelSelector(match_labels=labels), template=pod),
    )


def test_a_controller_image_that_is_nowhere_is_told(engine: DockerClient, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=f"(?s)no image '{NOT_HERE}' on this machine, and it cannot be pulled: .*docker build"):
        asyncio.run(run_once(Subject(image=NOT_HERE), tmp_path))


def test_what_cannot_be_the_name_of_an_image_is_the_users_mistake(engine: DockerClient, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'Not An Image' is not the name of an image"):
        asyncio.run(run_once(Subject(image="Not An Image"), tmp_path))
    with pytest.raises(UsageError, match="--controller-image is empty"):
        asyncio.run(run_once(Subject(image=" "), tmp_path))


async def run_once(subject: Subject, folder: Path) -> str:
    """Until it exits; what is told of that, wherever it was noticed."""
    try:
        async with controller_container(subject, nobody(folder), folder / "controller.log") as controller:
            await controller.wait()
            return f"the controller exited with code {controller.exit_code}\n{controller.account()}"
    except SetupError as err:
        if "exited" not in str(err):
            raise
        return str(err)


def test_a_controller_that_exits_at_once_is_told_with_its_exit_code_and_last_lines(image: str, tmp_path: Path) -> None:
    told = asyncio.run(run_once(Subject(image=image, arguments=("kube-controller-manager", "--no-such-flag")), tmp_path))
    assert "exited with code 1" in told
    assert f"Image: {image} (sha256:" in told
    assert "  | " in told
    assert "unknown flag: --no-such-flag" in told


def test_a_program_that_the_image_does_not_have_is_told(engine: DockerClient, image: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"(?s)does not start: .*no-such-program.*Check the command"):
        asyncio.run(run_once(Subject(image=image, arguments=("no-such-program",)), tmp_path))
    assert of_this_process(engine) == []


def test_a_reaper_that_cannot_be_had_is_told_with_the_way_around(
    image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", False)
    monkeypatch.setattr(testcontainers_config, "ryuk_image", NOT_HERE)
    with pytest.raises(SetupError, match=f"(?s){NOT_HERE}.*TESTCONTAINERS_RYUK_DISABLED=true"):
        asyncio.run(run_once(Subject(image=image), tmp_path))


@pytest.mark.parametrize("what", ["controller", "control plane"])
def test_without_an_engine_the_way_around_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{free_port()}")
    options = ControlPlaneOptions(provider="container")
    assert asyncio.run(container.applies(options)) is None

    async def body() -> None:
        if what == "controller":
            await run_once(Subject(image="anything"), tmp_path)
        async with control_plane(options, tmp_path, Silent()):
            pass

    advice = {"controller": "--controller-cmd", "control plane": "another control plane provider"}[what]
    with pytest.raises(SetupError, match=f"(?s)Docker is not reachable at tcp://127.0.0.1:.*refused.*Start it, or .*{advice}"):
        asyncio.run(body())


def test_an_engine_on_another_machine_is_refused_because_loopback_is_not_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    assert asyncio.run(container.applies(ControlPlaneOptions())) is None
    with pytest.raises(SetupError, match="is another machine"):
        asyncio.run(run_once(Subject(image="anything"), tmp_path))


def test_a_paused_container_still_stops_and_a_second_stop_changes_nothing(engine: DockerClient, image: str, tmp_path: Path) -> None:
    async def body() -> None:
        async with waiting(tmp_path) as made:
            await made.send_signal(signal.SIGSTOP)
            code = await made.stop()
            assert (made.exit_code, made.running) == (code, False)
            assert await made.stop() == code
            await made.send_signal(signal.SIGTERM)  # nobody is there: nothing happens
        assert of_this_process(engine) == []

    asyncio.run(body())


def test_a_killed_container_is_told_by_its_exit_code(image: str, tmp_path: Path) -> None:
    async def body() -> None:
        async with waiting(tmp_path) as made:
            os.kill(made.pid, signal.SIGKILL)
            async with asyncio.timeout(LIMIT_SECONDS):
                assert await made.wait() == 128 + signal.SIGKILL

    asyncio.run(body())


def test_a_container_that_somebody_removes_has_exited(engine: DockerClient, image: str, tmp_path: Path) -> None:
    async def body() -> None:
        async with waiting(tmp_path) as made:
            (found,) = of_this_process(engine)
            await asyncio.to_thread(found.remove, force=True)
            async with asyncio.timeout(LIMIT_SECONDS):
                await made.wait()
            assert not made.running

    asyncio.run(body())


def test_cancelling_a_start_leaves_no_container(engine: DockerClient, image: str, tmp_path: Path) -> None:
    async def start() -> None:
        async with waiting(tmp_path):
            await asyncio.Event().wait()

    async def body() -> None:
        starting = asyncio.ensure_future(start())
        await until(lambda: bool(of_this_process(engine)))
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert of_this_process(engine) == []

    asyncio.run(body())


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from suites.integration.test_containers import waiting

async def main():
    async with waiting(Path(sys.argv[2])) as made:
        print(os.getpid(), made.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_the_next_start_removes_the_containers_of_a_killed_run_and_of_no_other(
    engine: DockerClient, image: str, tmp_path: Path
) -> None:
    env = {**os.environ, "TESTCONTAINERS_RYUK_DISABLED": "true"}
    argv = [sys.executable, "-c", KILLED, str(Path(__file__).parents[2]), str(tmp_path)]
    killed = subprocess.run(
        argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=LIMIT_SECONDS, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    run, inside = (int(word) for word in killed.stdout.split())
    assert inside > 0

    async def body() -> None:
        async with waiting(tmp_path) as ours:
            assert of_process(engine, run) == []
            assert not Path(f"/proc/{inside}").exists()
            async with waiting(tmp_path):
                assert ours.running
                assert len(of_this_process(engine)) == 2

    asyncio.run(body())


def test_only_a_dead_run_of_this_very_machine_leaves_leftovers() -> None:
    here = "host pid:[4026531836]"
    alive = {7: "100"}

    def born(pid: int) -> str:
        return alive.get(pid, "")

    assert not is_orphan(f"{here}/7/100", here, born)
    assert is_orphan(f"{here}/7/99", here, born), "the process id was used again"
    assert is_orphan(f"{here}/8/100", here, born)
    assert not is_orphan("other pid:[4026531836]/8/100", here, born)
    assert not is_orphan("host pid:[4026532999]/8/100", here, born), "in a container nobody is seen from outside"
    assert not is_orphan("something else", here, born)
