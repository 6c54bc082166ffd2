"""The proxy is killed in the middle of a trial: clients are refused, and what was recorded proves nothing. Or it
does not even load, or the start is cancelled: nothing that was started beside it is left.
"""

import asyncio
import os
import signal
import tempfile
from pathlib import Path

import pytest

from staleproof.assess.run.blame import known
from staleproof.checks.judge import judge
from staleproof.checks.verdict import Outcome
from staleproof.core.history.entry import Broke
from staleproof.core.history.history import decode
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Apply, Rest
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.trial.environment import Environment, EnvironmentOptions, environment
from staleproof.drive.trial.run import run_trial
from staleproof.drive.trial.spec import TrialSpec
from staleproof.errors import HarnessBug

from .environments import CRDS, WIDGET, fixture
from .programs import command_lines
from .proxy_client import until

pytestmark = pytest.mark.usefixtures("own_plane")

PLAN = Plan(scenario="proxy-dies", steps=(Apply(object=WIDGET), Rest(seconds=60.0)), settle=Settle())


async def test_a_trial_whose_proxy_dies_says_nothing_and_its_clients_are_refused(tmp_path: Path) -> None:
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
    assert {verdict.outcome for verdict in judge(history, [history, history])} == {Outcome.NOT_EXERCISED}


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where keys and data lie, by which the command lines of our programs are known."""
    folder = tmp_path / "private"
    folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def programs_of(private: Path) -> int:
    return sum(os.fsencode(private) in b" ".join(words) for words in command_lines().values())


async def start(folder: Path) -> None:
    async with environment(EnvironmentOptions(subject=fixture("deterministic"), manifests=CRDS), folder, Silent()):
        await asyncio.Event().wait()


async def test_a_proxy_that_does_not_load_is_reported(private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mitmproxy.py").write_text("raise ImportError('planted')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ExceptionGroup) as refused:
        await start(tmp_path / "environment")
    cause = str(known(refused.value))
    assert "proxy: exited with code 1 before it was ready" in cause
    assert "ImportError: planted" in cause
    assert programs_of(private) == 0
    assert list(private.iterdir()) == []


async def test_a_start_that_is_cancelled_leaves_nothing(private: Path, tmp_path: Path) -> None:
    starting = asyncio.get_running_loop().create_task(start(tmp_path / "environment"))
    await until(lambda: programs_of(private) == 6, every_seconds=0.01)  # etcd, kube-apiserver, the proxy, and their leashes
    starting.cancel()
    await asyncio.wait({starting})
    assert starting.cancelled()
    await until(lambda: programs_of(private) == 0, every_seconds=0.05)
    assert list(private.iterdir()) == []
