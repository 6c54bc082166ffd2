"""Processes: their start, exit and stop, what they inherit, and how a failure is reported."""

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from staleproof.drive.process.process import CannotStart, Command, Process, run_process
from staleproof.errors import SetupError

pytestmark = pytest.mark.io

LIMIT_SECONDS = 60.0
DAY_SECONDS = 24 * 3600.0


def command(tmp_path: Path, *argv: str, **fields: Any) -> Command:  # noqa: ANN401  # those of a command
    return Command(name="program", argv=argv, log=tmp_path / "program.log", **fields)


def shell(tmp_path: Path, script: str, **fields: Any) -> Command:  # noqa: ANN401  # those of a command
    return command(tmp_path, "sh", "-c", script, **fields)


async def finished(command: Command) -> Process:
    process = await Process.start(command)
    await process.wait()
    return process


async def never() -> bool:
    return False


async def wrote(process: Process, line: str) -> bool:
    return line in process.last_lines()


async def test_exit_code_and_output_are_kept(tmp_path: Path) -> None:
    process = await Process.start(shell(tmp_path, "echo out; echo err >&2; exit 3"))
    assert await process.wait() == 3
    assert (process.exit_code, process.running) == (3, False)
    assert process.last_lines() == ["out", "err"]


async def test_pid_is_the_programs_own(tmp_path: Path) -> None:
    process = await Process.start(shell(tmp_path, "echo $$; exec sleep 600"))
    await process.ready(lambda: wrote(process, str(process.pid)), limit_seconds=LIMIT_SECONDS)
    os.kill(process.pid, signal.SIGKILL)
    assert await process.wait() == 128 + signal.SIGKILL


async def test_environment_and_folder_reach_the_program(tmp_path: Path) -> None:
    process = await finished(shell(tmp_path, "echo $GREETING; pwd", env={"GREETING": "hello"}, cwd=tmp_path))
    assert process.last_lines() == ["hello", str(tmp_path)]


async def test_the_log_is_appended_and_last_lines_are_this_process_alone(tmp_path: Path) -> None:
    for text in ("first", "second"):
        process = await finished(command(tmp_path, "echo", text))
    assert process.last_lines() == ["second"]
    assert (tmp_path / "program.log").read_text() == "first\nsecond\n"


async def test_death_before_ready_is_reported_as_a_death_with_the_last_lines(tmp_path: Path) -> None:
    process = await Process.start(shell(tmp_path, "seq 1 30; exit 7"))
    # The limit is far away: only the exit can end this wait.
    with pytest.raises(SetupError, match="exited with code 7 before it was ready") as refused:
        await process.ready(never, limit_seconds=DAY_SECONDS)
    text = str(refused.value)
    assert "  | 30" in text
    assert "  | 11\n" in text
    assert "  | 10\n" not in text


async def test_death_ends_a_probe_that_hangs(tmp_path: Path) -> None:
    async def hangs() -> bool:
        await asyncio.Event().wait()
        return True

    process = await Process.start(command(tmp_path, "false"))
    with pytest.raises(SetupError, match="exited with code 1"):
        await process.ready(hangs, limit_seconds=DAY_SECONDS)


async def test_not_ready_in_time_says_that_it_still_runs(tmp_path: Path) -> None:
    async with run_process(command(tmp_path, "sleep", "600")) as process:
        with pytest.raises(SetupError, match=r"not ready within 0\.1 s \(it still runs"):
            await process.ready(never, limit_seconds=0.1)


async def test_stop_is_idempotent_and_wakes_a_paused_program(tmp_path: Path) -> None:
    process = await Process.start(command(tmp_path, "sleep", "600"))
    process.signal(signal.SIGSTOP)
    assert await process.stop() == 128 + signal.SIGTERM
    assert await process.stop() == 128 + signal.SIGTERM
    process.signal(signal.SIGTERM)  # nothing to do, nothing said
    await process.send_signal(signal.SIGTERM)


async def test_stop_kills_what_ignores_term(tmp_path: Path) -> None:
    process = await Process.start(shell(tmp_path, "trap '' TERM; echo deaf; while :; do sleep 1; done"))
    await process.ready(lambda: wrote(process, "deaf"), limit_seconds=LIMIT_SECONDS)
    assert await process.stop(grace_seconds=0.1) == 128 + signal.SIGKILL


async def test_what_the_program_left_in_its_group_goes_with_it(tmp_path: Path) -> None:
    process = await finished(shell(tmp_path, "sleep 600 & echo $!"))
    await gone(int(process.last_lines()[0]))


async def test_a_killed_leash_takes_the_program_along(tmp_path: Path) -> None:
    process = await Process.start(command(tmp_path, "sleep", "600"))
    leash = int(Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(leash, signal.SIGKILL)
    assert await process.wait() == 128 + signal.SIGKILL
    await gone(process.pid)


async def gone(pid: int) -> None:
    """A signal is on its way when kill returns; the end follows."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while alive(pid):
            await asyncio.sleep(0.005)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("no-such-program", "was not found on PATH; install it"),
        ("./no-such-program", "no such file"),
        ("./no-interpreter", "the interpreter or loader it names does not"),
        ("./not-executable", "cannot be executed: Permission denied"),
    ],
)
async def test_a_program_that_cannot_be_started_is_named(tmp_path: Path, program: str, said: str) -> None:
    (tmp_path / "not-executable").write_text("")
    (tmp_path / "no-interpreter").write_text("#!/no/such/interpreter\n")
    (tmp_path / "no-interpreter").chmod(0o755)
    with pytest.raises(SetupError, match=said) as refused:
        await Process.start(Command(name="controller", argv=(program, "--flag"), log=tmp_path / "log", cwd=tmp_path))
    assert str(refused.value).startswith("controller: ")
    assert program.removeprefix("./") in str(refused.value)
    assert isinstance(refused.value, CannotStart)


async def test_a_program_that_is_still_being_written_may_be_started_later(tmp_path: Path) -> None:
    program = tmp_path / "manager"
    shutil.copy("/bin/true", program)
    with program.open("r+b"), pytest.raises(SetupError, match="busy") as refused:
        await Process.start(Command(name="controller", argv=(str(program),), log=tmp_path / "log"))
    assert not isinstance(refused.value, CannotStart)
    assert (await finished(Command(name="controller", argv=(str(program),), log=tmp_path / "log"))).exit_code == 0


@pytest.mark.parametrize(
    ("argv", "log", "cwd", "said"),
    [
        (("true",), "log", "no", "working folder"),
        ((), "log", ".", "found an empty one"),
        (("true",), "file/log", ".", "cannot start with the log"),
    ],
)
async def test_what_makes_no_sense_is_refused(argv: tuple[str, ...], log: str, cwd: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match=said):
        await Process.start(Command(name="c", argv=argv, log=tmp_path / log, cwd=tmp_path / cwd))


async def test_the_program_inherits_no_descriptor(tmp_path: Path) -> None:
    async with run_process(command(tmp_path, "sleep", "600")):
        process = await finished(command(tmp_path, sys.executable, "-c", "import os; print(os.listdir('/proc/self/fd'))"))
    assert process.last_lines() == ["['0', '1', '2', '3']"]  # 3 is the listing's own


async def test_variables_that_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEFT_OUT", "x")
    monkeypatch.setenv("REPLACED", "x")
    script = 'echo "${LEFT_OUT-unset}|$REPLACED|$ADDED|$PATH"'
    without = frozenset({"LEFT_OUT", "REPLACED", "NEVER_SET"})
    process = await finished(shell(tmp_path, script, env={"REPLACED": "y", "ADDED": "z"}, without=without))
    assert process.last_lines() == [f"unset|y|z|{os.environ['PATH']}"]
