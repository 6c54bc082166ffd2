"""A control plane that knows Widgets, what a test asks of it, and the walk that every complete Widget controller takes.

The tests of controllers share all this, whatever language the controllers are written in.
"""

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml
from kubernetes import client
from kubernetes.client.exceptions import ApiException

from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER, ControlPlane
from staleproof.drive.process.process import Command, Process

from .proxy_client import LIMIT_SECONDS, until
from .users import api_client

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "fixtures" / "manifests"
KIND = ("staleproof.dev", "v1")
CRDS = ("widget-crd.yaml", "sequentialjob-crd.yaml", "tenant-crd.yaml")


def fixture(controller: str, *arguments: str) -> tuple[str, ...]:
    """The command of a controller in fixtures/controllers."""
    return (sys.executable, "-m", f"fixtures.controllers.{controller}", *arguments)


class Cluster:
    """What a test asks of the API server directly, in a namespace of its own."""

    def __init__(self, api: client.ApiClient, kubeconfig: Path, folder: Path) -> None:
        self.core, self.custom = client.CoreV1Api(api), client.CustomObjectsApi(api)
        self.kubeconfig, self.log = kubeconfig, folder / "controller.log"
        made = self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(generate_name="fixture-")))
        assert made.metadata
        assert made.metadata.name
        self.namespace = made.metadata.name

    def apply_sample(self, *, name: str = "sample", replicas: int = 3, manifest: str = "widget-sample.yaml") -> None:
        body = yaml.safe_load((MANIFESTS / manifest).read_text())
        body["metadata"]["name"], body["spec"]["replicas"] = name, replicas
        self.custom.create_namespaced_custom_object(*KIND, self.namespace, "widgets", body)

    def patch(self, body: dict[str, Any], *, name: str = "sample") -> None:
        self.custom.patch_namespaced_custom_object(*KIND, self.namespace, "widgets", name, body)

    def widget(self, *, name: str = "sample") -> Any:  # noqa: ANN401  (JSON)
        return self.custom.get_namespaced_custom_object(*KIND, self.namespace, "widgets", name)

    def pods(self, *, name: str = "sample") -> list[Any]:
        """The pods of one Widget."""
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
        """The resourceVersions of the sample and its pods: every write changes them."""
        pods = {pod.metadata.name: pod.metadata.resource_version for pod in self.pods()}
        return {"": self.widget()["metadata"]["resourceVersion"], **pods}

    async def until(self, condition: Callable[[], bool]) -> None:
        try:
            await until(condition, every_seconds=0.05)
        except AssertionError as err:
            log = self.log.read_text() if self.log.exists() else ""
            status = self.widget().get("status")
            raise AssertionError(f"{self.revisions()}, status {status}; the controller wrote:\n{log}") from err

    async def settled(self, replicas: int, *, name: str = "sample") -> None:
        await self.until(lambda: self.settled_at(replicas, name=name))

    @asynccontextmanager
    async def running(self, *argv: str) -> AsyncIterator[Process]:
        """A controller; it must exit with 0 when it is told to stop."""
        command = Command(name="controller", argv=argv, log=self.log, env={"KUBECONFIG": str(self.kubeconfig)}, cwd=ROOT)
        process = await Process.start(command)
        try:
            yield process
        finally:
            exit_code = await process.stop(grace_seconds=LIMIT_SECONDS)
        assert exit_code == 0, process.account()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kubeconfigs(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The runner's and the controller's, for a control plane that knows Widgets."""
    folder = tmp_path_factory.mktemp("kubeconfigs")
    ours, theirs = folder / "runner.kubeconfig", folder / "controller.kubeconfig"
    plane.write_kubeconfig(ours, user=RUNNER)
    plane.write_kubeconfig(theirs, user=CONTROLLER)
    await know_resources(ours)
    return ours, theirs


async def know_resources(kubeconfig: Path) -> None:
    with api_client(kubeconfig) as api:
        definitions, custom = client.ApiextensionsV1Api(api), client.CustomObjectsApi(api)
        for manifest in CRDS:
            crd = yaml.safe_load((MANIFESTS / manifest).read_text())
            definitions.create_custom_resource_definition(crd)
            await until(partial(served, custom, crd["spec"]))


def served(custom: client.CustomObjectsApi, spec: dict[str, Any]) -> bool:
    """It is, a moment after its definition is established."""
    try:
        custom.list_cluster_custom_object(spec["group"], spec["versions"][0]["name"], spec["names"]["plural"])
    except ApiException as err:
        if err.status not in (404, 429):
            raise
        return False
    return True


@pytest.fixture
def cluster(kubeconfigs: tuple[Path, Path], tmp_path: Path) -> Iterator[Cluster]:
    ours, theirs = kubeconfigs
    with api_client(ours) as api:
        yield Cluster(api, theirs, tmp_path)


class Walk:
    """One complete controller at its work, in its own namespace: everything that it can be asked to do, once."""

    def __init__(self, cluster: Cluster, *argv: str) -> None:
        """`argv` starts the controller, which must understand `--namespace`."""
        self.cluster, self.argv = cluster, argv

    async def take(self, *, falls_silent: bool = True) -> None:
        """One that does not fall silent goes on writing when its work is done."""
        cluster = self.cluster
        async with cluster.running(*self.argv, "--namespace", cluster.namespace):
            await self.work()
            if falls_silent:
                await self.rest()
            cluster.custom.delete_namespaced_custom_object(*KIND, cluster.namespace, "widgets", "sample")
            await cluster.until(lambda: not self.left_of("sample"))
            cluster.apply_sample(manifest="widget-content-sample.yaml")
            await cluster.until(lambda: self.settled(3, "first"))

    async def work(self) -> None:
        cluster = self.cluster
        cluster.apply_sample(manifest="widget-content-sample.yaml")
        await cluster.until(lambda: self.settled(3, "first"))
        for spec in ({"replicas": 5}, {"replicas": 1, "content": "second"}, {"replicas": 2, "content": None}):
            cluster.patch({"spec": spec})
            await cluster.until(self.settled_as_wanted)
        taken = cluster.pods()[0].metadata
        cluster.core.delete_namespaced_pod(taken.name, cluster.namespace)
        await cluster.until(lambda: taken.uid not in [pod.metadata.uid for pod in cluster.pods()] and self.settled(2, None))

    async def rest(self) -> None:
        """A touched Widget gives no reason to write. Once another Widget is done, this one has been looked at."""
        cluster = self.cluster
        cluster.patch({"metadata": {"annotations": {"touched": "yes"}}})
        before = cluster.revisions()
        cluster.apply_sample(name="later", replicas=1)
        await cluster.until(lambda: self.settled(1, None, name="later"))
        assert cluster.revisions() == before

    def settled_as_wanted(self) -> bool:
        spec = self.cluster.widget()["spec"]
        return self.settled(spec["replicas"], spec.get("content"))

    def settled(self, replicas: int, content: str | None, *, name: str = "sample") -> bool:
        widget = self.cluster.widget(name=name)
        generation, status = widget["metadata"]["generation"], widget.get("status", {})
        ready = [(each["status"], each["observedGeneration"]) for each in status.get("conditions", ()) if each["type"] == "Ready"]
        return (
            (status.get("replicas"), status.get("observedGeneration")) == (replicas, generation)
            and ready == [("True", generation)]
            and len(self.cluster.live_pods(name=name)) == replicas
            and self.content(name) == content
        )

    def content(self, name: str) -> str | None:
        every: list[Any] = self.cluster.core.list_namespaced_config_map(self.cluster.namespace).items
        found: list[str] = [each.data["content"] for each in every if each.metadata.name.startswith(f"{name}-content")]
        return found[0] if found else None

    def left_of(self, name: str) -> list[str]:
        cluster = self.cluster
        widgets: Any = cluster.custom.list_namespaced_custom_object(*KIND, cluster.namespace, "widgets")
        every: list[Any] = [
            *cluster.core.list_namespaced_pod(cluster.namespace).items,
            *cluster.core.list_namespaced_config_map(cluster.namespace).items,
        ]
        owned = [each.metadata.name for each in every if [owner.name for owner in each.metadata.owner_references or ()] == [name]]
        return owned + [each["metadata"]["name"] for each in widgets["items"] if each["metadata"]["name"] == name]
