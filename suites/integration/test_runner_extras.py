"""What the runner does besides steps and faults, on real controllers: it starts one afresh, lets a child's heart beat, releases the
leases of a dead life, and reads metrics.

One environment serves the whole file. Pods of other trials are in other namespaces.
"""

import asyncio
import dataclasses
import itertools
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import reports_skips
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Asked, Committed, Delivered, Entry, Exited, Metrics, Released, Settled, Started, Stopped
from staleproof.core.fault import AnyFault, HideOwnWrite, Kill, OwnWrite, Restart, Window
from staleproof.core.history import History, decode, is_work
from staleproof.core.pace import lasted
from staleproof.core.plan import TOUCHED, Apply, Heartbeat, Manifest, Patch, Plan, Rest, Step, Subject, Target, Touch, encode
from staleproof.drive.cluster.control_plane import KUBERNETES_VERSION, Silent
from staleproof.drive.cluster.control_plane.build import ensure_built
from staleproof.drive.cluster.truth import Key
from staleproof.drive.trial.environment import Environment, EnvironmentOptions, environment
from staleproof.drive.trial.run import TrialSpec, run_trial
from staleproof.errors import SetupError, UsageError

from .conftest import MANIFESTS, WIDGETS, Run, fixture_controller

WIDGET: Manifest = yaml.safe_load((MANIFESTS / "widget-sample.yaml").read_text())
REPLICA_SET: Manifest = yaml.safe_load((MANIFESTS / "replicaset-sample.yaml").read_text())
URL = "http://127.0.0.1:{metrics_port}/metrics"
LEASE_SECONDS = 15.0
"""As kube-controller-manager holds its Lease."""
LIMIT_SECONDS = 60.0
START_SECONDS = 15.0
"""Enough for a watch on a busy machine."""
KCM = (
    "--kubeconfig={kubeconfig} --controllers=replicaset-controller --use-service-account-credentials=false --kube-api-qps=1000 "
    "--kube-api-burst=2000 --bind-address=127.0.0.1"
)
OVER_TLS = (
    "--secure-port={metrics_port} --authentication-kubeconfig={kubeconfig} --authorization-kubeconfig={kubeconfig} "
    "--leader-elect=false"
)


def target(manifest: Manifest) -> Target:
    return Target(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"])


def missing(live: Mapping[Key, Any]) -> str:
    """What both samples want."""
    pods = sum(resource == "pods" for resource, _, _ in live)
    return "" if pods == 3 else f"{pods} pods of 3"


class Stage:
    def __init__(self, runner: asyncio.Runner, made: Environment, folder: Path) -> None:
        self._runner, self.environment, self._folder = runner, made, folder

    def use(self, subject: Subject, *, metrics: str = "", release_leases: bool = True) -> None:
        self._runner.run(self.environment.use(subject, metrics=metrics))
        self.environment.options = dataclasses.replace(self.environment.options, release_leases=release_leases)

    def run(self, *steps: Step, faults: tuple[AnyFault, ...] = (), fresh: bool = False) -> History:
        plan = Plan(scenario="extras", steps=steps, faults=faults, fresh=fresh)
        return self.play(plan, converged=missing, deadline_seconds=LIMIT_SECONDS)

    def play(self, plan: Plan, **waits: Any) -> History:  # noqa: ANN401  # as TrialSpec has them
        folder = self._folder / str(len(list(self._folder.iterdir())))
        return self._runner.run(run_trial(TrialSpec(plan=plan, folder=folder, **waits), self.environment))

    @contextmanager
    def seeing(self) -> Iterator[list[Entry]]:
        """Entries of all namespaces."""
        seen: list[Entry] = []
        self.environment.bus.listeners.append(seen.append)
        yield seen
        self.environment.bus.listeners.remove(seen.append)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("extras")
    crd = list(yaml.safe_load_all((MANIFESTS / "widget-crd.yaml").read_text()))
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        made = runner.run(
            stack.enter_async_context(
                environment(EnvironmentOptions(subject=fixture(), manifests=crd), folder / "environment", Silent())
            )
        )
        (folder / "trials").mkdir()
        try:
            yield Stage(runner, made, folder / "trials")
        finally:
            runner.run(stack.aclose())


def fixture(name: str = "consistency_store", package: str = "correct", **env: str) -> Subject:
    return Subject(command=(sys.executable, "-m", f"staleproof.fixtures.controllers.{package}", name), env=env)


def kube_controller_manager(flags: str) -> Subject:
    folder = asyncio.run(ensure_built(KUBERNETES_VERSION, Silent()))
    return Subject(command=(str(folder / "kube-controller-manager"), *KCM.split(), *flags.split()))


def of(entries: History | list[Entry], *kinds: type[Entry]) -> list[Any]:
    return [entry for entry in getattr(entries, "entries", entries) if isinstance(entry, kinds)]


# --- a fresh life ----------------------------------------------------------------------------------------------------------------


def test_a_fresh_plan_starts_the_controller_afresh(stage: Stage) -> None:
    stage.use(fixture())
    lives = []
    with stage.seeing() as seen:
        for fresh in (True, False, True, True, False):
            history = stage.run(Apply(object=WIDGET), fresh=fresh)
            (started,) = of(history, Started)
            assert [entry.ok for entry in of(history, Settled)] == [True]
            lives.append(started.life - (lives[0] if lives else 0))
    assert lives[1:] == [0, 1, 2, 2], "the first trial starts it anyway"
    assert not of(seen, Exited), "it was told to"


# --- the time to converge -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("may_need", "ok", "at_least"),
    [([0.0], False, 1.0), ([4.0], True, 2.0), ([1.5, 4.0], True, 2.0), ([1.5, 3.5, 0.0], False, 4.0), ([1e3], False, 1.0)],
    ids=["it had its time", "it may need longer", "and longer still", "and has had that, too", "longer than anybody waits"],
)
def test_a_controller_that_may_need_longer_gets_the_time(*, may_need: list[float], ok: bool, at_least: float, stage: Stage) -> None:
    """Converged is what the test says: two seconds after it was asked for the first time, or never."""
    stage.use(fixture())
    told, asked = list(may_need), list[float]()

    def converged(_: Mapping[Key, Any]) -> str:
        asked.append(time.monotonic())
        return "" if ok and asked[-1] > asked[0] + 2.0 else "not yet"

    def needs(history: History) -> float:
        assert of(history, Released)
        return told.pop(0) if len(told) > 1 else told[0]

    plan = Plan(scenario="extras", steps=(Apply(object=WIDGET), Touch(target=target(WIDGET))))
    history = stage.play(plan, converged=converged, deadline_seconds=1.0, may_need=needs)
    (released,), (settled,) = of(history, Released), of(history, Settled)
    assert settled.ok == ok
    assert at_least <= settled.at - released.at < LIMIT_SECONDS
    assert ok or settled.why.endswith(" s: not yet")


def test_phases_last_as_long_as_the_run_asks(stage: Stage) -> None:
    stage.use(fixture())
    plan = Plan(scenario="extras", steps=(Apply(object=WIDGET), Touch(target=target(WIDGET))))
    took = lasted(stage.play(plan, lasts=(2.0, 0.0, 1.5)))
    assert took[0] >= 2.0
    assert took[2] >= 1.5


# --- a heartbeat -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nth", [1, 2, -1])
def test_a_heartbeat_changes_a_child_and_is_shown(stage: Stage, nth: int) -> None:
    stage.use(fixture())
    history = stage.run(Apply(object=WIDGET), Heartbeat(resource="pods", nth=nth))
    names = sorted(entry.name for entry in of(history, Committed) if (entry.resource, entry.type) == ("pods", "ADDED"))
    (beat,) = [entry for entry in of(history, Committed) if TOUCHED in entry.object["metadata"].get("annotations", {})]
    assert (beat.resource, beat.type, beat.name) == ("pods", "MODIFIED", names[nth - 1 if nth > 0 else nth])
    assert [entry.type for entry in of(history, Delivered) if (entry.name, entry.revision) == (beat.name, beat.revision)]


@pytest.mark.parametrize("step", [Heartbeat(resource="pods", nth=4), Heartbeat(resource="pods", nth=-4)])
def test_a_heartbeat_of_a_missing_child_is_the_plans_fault(stage: Stage, step: Heartbeat) -> None:
    stage.use(fixture())
    with pytest.raises(UsageError, match=f"heartbeat pods number {step.nth}: there are 3 such children"):
        stage.run(Apply(object=WIDGET), step)


# --- leases ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", [False, True], ids=["left held", "released"])
def test_a_leader_that_was_killed_works_again_without_waiting_for_its_own_lease(stage: Stage, release: bool) -> None:  # noqa: FBT001
    fault = Kill(resource="pods", verb="create", nth=2)
    stage.use(kube_controller_manager("--leader-elect=true --secure-port=0"), release_leases=release)
    with stage.seeing() as seen:
        history = stage.run(Apply(object=REPLICA_SET), faults=(fault,))
    assert [entry.ok for entry in of(history, Settled)] == [True]
    (stopped,) = of(history, Stopped)
    second = of(history, Started)[-1].at  # what the first had sent may still arrive when it is dead
    again = min(entry.at for entry in of(history, Asked) if entry.at > second and is_work(entry))
    leases = [entry.object["spec"] for entry in of(seen, Committed) if entry.name == "kube-controller-manager"]
    holders = [holder for holder, _ in itertools.groupby(lease.get("holderIdentity", "") for lease in leases)]
    named = [holder for holder in holders if holder]
    assert len(set(named)) == len(named) == 2, "each life has an identity of its own, and the first held the lease"
    assert holders[holders.index(named[0]) :] == ([named[0], "", named[1]] if release else named)
    assert (again - stopped.at < LEASE_SECONDS) is release


# --- metrics ---------------------------------------------------------------------------------------------------------------------


def looked_at(stage: Stage, sample: Manifest = WIDGET) -> tuple[History, Verdict]:
    """Its own pods are hidden for a while, in which it is made to look again; later it is touched in peace."""
    hidden = HideOwnWrite(resource="pods", write=OwnWrite("create"), window=Window(until_step=4))
    touch = Touch(target=target(sample))
    steps = (Apply(object=sample), touch, Rest(seconds=1.5), Rest(seconds=0.5), touch, touch)
    history = stage.run(*steps, faults=(hidden,))
    return history, verdict_of(reports_skips.REQUIREMENT, Trial(history))


def test_a_correct_controller_reports_its_skips(stage: Stage) -> None:
    stage.use(fixture(METRICS_PORT="{metrics_port}"), metrics=URL)
    history, verdict = looked_at(stage)
    assert verdict.outcome is Outcome.PASS, verdict
    readings = of(history, Metrics)
    assert len(readings) >= 1 + 6 + 2 + 1, "at the start, for each step, released and settled, and while pods were hidden"
    assert all(reading.took < LIMIT_SECONDS for reading in readings)
    assert {sample.labels["resource"] for reading in readings for sample in reading.samples} == {"pods", "configmaps", "widgets"}


@pytest.mark.parametrize("mutant", ["counts_every_sync", "reports_version_ahead"])
def test_a_controller_that_reports_wrongly_is_found(stage: Stage, mutant: str) -> None:
    stage.use(fixture(mutant, "mutants", METRICS_PORT="{metrics_port}"), metrics=URL)
    _, verdict = looked_at(stage)
    assert verdict.outcome is Outcome.FAIL, verdict


def test_metrics_are_not_read_unless_asked_for(stage: Stage) -> None:
    stage.use(fixture(METRICS_PORT="{metrics_port}"))
    history, verdict = looked_at(stage)
    assert not of(history, Metrics)
    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, "the controller's metrics were not read")


def test_metrics_of_kube_controller_manager_are_read_over_tls_with_its_token(stage: Stage) -> None:
    stage.use(kube_controller_manager(OVER_TLS), metrics="https://127.0.0.1:{metrics_port}/metrics")
    history, verdict = looked_at(stage, REPLICA_SET)
    assert verdict.outcome is Outcome.PASS, verdict
    assert of(history, Metrics)


def test_metrics_of_every_life_are_read(stage: Stage) -> None:
    stage.use(fixture(METRICS_PORT="{metrics_port}"), metrics=URL)
    steps = (Apply(object=WIDGET), Touch(target=target(WIDGET)), Patch(target=target(WIDGET), patch={"spec": {"content": "new"}}))
    history = stage.run(*steps, faults=(Restart(window=Window(from_step=2), gently=False),))
    (stopped,), (_, started) = of(history, Stopped), of(history, Started)
    readings = [entry.at for entry in of(history, Metrics)]
    assert not [at for at in readings if stopped.at < at < started.at]
    assert [at for at in readings if at < stopped.at]
    assert [at for at in readings if at > started.at]


def test_a_silent_metrics_url_is_reported_at_the_start(stage: Stage) -> None:
    stage.use(fixture(), metrics=URL)
    before = stage.environment.options
    stage.environment.options = dataclasses.replace(before, start_seconds=START_SECONDS)
    with pytest.raises(SetupError) as told:
        stage.run(Apply(object=WIDGET))
    stage.environment.options = before
    url = f"http://127.0.0.1:{stage.environment.metrics_port}/metrics"
    assert str(told.value).startswith(f"--controller-metrics: no metrics at {url} within {START_SECONDS:g} s: Cannot connect")
    assert "{metrics_port} stands for a free port" in str(told.value)
    assert "Command: " in str(told.value)


def test_an_invalid_metrics_url_is_reported_before_anything_starts(stage: Stage) -> None:
    stage.use(fixture(), metrics="127.0.0.1:8085")
    with pytest.raises(UsageError, match=r"--controller-metrics: expected a URL as http://127.0.0.1:.*, found '127.0.0.1:8085'"):
        stage.run(Apply(object=WIDGET))


# --- through the doors -----------------------------------------------------------------------------------------------------------

OWN_TEST = """
    from staleproof.core.entry import Metrics
    from staleproof.core.plan import Apply, Plan

    def test_mine(trial, staleproof_session, controller_samples):
        result = trial(Plan(scenario="mine", steps=(Apply(object=controller_samples[0]),)))
        assert [entry for entry in result.history.entries if isinstance(entry, Metrics)]

        async def releases(environment):
            return environment.options.release_leases

        assert staleproof_session.call(releases) is False
"""
COMMAND = f"--controller-cmd={fixture_controller('correct')} consistency_store --metrics-port={{metrics_port}}"
READ = f"--controller-metrics={URL}"


def test_the_plugins_options_reach_the_runner(suite: Run, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(textwrap.dedent(OWN_TEST))
    done = suite(COMMAND, READ, "--staleproof-release-leases=no", *WIDGETS, "test_mine.py", folder=tmp_path)
    assert "1 passed" in done.output, done.output


def test_the_commands_options_reach_the_runner(staleproof: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(encode(Plan(scenario="mine", steps=(Apply(object=WIDGET),))))
    crds = f"--crds={MANIFESTS / 'widget-crd.yaml'}"
    done = staleproof("run", "plan.json", COMMAND, READ, "--release-leases=no", crds, folder=tmp_path)
    history = decode((done.run_folder / "trials" / "001" / "history.jsonl").read_bytes())
    assert of(history, Metrics), done.output
