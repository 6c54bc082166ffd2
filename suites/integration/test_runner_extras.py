"""What the runner does besides steps and faults, on real controllers: it starts one afresh, waits as long as it may need, lets a
child's heart beat, releases the leases of a dead life, and reads metrics.
"""

import itertools
import textwrap
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.reports import REPORTS_SKIPS
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.fault import AnyFault, HideOwnWrite, Kill, OwnWrite, Restart, Window
from staleproof.core.history.entry import (
    Asked,
    Broke,
    Committed,
    Delivered,
    Entry,
    Exited,
    Metrics,
    Opened,
    Released,
    Settled,
    Started,
    Stopped,
)
from staleproof.core.history.flatten import flatten
from staleproof.core.history.history import History, decode, is_work
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.pace import lasted
from staleproof.core.plan.plan import Plan, Subject, encode
from staleproof.core.plan.step import Apply, Heartbeat, Patch, Remove, Rest, Step, Touch
from staleproof.drive.cluster.leases import LEASES
from staleproof.drive.cluster.truth import Key
from staleproof.errors import SetupError, UsageError

from .conftest import MANIFESTS, WIDGETS, Run, fixture_controller
from .environments import LIMIT_SECONDS, WIDGET, Player, fixture, of, target

REPLICA_SET: Manifest = yaml.safe_load((MANIFESTS / "replicaset-sample.yaml").read_text())
URL = "http://127.0.0.1:{metrics_port}/metrics"
LEASE_SECONDS = 15.0
"""As kube-controller-manager holds its Lease."""
START_SECONDS = 3.0
KCM = (
    "--kubeconfig={kubeconfig} --controllers=replicaset-controller --use-service-account-credentials=false --kube-api-qps=1000 "
    "--kube-api-burst=2000 --bind-address=127.0.0.1"
)
OVER_TLS = (
    "--secure-port={metrics_port} --authentication-kubeconfig={kubeconfig} --authorization-kubeconfig={kubeconfig} "
    "--leader-elect=false"
)


@pytest_asyncio.fixture(loop_scope="module")
async def player(player: Player) -> Player:
    """With the complete honest controller."""
    await player.use(complete())
    return player


def complete(name: str = "consistency_store", package: str = "correct", **env: str) -> Subject:
    return fixture(package, name, **env)


async def run(player: Player, *steps: Step, faults: tuple[AnyFault, ...] = (), fresh: bool = False) -> History:
    return await player.settle(Plan(scenario="extras", steps=steps, faults=faults, fresh=fresh), pods=3)


def kube_controller_manager(programs: Path, flags: str) -> Subject:
    return Subject(command=(str(programs / "kube-controller-manager"), *KCM.split(), *flags.split()))


# --- a fresh life ----------------------------------------------------------------------------------------------------------------


async def test_a_fresh_plan_starts_the_controller_afresh(player: Player) -> None:
    lives: list[int] = []
    with player.seeing() as seen:
        for fresh in (True, False, True, True, False):
            history = await run(player, Apply(object=WIDGET), fresh=fresh)
            (started,) = of(history, Started)
            assert [entry.ok for entry in of(history, Settled)] == [True]
            lives.append(started.life - (lives[0] if lives else 0))
    assert lives[1:] == [0, 1, 2, 2], "the first trial starts it anyway"
    assert not of(seen, Exited), "it was stopped, and did not exit by itself"


# --- the time to converge -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("may_need", "ok", "at_least"),
    [([0.0], False, 1.0), ([3.0], True, 2.0), ([0.5, 1.5], True, 2.0), ([0.5, 1.0, 0.0], False, 4.0), ([1e3], False, 1.0)],
    ids=["it had its time", "it may need longer", "and longer still", "it has had that, too", "longer than the runner waits"],
)
async def test_a_controller_that_may_need_longer_gets_the_time(
    *, may_need: list[float], ok: bool, at_least: float, player: Player
) -> None:
    """The test says when the trial has converged: two seconds after the first question, or never; and how many seconds more than
    it has had it may need, 0 if it had its time."""
    needed, asked_at = list(may_need), list[float]()

    def converged(_: Mapping[Key, Any]) -> str:
        asked_at.append(time.monotonic())
        return "" if ok and asked_at[-1] > asked_at[0] + 2.0 else "not yet"

    def needs(history: History) -> float:
        assert of(history, Released)
        more = needed.pop(0) if len(needed) > 1 else needed[0]
        return time.monotonic() - of(seen, Released)[0].at + more if more else 0.0

    plan = Plan(scenario="extras", steps=(Apply(object=WIDGET), Touch(target=target(WIDGET))))
    with player.seeing() as seen:
        history = await player.play(plan, converged=converged, deadline_seconds=1.0, may_need=needs)
    (released,), (settled,) = of(history, Released), of(history, Settled)
    assert settled.ok == ok
    assert at_least <= settled.at - released.at < LIMIT_SECONDS
    assert ok or settled.why.endswith(" s: not yet")


async def test_phases_last_as_long_as_the_run_asks(player: Player) -> None:
    plan = Plan(scenario="extras", steps=(Apply(object=WIDGET), Touch(target=target(WIDGET))))
    took = lasted(await player.play(plan, lasts=(2.0, 0.0, 1.5)))
    assert took[0] >= 2.0
    assert took[2] >= 1.5


# --- what is done to a child -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nth", [1, 2, -1])
async def test_a_heartbeat_is_shown_and_changes_nothing_that_counts(player: Player, nth: int) -> None:
    history = await run(player, Apply(object=WIDGET), Heartbeat(resource="pods", nth=nth))
    names = sorted(entry.name for entry in of(history, Committed) if (entry.resource, entry.type) == ("pods", "ADDED"))
    pods = [
        entry for entry in of(history, Committed) if (entry.resource, entry.name) == ("pods", names[nth - 1 if nth > 0 else nth])
    ]
    made, beat = (entry for entry in pods if "deletionTimestamp" not in entry.object["metadata"])
    assert (made.type, beat.type, beat.revision > made.revision) == ("ADDED", "MODIFIED", True)
    assert dict(flatten(made.object, {})) == dict(flatten(beat.object, {}))
    assert [entry.type for entry in of(history, Delivered) if (entry.name, entry.revision) == (beat.name, beat.revision)]


@pytest.mark.parametrize("nth", [1, -1])
async def test_a_child_is_removed_behind_the_controllers_back_and_made_again(player: Player, nth: int) -> None:
    history = await run(player, Apply(object=WIDGET), Remove(resource="pods", nth=nth))
    pods = [entry for entry in of(history, Committed) if entry.resource == "pods"]
    made, gone = ([entry.name for entry in pods if entry.type == kind] for kind in ("ADDED", "DELETED"))
    assert gone == [sorted(made[:3])[nth - 1 if nth > 0 else nth]]
    assert len(made) == 4
    assert not [entry for entry in of(history, Asked) if (entry.verb, entry.resource) == ("delete", "pods")]


@pytest.mark.parametrize(
    "step", [Heartbeat(resource="pods", nth=4), Heartbeat(resource="pods", nth=-4), Remove(resource="pods", nth=4)]
)
async def test_what_is_done_to_a_missing_child_is_reported_and_the_run_goes_on(player: Player, step: Heartbeat | Remove) -> None:
    history = await run(player, Apply(object=WIDGET), step)
    why = f"step 2 ({step.tag} pods number {step.nth}): there are 3 such children"
    assert [(entry.where, entry.why) for entry in of(history, Broke)] == [("workload", why)]
    assert history.complete


# --- leases ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", [False, True], ids=["left held", "released"])
async def test_a_leader_that_was_killed_works_again_without_waiting_for_its_own_lease(
    player: Player, programs: Path, *, release: bool
) -> None:
    fault = Kill(resource="pods", verb="create", nth=2)
    await player.use(kube_controller_manager(programs, "--leader-elect=true --secure-port=0"), release_leases=release)
    with player.seeing() as seen:
        history = await run(player, Apply(object=REPLICA_SET), faults=(fault,))
    assert [entry.ok for entry in of(history, Settled)] == [True]
    (stopped,) = of(seen, Stopped)
    second = of(seen, Started)[-1].at  # what the first had sent may still arrive when it is dead
    requests = [entry for entry in of(seen, Asked) if entry.at > second]
    looked = min(entry.at for entry in requests if entry.resource == LEASES)
    again = min(entry.at for entry in requests if is_work(entry))
    leases = [entry.object["spec"] for entry in of(seen, Committed) if entry.name == "kube-controller-manager"]
    holders = [holder for holder, _ in itertools.groupby(lease.get("holderIdentity", "") for lease in leases)]
    named = [holder for holder in holders if holder]
    assert len(set(named)) == len(named) == 2, "each life has an identity of its own, and the first held the lease"
    assert holders[holders.index(named[0]) :] == ([named[0], "", named[1]] if release else named)
    since = looked if release else stopped.at  # how long the process takes to start is up to the machine
    assert (again - since < LEASE_SECONDS) is release


# --- metrics ---------------------------------------------------------------------------------------------------------------------


async def looked_at(player: Player, sample: Manifest = WIDGET) -> tuple[History, Verdict]:
    """Its own pods are hidden for a while, during which it is made to look again; later it is touched without a fault."""
    hidden = HideOwnWrite(resource="pods", write=OwnWrite("create"), window=Window(until_step=4))
    touch = Touch(target=target(sample))
    steps = (Apply(object=sample), touch, Rest(seconds=1.5), Rest(seconds=0.5), touch, touch)
    history = await run(player, *steps, faults=(hidden,))
    return history, verdict_of(REPORTS_SKIPS, Trial(history))


async def test_a_correct_controller_reports_its_skips(player: Player) -> None:
    await player.use(complete(METRICS_PORT="{metrics_port}"), metrics=URL)
    history, verdict = await looked_at(player)
    assert verdict.outcome is Outcome.PASS, verdict
    readings = of(history, Metrics)
    assert len(readings) >= 1 + 6 + 2 + 1, "at the start, for each step, released and settled, and while pods were hidden"
    assert all(reading.took < LIMIT_SECONDS for reading in readings)
    assert {sample.labels["resource"] for reading in readings for sample in reading.samples} == {"pods", "configmaps", "widgets"}


@pytest.mark.parametrize("mutant", ["counts_every_sync", "reports_version_ahead"])
async def test_a_controller_that_reports_wrongly_is_found(player: Player, mutant: str) -> None:
    await player.use(complete(mutant, "mutants", METRICS_PORT="{metrics_port}"), metrics=URL)
    _, verdict = await looked_at(player)
    assert verdict.outcome is Outcome.FAIL, verdict


async def test_metrics_are_not_read_unless_asked_for(player: Player) -> None:
    await player.use(complete(METRICS_PORT="{metrics_port}"))
    history, verdict = await looked_at(player)
    assert not of(history, Metrics)
    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, "the controller's metrics were not read")


async def test_metrics_of_kube_controller_manager_are_read_over_tls_with_its_token(player: Player, programs: Path) -> None:
    await player.use(kube_controller_manager(programs, OVER_TLS), metrics="https://127.0.0.1:{metrics_port}/metrics")
    history, verdict = await looked_at(player, REPLICA_SET)
    assert verdict.outcome is Outcome.PASS, verdict
    assert of(history, Metrics)


async def test_metrics_of_every_life_are_read(player: Player) -> None:
    await player.use(complete(METRICS_PORT="{metrics_port}"), metrics=URL)
    steps = (Apply(object=WIDGET), Touch(target=target(WIDGET)), Patch(target=target(WIDGET), patch={"spec": {"content": "new"}}))
    history = await run(player, *steps, faults=(Restart(window=Window(from_step=2), gently=False),))
    (stopped,), (_, started) = of(history, Stopped), of(history, Started)
    readings = [entry.at for entry in of(history, Metrics)]
    assert not [at for at in readings if stopped.at < at < started.at]
    assert [at for at in readings if at < stopped.at]
    assert [at for at in readings if at > started.at]


async def test_a_silent_metrics_url_is_reported_at_the_start(player: Player) -> None:
    await player.use(complete(), metrics=URL)
    bus, lives = player.environment.bus, player.environment.lives
    before, lives.start_seconds = lives.start_seconds, LIMIT_SECONDS

    def opened(entry: Entry) -> None:
        """The program may take its time to start: only the metrics are not waited for that long."""
        if isinstance(entry, Opened):
            lives.start_seconds = START_SECONDS

    bus.listeners.append(opened)
    with pytest.raises(SetupError) as refused:
        await run(player, Apply(object=WIDGET))
    bus.listeners.remove(opened)
    lives.start_seconds = before
    url = f"http://127.0.0.1:{lives.metrics_port}/metrics"
    assert str(refused.value).startswith(f"--controller-metrics: no metrics at {url} within {START_SECONDS:g} s: Cannot connect")
    assert "{metrics_port} stands for a free port" in str(refused.value)
    assert "Command: " in str(refused.value)


async def test_an_invalid_metrics_url_is_reported_before_anything_starts(player: Player) -> None:
    await player.use(complete(), metrics="127.0.0.1:8085")
    with pytest.raises(UsageError, match=r"--controller-metrics: expected a URL as http://127.0.0.1:.*, found '127.0.0.1:8085'"):
        await run(player, Apply(object=WIDGET))


# --- through the doors -----------------------------------------------------------------------------------------------------------

OWN_TEST = """
    from staleproof.core.history.entry import Metrics
    from staleproof.core.plan.step import Apply
    from staleproof.core.plan.plan import Plan

    def test_mine(trial, staleproof_session, controller_samples):
        result = trial(Plan(scenario="mine", steps=(Apply(object=controller_samples[0]),)))
        assert [entry for entry in result.history.entries if isinstance(entry, Metrics)]

        async def releases(environment):
            return environment.lives.release_leases

        assert staleproof_session.call(releases) is False
"""
COMMAND = f"--controller-cmd={fixture_controller('correct')} consistency_store --metrics-port={{metrics_port}}"
READ = f"--controller-metrics={URL}"


@pytest.mark.live
def test_the_plugins_options_reach_the_runner(suite: Run, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(textwrap.dedent(OWN_TEST))
    done = suite(COMMAND, READ, "--staleproof-release-leases=no", *WIDGETS, "test_mine.py", folder=tmp_path)
    assert "1 passed" in done.output, done.output


def test_the_commands_options_reach_the_runner(staleproof: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(encode(Plan(scenario="mine", steps=(Apply(object=WIDGET),))))
    crds = f"--crds={MANIFESTS / 'widget-crd.yaml'}"
    done = staleproof("run", "plan.json", COMMAND, READ, "--release-leases=no", crds, folder=tmp_path)
    history = decode((done.run_folder / "trials" / "001" / "history.jsonl.gz").read_bytes())
    assert of(history, Metrics), done.output
