"""The fixture controllers do their work on a real control plane when nothing is wrong, and then fall silent.

What they do when their cache lags is not asked here: that is what the mutants are for.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config

from staleproof.drive.control_plane import CONTROLLER, RUNNER, ControlPlaneOptions, Silent, control_plane
from staleproof.drive.process import Command, Process

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "fixtures" / "manifests"
CONTROLLERS = ("naive", "expectations", "deterministic", "no_preconditions")
KIND = ("staleproof.dev", "v1")
LIMIT_SECONDS = 60.0


class Cluster:
    """What a test asks of the control plane, past every controller: in one namespace, fresh for each test."""

    def __init__(self, api: client.ApiClient, kubeconfig: Path, folder: Path) -> None:
        self.core, self.custom = client.CoreV1Api(api), client.CustomObjectsApi(api)
        self.kubeconfig, self.log = kubeconfig, folder / "controller.log"
        made = self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(generate_name="fixture-")))
        assert made.metadata
        assert made.metadata.name
        self.namespace = made.metadata.name

    def apply_sample(self, *, name: str = "sample", replicas: int = 3) -> None:
        body = yaml.safe_load((MANIFESTS / "widget-sample.yaml").read_text())
        body["metadata"]["name"], body["spec"]["replicas"] = name, replicas
        self.custom.create_namespaced_custom_object(*KIND, self.namespace, "widgets", body)

    def patch(self, body: dict[str, Any], *, name: str = "sample") -> None:
        self.custom.patch_namespaced_custom_object(*KIND, self.namespace, "widgets", name, body)

    def widget(self, *, name: str = "sample") -> Any:  # noqa: ANN401  (JSON)
        return self.custom.get_namespaced_custom_object(*KIND, self.namespace, "widgets", name)

    def pods(self, *, name: str = "sample") -> list[Any]:
        """Of one Widget."""
        every: list[Any] = self.core.list_namespaced_pod(self.namespace).items
        uid = self.widget(name=name)["metadata"]["uid"]
        return [pod for pod in every if [each.uid for each in pod.metadata.owner_references or []] == [uid]]

    def live_pods(self, *, name: str = "sample") -> list[Any]:
        return [pod for pod in self.pods(name=name) if pod.metadata.deletion_timestamp is None]

    def settled_at(self, replicas: int, *, name: str = "sample") -> bool:
        widget = self.widget(name=name)
        wanted = {"replicas": replicas, "observedGeneration": widget["metadata"]["generation"]}
        return widget.get("status") == wanted and len(self.live_pods(name=name)) == replicas

    def revisions(self) -> dict[str, str]:
        """resourceVersions of the sample and its pods: any write at all changes them."""
        pods = {pod.metadata.name: pod.metadata.resource_version for pod in self.pods()}
        return {"": self.widget()["metadata"]["resourceVersion"], **pods}

    async def until(self, condition: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                while not condition():
                    await asyncio.sleep(0.02)
        except TimeoutError:
            log = self.log.read_text() if self.log.exists() else ""
            pytest.fail(f"{self.revisions()}, status {self.widget().get('status')}; the controller wrote:\n{log}")

    async def settled(self, replicas: int, *, name: str = "sample") -> None:
        await self.until(lambda: self.settled_at(replicas, name=name))

    @asynccontextmanager
    async def running(self, controller: str) -> AsyncIterator[Process]:
        argv = (sys.executable, "-m", f"fixtures.controllers.{controller}")
        command = Command(name=controller, argv=argv, log=self.log, env={"KUBECONFIG": str(self.kubeconfig)}, cwd=ROOT)
        process = await Process.start(command)
        try:
            yield process
        finally:
            exit_code = await process.stop()
        assert exit_code == 0, process.account()


@pytest.fixture(scope="module")
def kubeconfigs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The runner's and the controller's, for one control plane that knows Widgets."""
    folder = tmp_path_factory.mktemp("control-plane")
    ours, theirs = folder / "runner.kubeconfig", folder / "controller.kubeconfig"
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        plane = runner.run(stack.enter_async_context(control_plane(ControlPlaneOptions(), folder, Silent())))
        try:
            plane.write_kubeconfig(ours, user=RUNNER)
            plane.write_kubeconfig(theirs, user=CONTROLLER)
            runner.run(know_widgets(ours))
            yield ours, theirs
        finally:
            runner.run(stack.aclose())


async def know_widgets(kubeconfig: Path) -> None:
    crd = yaml.safe_load((MANIFESTS / "widget-crd.yaml").read_text())
    with api_client(kubeconfig) as api:
        definitions = client.ApiextensionsV1Api(api)
        definitions.create_custom_resource_definition(crd)
        async with asyncio.timeout(LIMIT_SECONDS):
            while not served(definitions, crd["metadata"]["name"]):
                await asyncio.sleep(0.02)


def served(definitions: client.ApiextensionsV1Api, name: str) -> bool:
    status = definitions.read_custom_resource_definition(name).status
    conditions = (status and status.conditions) or []
    return any(each.type == "Established" and each.status == "True" for each in conditions)


def api_client(kubeconfig: Path) -> client.ApiClient:
    # kubernetes.config carries no annotations
    made: client.ApiClient = config.new_client_from_config(str(kubeconfig))  # type: ignore[no-untyped-call]
    return made


@pytest.fixture
def cluster(kubeconfigs: tuple[Path, Path], tmp_path: Path) -> Iterator[Cluster]:
    ours, theirs = kubeconfigs
    with api_client(ours) as api:
        yield Cluster(api, theirs, tmp_path)


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_as_many_pods_as_wanted_and_the_status_says_so(cluster: Cluster, controller: str) -> None:
    async def body() -> None:
        async with cluster.running(controller):
            cluster.apply_sample(replicas=3)
            await cluster.settled(3)
            for replicas in (5, 1, 0, 2):
                cluster.patch({"spec": {"replicas": replicas}})
                await cluster.settled(replicas)
        for pod in cluster.pods():
            (owner,) = pod.metadata.owner_references
            assert (owner.kind, owner.name, owner.controller, owner.block_owner_deletion) == (
                "Widget",
                "sample",
                True,
                True,
            )
            assert pod.metadata.labels == {"app": "sample"}

    asyncio.run(body())


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_nothing_is_written_when_nothing_changed(cluster: Cluster, controller: str) -> None:
    """Neither for a Widget that was touched, nor after everything was listed again by a new process."""

    async def body() -> None:
        cluster.apply_sample()
        async with cluster.running(controller):
            await cluster.settled(3)
            cluster.patch({"metadata": {"annotations": {"touched": "yes"}}})
            before = cluster.revisions()
            await looked_at(cluster, "after-touch")
            assert cluster.revisions() == before
        async with cluster.running(controller):
            await looked_at(cluster, "after-restart")
            assert cluster.revisions() == before

    asyncio.run(body())


async def looked_at(cluster: Cluster, later: str) -> None:
    """The controller has one worker: once a Widget made later is done, everything known before has been looked at."""
    cluster.apply_sample(name=later, replicas=1)
    await cluster.settled(1, name=later)


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_pods_of_a_deleted_widget_are_left_to_the_garbage_collector(cluster: Cluster, controller: str) -> None:
    async def body() -> None:
        async with cluster.running(controller):
            cluster.apply_sample()
            await cluster.settled(3)
            before = cluster.revisions()
            cluster.custom.delete_namespaced_custom_object(
                *KIND, cluster.namespace, "widgets", "sample", propagation_policy="Foreground"
            )
            await looked_at(cluster, "later")
            after = cluster.revisions()
        assert "deletionTimestamp" in cluster.widget()["metadata"]
        assert after == before | {"": after[""]}

    asyncio.run(body())


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_a_pod_being_deleted_does_not_count(cluster: Cluster, controller: str) -> None:
    """Names that are chosen cannot be had twice: there the place stays empty until the pod has gone."""

    async def body() -> None:
        async with cluster.running(controller):
            cluster.apply_sample()
            await cluster.settled(3)
            going = cluster.live_pods()[-1].metadata
            hold = {"metadata": {"finalizers": ["staleproof.dev/hold"]}}
            cluster.core.patch_namespaced_pod(going.name, cluster.namespace, hold)
            cluster.core.delete_namespaced_pod(going.name, cluster.namespace)
            await cluster.settled(2 if controller in ("deterministic", "no_preconditions") else 3)
            assert going.uid in [pod.metadata.uid for pod in cluster.pods()]
            cluster.core.patch_namespaced_pod(going.name, cluster.namespace, {"metadata": {"finalizers": None}})
            await cluster.until(lambda: going.uid not in [pod.metadata.uid for pod in cluster.pods()])
            await cluster.settled(3)

    asyncio.run(body())


@pytest.mark.parametrize("controller", ["deterministic", "no_preconditions"])
def test_a_pod_of_somebody_else_is_not_taken_for_its_own(cluster: Cluster, controller: str) -> None:
    async def body() -> None:
        cluster.core.create_namespaced_pod(
            cluster.namespace,
            client.V1Pod(
                metadata=client.V1ObjectMeta(name="sample-1"),
                spec=client.V1PodSpec(containers=[client.V1Container(name="main", image="registry.k8s.io/pause:3.10")]),
            ),
        )
        async with cluster.running(controller):
            cluster.apply_sample()
            await cluster.until(lambda: "409 Conflict" in cluster.log.read_text())
            assert [pod.metadata.name for pod in cluster.pods()] == ["sample-0"]
            cluster.core.delete_namespaced_pod("sample-1", cluster.namespace)
            await cluster.settled(3)

    asyncio.run(body())


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_a_pod_taken_away_is_replaced(cluster: Cluster, controller: str) -> None:
    async def body() -> None:
        async with cluster.running(controller):
            cluster.apply_sample()
            await cluster.settled(3)
            gone = cluster.pods()[0].metadata
            cluster.core.delete_namespaced_pod(gone.name, cluster.namespace)
            await cluster.until(lambda: len(cluster.pods()) == 3)
            await cluster.settled(3)
            assert gone.uid not in [pod.metadata.uid for pod in cluster.pods()]

    asyncio.run(body())
