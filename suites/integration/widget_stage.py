"""A stage for a controller of Widgets, what there is to see on it, and the walk that every complete Widget controller takes.

The tests of controllers share all this, whatever language the controllers are written in.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import pytest
import pytest_asyncio
import yaml

from staleproof.drive.cluster.api import JSON, Api
from staleproof.drive.cluster.control_plane import CONTROLLER, ControlPlane
from staleproof.drive.process.process import Command, Process

from .proxy_client import LIMIT_SECONDS, limited
from .stage import CONFIG_MAPS, Stage, revision_of, served

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "fixtures" / "manifests"
CRDS = ("widget-crd.yaml", "sequentialjob-crd.yaml", "tenant-crd.yaml", "account-crd.yaml", "s3bucket-crd.yaml")
WIDGETS, PODS = "widgets.staleproof.dev", "pods"


def fixture(controller: str, *arguments: str) -> tuple[str, ...]:
    """The command of a controller in fixtures/controllers."""
    return (sys.executable, "-m", f"fixtures.controllers.{controller}", *arguments)


class Seen(dict[str, list[JSON]]):
    """What there was in a namespace at one moment, by resource."""

    def widget(self, name: str = "sample") -> JSON:
        (found,) = [each for each in self[WIDGETS] if each["metadata"]["name"] == name]
        return found

    def pods(self, name: str = "sample") -> list[JSON]:
        """The pods of one Widget."""
        uid = self.widget(name)["metadata"]["uid"]
        return [pod for pod in self[PODS] if [owner["uid"] for owner in _owners(pod)] == [uid]]

    def live_pods(self, name: str = "sample") -> list[JSON]:
        return [pod for pod in self.pods(name) if "deletionTimestamp" not in pod["metadata"]]

    def has(self, pod: JSON) -> bool:
        """Whether it is one of the sample's."""
        return pod["metadata"]["uid"] in [each["metadata"]["uid"] for each in self.pods()]

    def revisions(self) -> dict[str, str]:
        """The resourceVersions of the sample and its pods: every write changes them."""
        return {"": revision_of(self.widget()), **{pod["metadata"]["name"]: revision_of(pod) for pod in self.pods()}}

    def settled_at(self, replicas: int, name: str = "sample") -> bool:
        """As a small controller leaves it."""
        widget = self.widget(name)
        wanted = {"replicas": replicas, "observedGeneration": widget["metadata"]["generation"]}
        return widget.get("status") == wanted and len(self.live_pods(name)) == replicas

    def complete_at(self, replicas: int, content: str | None, name: str = "sample") -> bool:
        """As a complete controller leaves it."""
        widget = self.widget(name)
        generation, status = widget["metadata"]["generation"], widget.get("status", {})
        ready = [(each["status"], each["observedGeneration"]) for each in status.get("conditions", ()) if each["type"] == "Ready"]
        return (
            (status.get("replicas"), status.get("observedGeneration")) == (replicas, generation)
            and ready == [("True", generation)]
            and len(self.live_pods(name)) == replicas
            and self._content(name) == content
        )

    def as_wanted(self) -> bool:
        spec = self.widget()["spec"]
        return self.complete_at(spec["replicas"], spec.get("content"))

    def left_of(self, name: str) -> bool:
        """Whether there still is this Widget, or something of its own."""
        owned = [[owner["name"] for owner in _owners(each)] for each in (*self[PODS], *self[CONFIG_MAPS])]
        return [name] in owned or name in [each["metadata"]["name"] for each in self[WIDGETS]]

    def _content(self, name: str) -> str | None:
        found = [each["data"]["content"] for each in self[CONFIG_MAPS] if each["metadata"]["name"].startswith(f"{name}-content")]
        return found[0] if found else None


def _owners(obj: JSON) -> list[JSON]:
    owners: list[JSON] = obj["metadata"].get("ownerReferences", [])
    return owners


class ControllerStage(Stage):
    """A stage where a controller works on primaries. `resources`: what it reads and writes."""

    resources: ClassVar[tuple[str, ...]] = (WIDGETS, PODS, CONFIG_MAPS)

    def __init__(self, api: Api, kubeconfig: Path, folder: Path) -> None:
        super().__init__(api, [])
        self.log, self.env = folder / "controller.log", {"KUBECONFIG": str(kubeconfig)}

    async def create_sample(self, manifest: str = "widget-sample.yaml", *, name: str = "sample", **spec: object) -> None:
        """Make the primary of a manifest, with these fields in its spec."""
        body = yaml.safe_load((MANIFESTS / manifest).read_text())
        await self.create(name, self.resources[0], spec=body["spec"] | spec)

    async def change_spec(self, **spec: object) -> None:
        """Merge these fields into the sample's spec."""
        await self.change("sample", self.resources[0], spec=spec)

    async def look(self) -> Seen:
        return Seen({each: await self.listed(each) for each in self.resources})

    async def until(self, condition: Callable[[Seen], bool]) -> Seen:
        """What there is once the condition holds."""
        seen = Seen()
        try:
            async with limited():
                while not condition(seen := await self.look()):
                    await asyncio.sleep(0.05)
        except AssertionError as err:
            log = self.log.read_text() if self.log.exists() else ""
            found = [(each["metadata"]["name"], revision_of(each), each.get("status")) for every in seen.values() for each in every]
            raise AssertionError(f"{found}; the controller wrote:\n{log}") from err
        return seen

    async def settled(self, replicas: int, *, name: str = "sample") -> Seen:
        return await self.until(lambda seen: seen.settled_at(replicas, name))

    @asynccontextmanager
    async def running(self, *argv: str) -> AsyncIterator[Process]:
        """A controller; it must exit with 0 when it is stopped."""
        command = Command(name="controller", argv=argv, log=self.log, env=self.env, cwd=ROOT)
        process = await Process.start(command)
        try:
            yield process
        finally:
            exit_code = await process.stop(grace_seconds=LIMIT_SECONDS)
        assert exit_code == 0, process.account()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kubeconfig(plane: ControlPlane, api: Api, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The controller's, for a control plane that knows Widgets."""
    path = tmp_path_factory.mktemp("kubeconfig") / "controller.kubeconfig"
    plane.write_kubeconfig(path, user=CONTROLLER)
    await define(api, *CRDS)
    return path


async def define(api: Api, *manifests: str) -> None:
    """Have the API server serve the kinds of these manifests."""
    for manifest in manifests:
        crd = yaml.safe_load((MANIFESTS / manifest).read_text())
        await api.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
        await served(api, "/apis/{group}/{versions[0][name]}/{names[plural]}".format(**crd["spec"]))


@pytest_asyncio.fixture(loop_scope="module")
async def stage(api: Api, kubeconfig: Path, tmp_path: Path) -> ControllerStage:
    return await ControllerStage(api, kubeconfig, tmp_path).begin()


async def walk(stage: ControllerStage, *argv: str, falls_silent: bool = True) -> None:
    """A complete controller does everything that it can be asked to do, once. `argv` starts it, and must understand `--namespace`.
    One that does not fall silent goes on writing when its work is done."""
    async with stage.running(*argv, "--namespace", stage.namespace):
        await _work(stage)
        if falls_silent:
            await _rest(stage)
        await stage.delete("sample", WIDGETS)
        await stage.until(lambda seen: not seen.left_of("sample"))
        await stage.create_sample("widget-content-sample.yaml")
        await stage.until(lambda seen: seen.complete_at(3, "first"))


async def _work(stage: ControllerStage) -> None:
    await stage.create_sample("widget-content-sample.yaml")
    await stage.until(lambda seen: seen.complete_at(3, "first"))
    for spec in ({"replicas": 5}, {"replicas": 1, "content": "second"}, {"replicas": 2, "content": None}):
        await stage.change_spec(**spec)
        seen = await stage.until(Seen.as_wanted)
    taken = seen.pods()[0]
    await stage.delete(taken["metadata"]["name"], PODS)
    await stage.until(lambda seen: not seen.has(taken) and seen.complete_at(2, None))


async def _rest(stage: ControllerStage) -> None:
    """A touched Widget gives no reason to write. Once another Widget is done, this one has been looked at."""
    await stage.change("sample", WIDGETS, metadata={"annotations": {"touched": "yes"}})
    before = (await stage.look()).revisions()
    await stage.create_sample(name="later", replicas=1)
    seen = await stage.until(lambda seen: seen.complete_at(1, None, "later"))
    assert seen.revisions() == before
