"""The proxy is killed in the middle of a trial: clients are refused, and what was recorded proves nothing."""

import asyncio
import signal
from pathlib import Path

import pytest

from staleproof.checks.judge import judge
from staleproof.checks.verdict import Outcome
from staleproof.core.entry import Broke
from staleproof.core.history import decode
from staleproof.core.plan import Apply, Plan, Rest, Settle
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.trial.environment import Environment, EnvironmentOptions, environment
from staleproof.drive.trial.run import TrialSpec, run_trial
from staleproof.errors import HarnessBug

from .environment_stage import CRDS, WIDGET, fixture

PLAN = Plan(scenario="proxy-dies", steps=(Apply(object=WIDGET), Rest(seconds=60.0)), settle=Settle())


async def test_a_trial_whose_proxy_dies_is_inconclusive_and_its_clients_are_refused(tmp_path: Path) -> None:
    async def kill_once_it_works(running: Environment) -> None:
        def works(now: float) -> bool | float:
            return any(resource == "pods" for resource, _, _ in running.truth.objects) or now + 0.05

        assert await running.bus.until(works, limit_seconds=60.0)
        running.proxy.process.signal(signal.SIGKILL)

    async with environment(
        EnvironmentOptions(subject=fixture("deterministic"), manifests=CRDS), tmp_path / "environment", Silent()
    ) as running:
        killing = running.group.create_task(kill_once_it_works(running))
        with pytest.raises(HarnessBug, match="The trial proves nothing; its history is"):
            await run_trial(TrialSpec(plan=PLAN, folder=tmp_path / "trial"), running)
        await killing
        host, _, port = running.proxy.server.removeprefix("https://").partition(":")
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(host, int(port))
    history = decode((tmp_path / "trial" / "history.jsonl.gz").read_bytes())
    assert [entry.where for entry in history.entries if isinstance(entry, Broke)] == ["proxy"]
    assert {verdict.outcome for verdict in judge(history, [history, history])} == {Outcome.INCONCLUSIVE}
