"""The controller as a process: what it is started with, and how it ends. Words are split as a shell would, without a shell."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from staleproof.core.plan import Subject
from staleproof.drive.controller import controller_process, words
from staleproof.errors import SetupError, UsageError

LIMIT_SECONDS = 60.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("  ", ()),
        ("./bin/manager --kubeconfig={kubeconfig}", ("./bin/manager", "--kubeconfig={kubeconfig}")),
        ("m '--name=a b' \"$HOME\"", ("m", "--name=a b", "$HOME")),
        ("m a\\ b; rm x | y", ("m", "a b;", "rm", "x", "|", "y")),
    ],
)
def test_a_command_line_is_split_without_a_shell(text: str, expected: tuple[str, ...]) -> None:
    assert words(text, "--controller-cmd") == expected


def test_unbalanced_quotes_are_refused() -> None:
    with pytest.raises(UsageError, match=r"--controller-cmd: No closing quotation in \"m 'a\"; quote it like a shell command"):
        words("m 'a", "--controller-cmd")


def output(tmp_path: Path, subject: Subject) -> tuple[int, str]:
    """Exit code and log of a controller that exits by itself."""

    async def body() -> int:
        async with (
            asyncio.timeout(LIMIT_SECONDS),
            controller_process(subject, tmp_path / "kubeconfig", tmp_path / "log") as running,
        ):
            code = await running.wait()
            assert (running.running, running.exit_code) == (False, code)
            assert str(tmp_path / "log") in running.account()
            return code

    code = asyncio.run(body())
    return code, (tmp_path / "log").read_text()


def test_it_is_started_with_the_kubeconfig_and_its_arguments(tmp_path: Path) -> None:
    script = 'echo "$KUBECONFIG|$GREETING|$PYTHONUNBUFFERED|$0|$*"; exit 3'
    subject = Subject(
        command=("sh", "-c", script, "{kubeconfig}"), arguments=("--config={kubeconfig}", "--v=2"), env={"GREETING": "hello"}
    )
    path = tmp_path / "kubeconfig"
    assert output(tmp_path, subject) == (3, f"{path}|hello|1|{path}|--config={path} --v=2\n")


def test_its_own_environment_wins(tmp_path: Path) -> None:
    subject = Subject(command=("sh", "-c", "echo $KUBECONFIG"), env={"KUBECONFIG": "mine"})
    assert output(tmp_path, subject) == (0, "mine\n")


def test_it_is_stopped_when_the_block_is_left(tmp_path: Path) -> None:
    async def body() -> None:
        subject = Subject(command=("sleep", "600"))
        async with asyncio.timeout(LIMIT_SECONDS):
            async with controller_process(subject, tmp_path / "kubeconfig", tmp_path / "log") as running:
                assert running.running
                assert running.exit_code is None
                assert running.pid > 0
            assert not running.running
            assert running.exit_code == 128 + signal.SIGTERM

    asyncio.run(body())


def test_one_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    async def body() -> None:
        subject = Subject(command=("nosuch-controller",))
        async with controller_process(subject, tmp_path / "kubeconfig", tmp_path / "log"):
            pass

    with pytest.raises(SetupError, match="'nosuch-controller' was not found on PATH"):
        asyncio.run(body())


def test_its_last_words_are_in_its_account(tmp_path: Path) -> None:
    async def body() -> str:
        subject = Subject(command=(sys.executable, "-c", "raise SystemExit('no such flag')"))
        async with asyncio.timeout(LIMIT_SECONDS), controller_process(subject, tmp_path / "k", tmp_path / "log") as running:
            assert await running.wait() == 1
            return running.account()

    assert "  | no such flag" in asyncio.run(body())
