"""The fixture controllers do their work on a real control plane when nothing is wrong, and then fall silent, as far as they can.

What they do when their cache lags is tested with the mutants. The complete controllers, honest and mutant, all take the same walk,
side by side, each in a namespace of its own.
"""

import asyncio
import traceback
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

# The leaf under test.
from staleproof.fixtures.controllers.correct import CORRECT  # noqa: TID251
from staleproof.fixtures.controllers.habits import HABITS  # noqa: TID251
from staleproof.fixtures.controllers.mutants import MUTANTS  # noqa: TID251
from staleproof.fixtures.controllers.sleepless import SLEEPLESS  # noqa: TID251

from staleproof.drive.cluster.api import JSON, Api

from .widget_stage import PODS, WIDGETS, ControllerStage, Seen, fixture, walk
from .widget_stage import kubeconfig as kubeconfig
from .widget_stage import stage as stage

SMALL = ("naive", "expectations", "deterministic", "no_preconditions")
SEQUENTIAL = ("correct", "naive")
SEQUENCES, JOBS = "sequentialjobs.staleproof.dev", "jobs.batch"
AT_A_TIME = 8


@pytest_asyncio.fixture(loop_scope="module")
async def busy(stage: ControllerStage, controller: str) -> AsyncIterator[ControllerStage]:
    """The stage, where the controller has made three pods for the sample."""
    async with stage.running(*fixture(controller)):
        await stage.create_sample()
        await stage.settled(3)
        yield stage


@pytest.mark.parametrize("controller", SMALL)
async def test_there_are_as_many_pods_as_wanted_and_the_status_says_so(busy: ControllerStage) -> None:
    for replicas in (5, 1, 0, 2):
        await busy.change_spec(replicas=replicas)
        seen = await busy.settled(replicas)
    for pod in seen.pods():
        (owner,) = pod["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"], owner["blockOwnerDeletion"]) == ("Widget", "sample", True, True)
        assert pod["metadata"]["labels"] == {"app": "sample"}


@pytest.mark.parametrize("controller", SMALL)
async def test_nothing_is_written_when_nothing_changed(stage: ControllerStage, controller: str) -> None:
    """Neither for a touched Widget, nor after a new process has listed everything again."""
    await stage.create_sample()
    async with stage.running(*fixture(controller)):
        await stage.settled(3)
        await stage.change("sample", WIDGETS, metadata={"annotations": {"touched": "yes"}})
        before = (await stage.look()).revisions()
        assert (await looked_at(stage, "after-touch")).revisions() == before
    async with stage.running(*fixture(controller)):
        assert (await looked_at(stage, "after-restart")).revisions() == before


async def looked_at(stage: ControllerStage, later: str) -> Seen:
    """The controller has one worker: once a Widget made later is done, everything known before has been looked at."""
    await stage.create_sample(name=later, replicas=1)
    return await stage.settled(1, name=later)


@pytest.mark.parametrize("controller", SMALL)
async def test_pods_of_a_deleted_widget_are_left_to_the_garbage_collector(busy: ControllerStage) -> None:
    before = (await busy.look()).revisions()
    sample = (await busy.kind(WIDGETS)).path(busy.namespace, "sample")
    await busy.api.call("DELETE", sample, {"propagationPolicy": "Foreground"})
    seen = await looked_at(busy, "later")
    after = seen.revisions()
    assert "deletionTimestamp" in seen.widget()["metadata"]
    assert after == before | {"": after[""]}


@pytest.mark.parametrize("controller", SMALL)
async def test_a_pod_being_deleted_does_not_count(busy: ControllerStage, controller: str) -> None:
    """A controller that chooses the names cannot use one twice: its pod's place stays empty until the old pod has gone."""
    going = (await busy.look()).live_pods()[-1]
    name = going["metadata"]["name"]
    await busy.change(name, PODS, metadata={"finalizers": ["staleproof.dev/hold"]})
    await busy.delete(name, PODS)
    seen = await busy.settled(2 if controller in ("deterministic", "no_preconditions") else 3)
    assert seen.has(going)
    await busy.change(name, PODS, metadata={"finalizers": None})
    await busy.until(lambda seen: not seen.has(going))
    await busy.settled(3)


@pytest.mark.parametrize("controller", ["deterministic", "no_preconditions"])
async def test_a_foreign_pod_is_not_adopted(stage: ControllerStage, controller: str) -> None:
    await stage.create("sample-1", PODS, spec={"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]})
    async with stage.running(*fixture(controller)):
        await stage.create_sample()
        seen = await stage.until(lambda seen: "sample: 409 " in stage.log.read_text())
        assert [pod["metadata"]["name"] for pod in seen.pods()] == ["sample-0"]
        await stage.delete("sample-1", PODS)
        await stage.settled(3)


@pytest.mark.parametrize("controller", SMALL)
async def test_a_pod_taken_away_is_replaced(busy: ControllerStage) -> None:
    gone = (await busy.look()).pods()[0]
    await busy.delete(gone["metadata"]["name"], PODS)
    await busy.until(lambda seen: len(seen.pods()) == 3)
    assert not (await busy.settled(3)).has(gone)


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
async def walks(api: Api, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Walks:
    """How the walk of every complete controller ended. Several walk at a time, because most of a walk is waiting."""

    async def one(package: str, name: str, turn: asyncio.Semaphore) -> None:
        async with turn:
            stage = await ControllerStage(api, kubeconfig, tmp_path_factory.mktemp(name)).begin()
            await walk(stage, *fixture(package, name), falls_silent=name not in _GOES_ON_WRITING)

    turn = asyncio.Semaphore(AT_A_TIME)
    ends = await asyncio.gather(*(one(package, name, turn) for package, name in COMPLETE), return_exceptions=True)
    return dict(zip(COMPLETE, ends, strict=True))


@pytest.mark.live
@pytest.mark.parametrize(("package", "name"), COMPLETE)
def test_a_complete_controller_does_its_work_and_falls_silent(walks: Walks, package: str, name: str) -> None:
    failure = walks[package, name]
    assert failure is None, "".join(traceback.format_exception(failure))


class Sequence(ControllerStage):
    """A stage for a SequentialJob and its Jobs. The test finishes the Jobs itself: nothing here runs pods."""

    resources = (SEQUENCES, JOBS)

    async def end(self, job: JSON, *, well: bool = True) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        kinds = ("SuccessCriteriaMet", "Complete") if well else ("FailureTarget", "Failed")
        said = {"status": "True", "lastTransitionTime": now, "lastProbeTime": now, "reason": "Test", "message": "as the test wants"}
        status: JSON = {"startTime": now, "conditions": [{"type": kind, **said} for kind in kinds]}
        status |= {"succeeded": 1, "completionTime": now} if well else {"failed": 1}
        kind, name = await self.kind(JOBS), job["metadata"]["name"]
        await self.api.merge(kind, self.namespace, name, {"status": status}, subresource="status")

    async def runs(self, step: str, *, completed: int) -> dict[str, JSON]:
        """The Jobs, once this step is the one that runs."""
        return jobs(await self.until(lambda seen: status_says(seen, completed=completed, active=step)))


def jobs(seen: Seen) -> dict[str, JSON]:
    """By the names of their steps, of which each has one."""
    found = {job["metadata"]["labels"]["staleproof.dev/step"]: job for job in seen[JOBS]}
    assert len(found) == len(seen[JOBS])
    return found


def status_says(seen: Seen, *, completed: int, active: str = "", complete: str = "False", failed: str = "False") -> bool:
    (sample,) = seen[SEQUENCES]
    status, generation = sample.get("status", {}), sample["metadata"]["generation"]
    conditions = {each["type"]: (each["status"], each["observedGeneration"]) for each in status.get("conditions", ())}
    return (status.get("completedSteps"), status.get("activeStep"), status.get("observedGeneration")) == (
        completed,
        active,
        generation,
    ) and conditions == {"Complete": (complete, generation), "Failed": (failed, generation)}


@pytest_asyncio.fixture(loop_scope="module")
async def sequence(api: Api, kubeconfig: Path, tmp_path: Path, controller: str) -> AsyncIterator[Sequence]:
    """The sample, on which the controller works."""
    made = await Sequence(api, kubeconfig, tmp_path).begin()
    async with made.running(*fixture("sequential_job", controller, "--namespace", made.namespace)):
        await made.create_sample("sequentialjob-sample.yaml")
        yield made


@pytest.mark.parametrize("controller", SEQUENTIAL)
async def test_steps_run_one_after_the_other(sequence: Sequence) -> None:
    for number, step in enumerate(("fetch", "build", "publish")):
        found = await sequence.runs(step, completed=number)
        assert len(found) == number + 1
        await sequence.end(found[step])
    await sequence.until(lambda seen: status_says(seen, completed=3, complete="True"))
    await sequence.delete("sample", SEQUENCES)
    await sequence.until(lambda seen: not any(seen.values()))


@pytest.mark.parametrize("controller", SEQUENTIAL)
async def test_a_failed_step_ends_the_sequence_and_is_reported(sequence: Sequence) -> None:
    await sequence.end((await sequence.runs("fetch", completed=0))["fetch"])
    await sequence.end((await sequence.runs("build", completed=1))["build"], well=False)
    seen = await sequence.until(lambda seen: status_says(seen, completed=1, failed="True"))
    assert sorted(jobs(seen)) == ["build", "fetch"]
    (failed,) = [each for each in seen[SEQUENCES][0]["status"]["conditions"] if each["type"] == "Failed"]
    assert failed["message"].startswith("step build: Job sample-build-")
    assert failed["message"].endswith("failed: as the test wants")


@pytest.mark.parametrize("controller", ["correct"])
async def test_a_changed_step_and_all_later_ones_run_again(sequence: Sequence) -> None:
    """The steps before it stay as they are; the Jobs of the earlier spec are deleted."""
    await sequence.end((await sequence.runs("fetch", completed=0))["fetch"])
    before = await sequence.runs("build", completed=1)
    steps = (await sequence.look())[SEQUENCES][0]["spec"]["steps"]
    steps[1]["backoffLimit"] = 2
    await sequence.change_spec(steps=steps)
    after = jobs(await sequence.until(lambda seen: status_says(seen, completed=1, active="build") and seen[JOBS] != []))
    assert after["fetch"]["metadata"]["uid"] == before["fetch"]["metadata"]["uid"]
    assert after["build"]["metadata"]["uid"] != before["build"]["metadata"]["uid"]
    assert after["build"]["spec"]["backoffLimit"] == 2
