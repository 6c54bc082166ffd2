"""The fixture controllers do their work on a real control plane when nothing is wrong, and then fall silent.

What they do when their cache lags is not asked here: that is what the mutants are for. The complete ones, honest and mutant, all
take the same walk, side by side, each in a namespace of its own.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client
from kubernetes.client.exceptions import ApiException

# The leaf under test; mypy does not follow the mapping of folders.
from staleproof.fixtures.controllers.correct import CORRECT  # type: ignore[import-not-found]  # noqa: TID251
from staleproof.fixtures.controllers.mutants import MUTANTS  # type: ignore[import-not-found]  # noqa: TID251

from .widget_stage import KIND, LIMIT_SECONDS, MANIFESTS, Cluster, Walk, api_client, fixture
from .widget_stage import cluster as cluster
from .widget_stage import kubeconfigs as kubeconfigs

SMALL = ("naive", "expectations", "deterministic", "no_preconditions")
SEQUENCES = ("correct", "naive")
AT_A_TIME = 8


@pytest.mark.parametrize("controller", SMALL)
def test_there_are_as_many_pods_as_wanted_and_the_status_says_so(cluster: Cluster, controller: str) -> None:
    async def body() -> None:
        async with cluster.running(*fixture(controller)):
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


@pytest.mark.parametrize("controller", SMALL)
def test_nothing_is_written_when_nothing_changed(cluster: Cluster, controller: str) -> None:
    """Neither for a Widget that was touched, nor after everything was listed again by a new process."""

    async def body() -> None:
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

    asyncio.run(body())


async def looked_at(cluster: Cluster, later: str) -> None:
    """The controller has one worker: once a Widget made later is done, everything known before has been looked at."""
    cluster.apply_sample(name=later, replicas=1)
    await cluster.settled(1, name=later)


@pytest.mark.parametrize("controller", SMALL)
def test_pods_of_a_deleted_widget_are_left_to_the_garbage_collector(cluster: Cluster, controller: str) -> None:
    async def body() -> None:
        async with cluster.running(*fixture(controller)):
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


@pytest.mark.parametrize("controller", SMALL)
def test_a_pod_being_deleted_does_not_count(cluster: Cluster, controller: str) -> None:
    """Names that are chosen cannot be had twice: there the place stays empty until the pod has gone."""

    async def body() -> None:
        async with cluster.running(*fixture(controller)):
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
def test_a_foreign_pod_is_not_adopted(cluster: Cluster, controller: str) -> None:
    async def body() -> None:
        cluster.core.create_namespaced_pod(
            cluster.namespace,
            client.V1Pod(
                metadata=client.V1ObjectMeta(name="sample-1"),
                spec=client.V1PodSpec(containers=[client.V1Container(name="main", image="registry.k8s.io/pause:3.10")]),
            ),
        )
        async with cluster.running(*fixture(controller)):
            cluster.apply_sample()
            await cluster.until(lambda: "409 Conflict" in cluster.log.read_text())
            assert [pod.metadata.name for pod in cluster.pods()] == ["sample-0"]
            cluster.core.delete_namespaced_pod("sample-1", cluster.namespace)
            await cluster.settled(3)

    asyncio.run(body())


@pytest.mark.parametrize("controller", SMALL)
def test_a_pod_taken_away_is_replaced(cluster: Cluster, controller: str) -> None:
    async def body() -> None:
        async with cluster.running(*fixture(controller)):
            cluster.apply_sample()
            await cluster.settled(3)
            gone = cluster.pods()[0].metadata
            cluster.core.delete_namespaced_pod(gone.name, cluster.namespace)
            await cluster.until(lambda: len(cluster.pods()) == 3)
            await cluster.settled(3)
            assert gone.uid not in [pod.metadata.uid for pod in cluster.pods()]

    asyncio.run(body())


Walks = dict[tuple[str, str], BaseException | None]
_SLEEPS_WHEN_BEHIND = {"oversleeps"}
"""On a busy machine a cache is behind without any fault, too."""
COMPLETE = [
    *(("correct", name) for name in CORRECT),
    *(("mutants", name) for name in MUTANTS if name not in _SLEEPS_WHEN_BEHIND),
]


@pytest.fixture(scope="module")
def walks(kubeconfigs: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Walks:
    """How the walk of every complete controller ended. Several are on their way at a time: most of it is waiting."""
    ours, theirs = kubeconfigs

    async def one(package: str, name: str, turn: asyncio.Semaphore) -> None:
        async with turn:
            with api_client(ours) as api:
                await Walk(Cluster(api, theirs, tmp_path_factory.mktemp(name)), *fixture(package, name)).take()

    async def every() -> list[BaseException | None]:
        turn = asyncio.Semaphore(AT_A_TIME)
        return await asyncio.gather(*(one(package, name, turn) for package, name in COMPLETE), return_exceptions=True)

    return dict(zip(COMPLETE, asyncio.run(every()), strict=True))


@pytest.mark.parametrize(("package", "name"), COMPLETE)
def test_a_complete_controller_does_its_work_and_falls_silent(walks: Walks, package: str, name: str) -> None:
    if (failure := walks[package, name]) is not None:
        raise failure


class Sequence:
    """What a test asks of a SequentialJob and its Jobs. It finishes them itself: nothing here runs pods."""

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
        """Of the Jobs that there are, by name."""
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
            async with asyncio.timeout(LIMIT_SECONDS):
                while not condition():
                    await asyncio.sleep(0.02)
        except TimeoutError:
            pytest.fail(f"{self.body().get('status')}, Jobs {self.steps()}; the controller wrote:\n{self.cluster.log.read_text()}")

    async def runs(self, step: str, *, completed: int) -> None:
        await self.until(lambda: self.told(completed=completed, active=step))


@pytest.fixture
def sequence(cluster: Cluster) -> Sequence:
    return Sequence(cluster, cluster.core.api_client)


@pytest.mark.parametrize("controller", SEQUENCES)
def test_steps_run_one_after_the_other(cluster: Cluster, sequence: Sequence, controller: str) -> None:
    async def body() -> None:
        async with cluster.running(*fixture("sequential_job", controller, "--namespace", cluster.namespace)):
            sequence.apply()
            for number, step in enumerate(("fetch", "build", "publish")):
                await sequence.runs(step, completed=number)
                assert len(sequence.steps()) == number + 1
                sequence.end(step)
            await sequence.until(lambda: sequence.told(completed=3, complete="True"))
            cluster.custom.delete_namespaced_custom_object(*KIND, cluster.namespace, "sequentialjobs", "sample")
            await sequence.until(lambda: not sequence.steps() and not sequence_exists(sequence))

    asyncio.run(body())


def sequence_exists(sequence: Sequence) -> bool:
    try:
        sequence.body()
    except ApiException as error:
        if error.status == 404:
            return False
        raise
    return True


@pytest.mark.parametrize("controller", SEQUENCES)
def test_a_failed_step_ends_the_sequence_and_is_reported(cluster: Cluster, sequence: Sequence, controller: str) -> None:
    async def body() -> None:
        async with cluster.running(*fixture("sequential_job", controller, "--namespace", cluster.namespace)):
            sequence.apply()
            await sequence.runs("fetch", completed=0)
            sequence.end("fetch")
            await sequence.runs("build", completed=1)
            sequence.end("build", well=False)
            await sequence.until(lambda: sequence.told(completed=1, failed="True"))
            assert sequence.steps() == ["build", "fetch"]
            (failed,) = [each for each in sequence.body()["status"]["conditions"] if each["type"] == "Failed"]
            assert failed["message"].startswith("step build: Job sample-build-")
            assert failed["message"].endswith("failed: as the test wants")

    asyncio.run(body())


def test_a_changed_step_and_all_later_ones_run_again(cluster: Cluster, sequence: Sequence) -> None:
    """What came before it stays as it is; what ran for the earlier spec is deleted."""

    async def body() -> None:
        async with cluster.running(*fixture("sequential_job", "correct", "--namespace", cluster.namespace)):
            sequence.apply()
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

    asyncio.run(body())
