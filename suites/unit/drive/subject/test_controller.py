"""The controller as a process: what it is started with, and how it ends."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from staleproof.core.plan.plan import Subject
from staleproof.drive.subject.controller import controller_process, environment_of, filled, secret_values
from staleproof.errors import SetupError

pytestmark = pytest.mark.io

LIMIT_SECONDS = 60.0


async def output(tmp_path: Path, subject: Subject) -> tuple[int, str]:
    """Exit code and log of a controller that exits by itself."""
    log = tmp_path / "log"
    async with asyncio.timeout(LIMIT_SECONDS), controller_process(subject, tmp_path / "kubeconfig", log) as running:
        code = await running.wait()
        assert (running.running, running.exit_code) == (False, code)
        assert str(log) in running.account()
    return code, log.read_text()


async def test_it_is_started_with_the_kubeconfig_and_its_arguments(tmp_path: Path) -> None:
    script = 'echo "$KUBECONFIG|$GREETING|$PYTHONUNBUFFERED|$0|$*"; exit 3'
    subject = Subject(
        command=("sh", "-c", script, "{kubeconfig}"), arguments=("--config={kubeconfig}", "--v=2"), env={"GREETING": "hello"}
    )
    path = tmp_path / "kubeconfig"
    assert await output(tmp_path, subject) == (3, f"{path}|hello|1|{path}|--config={path} --v=2\n")


async def test_its_own_environment_wins(tmp_path: Path) -> None:
    subject = Subject(command=("sh", "-c", "echo $KUBECONFIG"), env={"KUBECONFIG": "mine"})
    assert await output(tmp_path, subject) == (0, "mine\n")


async def test_what_its_manifests_declare_is_less_than_what_the_user_gives(tmp_path: Path) -> None:
    subject = Subject(command=("sh", "-c", "echo $A$B$C"), env={"B": "mine"}, declared={"A": "$HOME", "B": "theirs", "C": "!"})
    assert await output(tmp_path, subject) == (0, "$HOMEmine!\n")


def test_placeholders_are_replaced_wherever_they_are() -> None:
    subject = Subject(
        command=("./m", "--metrics=:{metrics_port}", "--kubeconfig={kubeconfig}"),
        arguments=("-p", "{metrics_port}{x}"),
        env={"PORT": "{metrics_port}", "HOME": "$HOME"},
        declared={"X": "{x}"},
    )
    assert filled(subject, {"{metrics_port}": "8085", "{x}": "y"}) == Subject(
        command=("./m", "--metrics=:8085", "--kubeconfig={kubeconfig}"),
        arguments=("-p", "8085y"),
        env={"PORT": "8085", "HOME": "$HOME"},
        declared={"X": "y"},
    )


async def test_it_is_stopped_when_the_block_is_left(tmp_path: Path) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        async with controller_process(Subject(command=("sleep", "600")), tmp_path / "kubeconfig", tmp_path / "log") as running:
            assert (running.running, running.exit_code) == (True, None)
            assert running.pid > 0
        assert (running.running, running.exit_code) == (False, 128 + signal.SIGTERM)


# --- what it sees of the harness's environment -----------------------------------------------------------------------------------


async def test_it_is_not_led_past_the_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A CI job in a pod has the address of the CI's own cluster in its environment."""
    for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBERNETES_PORT_443_TCP_ADDR", "KUBERNETES_MASTER"):
        monkeypatch.setenv(name, "10.96.0.1")
    for name in ("HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "http://proxy.example:3128")
    monkeypatch.setenv("KUBERNETES", "kept")
    code, log = await output(tmp_path, Subject(command=("env",)))
    seen = dict(line.split("=", 1) for line in log.splitlines() if "=" in line)
    assert code == 0
    assert "10.96.0.1" not in log
    assert "proxy.example" not in log
    assert (seen["NO_PROXY"], seen["no_proxy"], seen["KUBERNETES"]) == ("127.0.0.1,localhost", "127.0.0.1,localhost", "kept")
    assert seen["PATH"] == os.environ["PATH"]


async def test_what_it_is_given_on_purpose_it_gets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    subject = Subject(command=("sh", "-c", "echo $HTTPS_PROXY"), env={"HTTPS_PROXY": "$HTTPS_PROXY"})
    assert await output(tmp_path, subject) == (0, "http://proxy.example:3128\n")


def test_a_value_that_was_not_written_down_comes_from_the_environment() -> None:
    subject = Subject(env={"DB_PASSWORD": "$DB_PASSWORD", "COST": "$5", "OTHER": "$DB_PASSWORD"})
    given = environment_of(subject, "k", {"DB_PASSWORD": "hunter2"})
    assert {name: given[name] for name in subject.env} == {"DB_PASSWORD": "hunter2", "COST": "$5", "OTHER": "$DB_PASSWORD"}
    with pytest.raises(SetupError, match=r"variable DB_PASSWORD .* is not set; set DB_PASSWORD and run again"):
        environment_of(subject, "k", {})


def test_a_variable_may_name_the_kubeconfig() -> None:
    given = environment_of(Subject(env={"KUBE_CONFIG": "{kubeconfig}"}), "/here/kubeconfig", {})
    assert given["KUBE_CONFIG"] == given["KUBECONFIG"] == "/here/kubeconfig"


def test_values_that_must_not_stay_in_logs() -> None:
    subject = Subject(env={"DB_PASSWORD": "$DB_PASSWORD", "LEVEL": "debug", "TOKEN": "0123456789", "EMPTY": ""})
    assert secret_values(subject, {"DB_PASSWORD": "hunter2xyz"}) == ["hunter2xyz", "0123456789"]
    assert secret_values(subject, {}) == ["0123456789"]
