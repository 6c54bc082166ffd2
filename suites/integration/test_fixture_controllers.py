"""The fixture controllers do their work on a real control plane when nothing is wrong, and then fall silent, as far as they can.

What they do when their cache lags is tested with the mutants. The complete controllers, honest and mutant, all take the same walk,
side by side, each in a namespace of its own.
"""

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml
from kubernetes import client
from kubernetes.client.exceptions import ApiException

# The leaf under test.
from staleproof.fixtures.controllers.correct import CORRECT  # noqa: TID251
from staleproof.fixtures.controllers.habits import HABITS  # noqa: TID251
from staleproof.fixtures.controllers.mutants import MUTANTS  # noqa: TID251
from staleproof.fixtures.controllers.sleepless import SLEEPLESS  # noqa: TID251

from .proxy_client import until
from .users import api_client
from .widget_stage import KIND, MANIFESTS, Cluster, Walk, fixture
from .widget_stage import cluster as cluster
from .widget_stage import kubeconfigs as kubeconfigs

SMALL = ("naive", "expectations", "deterministic", "no_preconditions")
SEQUENCES = ("correct", "naive")
AT_A_TIME = 8


@pytest_asyncio.fixture(loop_scope="module")
async def busy(cluster: Cluster, controller: str) -> AsyncIterator[Cluster]:
    """The cluster, where the controller has made three pods for the sample."""
    async with cluster.running(*fixture(controller)):
        cluster.apply_sample(replicas=3)
        await cluster.settled(3)
        yield cluster


@pytest.mark.parametrize("controller", SMALL)
async def test_there_are_as_many_pods_as_wanted_and_the_status_says_so(busy: Cluster) -> None:
    for replicas in (5, 1, 0, 2):
        busy.patch({"spec": {"replicas": replicas}})
        await busy.settled(replicas)
    for pod in busy.pods():
        (owner,) = pod.metadata.owner_references
        assert (owner.kind, owner.name, owner.controller, owner.block_owner_deletion) == ("Widget", "sample", True, True)
        assert pod.metadata.labels == {"app": "sample"}


@pytest.mark.parametrize("controller", SMALL)
async def test_nothing_is_written_when_nothing_changed(cluster: Cluster, controller: str) -> None:
    """Neither for a touched Widget, nor after a new process has listed everything again."""
    cluster.apply_sample()
    async with cluster.running(*fixture(controller)):
        await cluster.settled(3)
        cluster.patch({"metadata": {"annotations": {"touched": "yes"}}})
        before = cluster.revisions()
        await looked_at(cluster, "after-touch")
        assert cluster.revisions() == before
    async with cluster.running(*fixture(controller)):
        await looked_at(cluster, "after-restart")
        assert cluster.revisions() == before


async def looked_at(cluster: Cluster, later: str) -> None:
    """The controller has one worker: once a Widget made later is done, everything known before has been looked at."""
    cluster.apply_sample(name=later, replicas=1)
    await cluster.settled(1, name=later)


@pytest.mark.parametrize("controller", SMALL)
async def test_pods_of_a_deleted_widget_are_left_to_the_garbage_collector(busy: Cluster) -> None:
    before = busy.revisions()
    busy.custom.delete_namespaced_custom_object(*KIND, busy.namespace, "widgets", "sample", propagation_policy="Foreground")
    await looked_at(busy, "later")
    after = busy.revisions()
    assert "deletionTimestamp" in busy.widget()["metadata"]
    assert after == before | {"": after[""]}


@pytest.mark.parametrize("controller", SMALL)
async def test_a_pod_being_deleted_does_not_count(busy: Cluster, controller: str) -> None:
    """A controller that chooses the names cannot use one twice: its pod's place stays empty until the old pod has gone."""
    going = busy.live_pods()[-1].metadata
    busy.core.patch_namespaced_pod(going.name, busy.namespace, {"metadata": {"finalizers": ["staleproof.dev/hold"]}})
    busy.core.delete_namespaced_pod(going.name, busy.namespace)
    await busy.settled(2 if controller in ("deterministic", "no_preconditions") else 3)
    assert going.uid in [pod.metadata.uid for pod in busy.pods()]
    busy.core.patch_namespaced_pod(going.name, busy.namespace, {"metadata": {"finalizers": None}})
    await busy.until(lambda: going.uid not in [pod.metadata.uid for pod in busy.pods()])
    await busy.settled(3)


@pytest.mark.parametrize("controller", ["deterministic", "no_preconditions"])
async def test_a_foreign_pod_is_not_adopted(cluster: Cluster, controller: str) -> None:
    spec = client.V1PodSpec(containers=[client.V1Container(name="main", image="registry.k8s.io/pause:3.10")])
    cluster.core.create_namespaced_pod(cluster.namespace, client.V1Pod(metadata=client.V1ObjectMeta(name="sample-1"), spec=spec))
    async with cluster.running(*fixture(controller)):
        cluster.apply_sample()
        await cluster.until(lambda: "sample: 409 " in cluster.log.read_text())
        assert [pod.metadata.name for pod in cluster.pods()] == ["sample-0"]
        cluster.core.delete_namespaced_pod("sample-1", cluster.namespace)
        await cluster.settled(3)


@pytest.mark.parametrize("controller", SMALL)
async def test_a_pod_taken_away_is_replaced(busy: Cluster) -> None:
    gone = busy.pods()[0].metadata
    busy.core.delete_namespaced_pod(gone.name, busy.namespace)
    await busy.until(lambda: len(busy.pods()) == 3)
    await busy.settled(3)
    assert gone.uid not in [pod.metadata.uid for pod in busy.pods()]


Walks = dict[tuple[str, str], BaseException | None]
_SLEEPS_WHEN_BEHIND = {"oversleeps"}
"""On a busy machine a cache lags without any fault, too."""
_GOES_ON_WRITING = {"heartbeat", "hopeless", "heartbeat_ahead", "hopeless_by_name", "provisions"}
"""Times, or what is ready outside only later."""
COMPLETE = [
    *(("sleepless", name) for name in SLEEPLESS),
    *(("habits", name) for name in HABITS),
    *(("correct", name) for name in CORRECT),
    *(("mutants", name) for name in MUTANTS if name not in _SLEEPS_WHEN_BEHIND),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def walks(kubeconfigs: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Walks:
    """How the walk of every complete controller ended. Several walk at a time, because most of a walk is waiting."""
    ours, theirs = kubeconfigs

    async def one(package: str, name: str, turn: asyncio.Semaphore) -> None:
        async with turn:
            with api_client(ours) as api:
                await Walk(Cluster(api, theirs, tmp_path_factory.mktemp(name)), *fixture(package, name)).take(
                    falls_silent=name not in _GOES_ON_WRITING
                )

    turn = asyncio.Semaphore(AT_A_TIME)
    ends = await asyncio.gather(*(one(package, name, turn) for package, name in COMPLETE), return_exceptions=True)
    return dict(zip(COMPLETE, ends, strict=True))


@pytest.mark.live
@pytest.mark.parametrize(("package", "name"), COMPLETE)
def test_a_complete_controller_does_its_work_and_falls_silent(walks: Walks, package: str, name: str) -> None:
    failure = walks[package, name]
    assert failure is None, "".join(traceback.format_exception(failure))


class Sequence:
    """What a test asks of a SequentialJob and its Jobs. The test finishes the Jobs itself: nothing here runs pods."""

    def __init__(self, cluster: Cluster, api: client.ApiClient) -> None:
        self.cluster, self.batch = cluster, client.BatchV1Api(api)

    def apply(self) -> None:
        body = yaml.safe_load((MANIFESTS / "sequentialjob-sample.yaml").read_text())
        self.cluster.custom.create_namespaced_custom_object(*KIND, self.cluster.namespace, "sequentialjobs", body)

    def patch(self, body: dict[str, Any]) -> None:
        self.cluster.custom.patch_namespaced_custom_object(*KIND, self.cluster.namespace, "sequentialjobs", "sample", body)

    def body(self) -> Any:  # noqa: ANN401  (JSON)
        return self.cluster.custom.get_namespaced_custom_object(*KIND, self.cluster.namespace, "sequentialjobs", "sample")

    def steps(self) -> list[str]:
        """The steps that have a Job, by name."""
        jobs: list[Any] = self.batch.list_namespaced_job(self.cluster.namespace).items
        return sorted(job.metadata.labels["staleproof.dev/step"] for job in jobs)

    def job(self, step: str) -> Any:  # noqa: ANN401  (a V1Job)
        selector = f"staleproof.dev/step={step}"
        (job,) = self.batch.list_namespaced_job(self.cluster.namespace, label_selector=selector).items
        return job

    def end(self, step: str, *, well: bool = True) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        kinds = ("SuccessCriteriaMet", "Complete") if well else ("FailureTarget", "Failed")
        said = {"status": "True", "lastTransitionTime": now, "lastProbeTime": now, "reason": "Test", "message": "as the test wants"}
        status: dict[str, Any] = {"startTime": now, "conditions": [{"type": kind, **said} for kind in kinds]}
        status |= {"succeeded": 1, "completionTime": now} if well else {"failed": 1}
        name = self.job(step).metadata.name
        self.batch.patch_namespaced_job_status(name, self.cluster.namespace, {"status": status})

    def told(self, *, completed: int, active: str = "", complete: str = "False", failed: str = "False") -> bool:
        body = self.body()
        status, generation = body.get("status", {}), body["metadata"]["generation"]
        conditions = {each["type"]: (each["status"], each["observedGeneration"]) for each in status.get("conditions", ())}
        return (status.get("completedSteps"), status.get("activeStep"), status.get("observedGeneration")) == (
            completed,
            active,
            generation,
        ) and conditions == {"Complete": (complete, generation), "Failed": (failed, generation)}

    async def until(self, condition: Callable[[], bool]) -> None:
        try:
            await until(condition, every_seconds=0.05)
        except AssertionError as err:
            log = self.cluster.log.read_text()
            raise AssertionError(f"{self.body().get('status')}, Jobs {self.steps()}; the controller wrote:\n{log}") from err

    async def runs(self, step: str, *, completed: int) -> None:
        await self.until(lambda: self.told(completed=completed, active=step))


@pytest_asyncio.fixture(loop_scope="module")
async def sequence(cluster: Cluster, controller: str) -> AsyncIterator[Sequence]:
    """The sample, on which the controller works."""
    async with cluster.running(*fixture("sequential_job", controller, "--namespace", cluster.namespace)):
        made = Sequence(cluster, cluster.core.api_client)
        made.apply()
        yield made


@pytest.mark.parametrize("controller", SEQUENCES)
async def test_steps_run_one_after_the_other(cluster: Cluster, sequence: Sequence) -> None:
    for number, step in enumerate(("fetch", "build", "publish")):
        await sequence.runs(step, completed=number)
        assert len(sequence.steps()) == number + 1
        sequence.end(step)
    await sequence.until(lambda: sequence.told(completed=3, complete="True"))
    cluster.custom.delete_namespaced_custom_object(*KIND, cluster.namespace, "sequentialjobs", "sample")
    await sequence.until(lambda: not sequence.steps() and not sequence_exists(sequence))


def sequence_exists(sequence: Sequence) -> bool:
    try:
        sequence.body()
    except ApiException as error:
        if error.status == 404:
            return False
        raise
    return True


@pytest.mark.parametrize("controller", SEQUENCES)
async def test_a_failed_step_ends_the_sequence_and_is_reported(sequence: Sequence) -> None:
    await sequence.runs("fetch", completed=0)
    sequence.end("fetch")
    await sequence.runs("build", completed=1)
    sequence.end("build", well=False)
    await sequence.until(lambda: sequence.told(completed=1, failed="True"))
    assert sequence.steps() == ["build", "fetch"]
    (failed,) = [each for each in sequence.body()["status"]["conditions"] if each["type"] == "Failed"]
    assert failed["message"].startswith("step build: Job sample-build-")
    assert failed["message"].endswith("failed: as the test wants")


@pytest.mark.parametrize("controller", ["correct"])
async def test_a_changed_step_and_all_later_ones_run_again(sequence: Sequence) -> None:
    """The steps before it stay as they are; the Jobs of the earlier spec are deleted."""
    await sequence.runs("fetch", completed=0)
    sequence.end("fetch")
    await sequence.runs("build", completed=1)
    fetch, build = sequence.job("fetch").metadata, sequence.job("build").metadata
    steps = sequence.body()["spec"]["steps"]
    steps[1]["backoffLimit"] = 2
    sequence.patch({"spec": {"steps": steps}})
    await sequence.until(lambda: sequence.told(completed=1, active="build") and sequence.steps() != [])
    assert sequence.job("fetch").metadata.uid == fetch.uid
    assert sequence.job("build").metadata.uid != build.uid
    assert sequence.job("build").spec.backoff_limit == 2
