import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from staleproof.drive.process.process import Command, Process
from staleproof.errors import SetupError

LIMIT_SECONDS = 60.0


def command(tmp_path: Path, *argv: str, name: str = "program") -> Command:
    return Command(name=name, argv=argv, log=tmp_path / "program.log")


def shell(tmp_path: Path, script: str) -> Command:
    return command(tmp_path, "sh", "-c", script)


async def never() -> bool:
    return False


def test_exit_code_and_output_are_kept(tmp_path: Path) -> None:
    async def body() -> None:
        process = await Process.start(shell(tmp_path, "echo out; echo err >&2; exit 3"))
        assert await process.wait() == 3
        assert process.exit_code == 3
        assert not process.running
        assert process.last_lines() == ["out", "err"]

    asyncio.run(body())


def test_pid_is_the_programs_own(tmp_path: Path) -> None:
    async def body() -> None:
        process = await Process.start(shell(tmp_path, "echo $$; exec sleep 600"))
        await process.ready(lambda: wrote(process, str(process.pid)), limit_seconds=LIMIT_SECONDS)
        os.kill(process.pid, signal.SIGKILL)
        assert await process.wait() == 128 + signal.SIGKILL

    asyncio.run(body())


async def wrote(process: Process, line: str) -> bool:
    return line in process.last_lines()


def test_environment_and_folder_reach_the_program(tmp_path: Path) -> None:
    async def body() -> None:
        process = await Process.start(
            Command(
                name="program",
                argv=("sh", "-c", "echo $GREETING; pwd"),
                log=tmp_path / "log",
                env={"GREETING": "hello"},
                cwd=tmp_path,
            )
        )
        await process.wait()
        assert process.last_lines() == ["hello", str(tmp_path)]

    asyncio.run(body())


def test_the_log_is_appended_and_last_lines_are_this_process_alone(tmp_path: Path) -> None:
    async def body() -> None:
        for text in ("first", "second"):
            process = await Process.start(command(tmp_path, "echo", text))
            await process.wait()
        assert process.last_lines() == ["second"]
        assert (tmp_path / "program.log").read_text() == "first\nsecond\n"

    asyncio.run(body())


def test_death_before_ready_is_told_as_a_death_with_the_last_lines(tmp_path: Path) -> None:
    async def body() -> None:
        process = await Process.start(shell(tmp_path, "seq 1 30; exit 7"))
        # The limit is far away: only the exit can end this wait.
        with pytest.raises(SetupError, match="exited with code 7 before it was ready") as refused:
            await process.ready(never, limit_seconds=24 * 3600)
        text = str(refused.value)
        assert "  | 30" in text
        assert "  | 11\n" in text
        assert "  | 10\n" not in text

    asyncio.run(body())


def test_death_ends_a_probe_that_hangs(tmp_path: Path) -> None:
    async def hangs() -> bool:
        await asyncio.Event().wait()
        return True

    async def body() -> None:
        process = await Process.start(command(tmp_path, "false"))
        with pytest.raises(SetupError, match="exited with code 1"):
            await process.ready(hangs, limit_seconds=24 * 3600)

    asyncio.run(body())


def test_not_ready_in_time_says_that_it_still_runs(tmp_path: Path) -> None:
    async def body() -> None:
        process = await Process.start(command(tmp_path, "sleep", "600"))
        with pytest.raises(SetupError, match=r"not ready within 0\.1 s \(it still runs"):
            await process.ready(never, limit_seconds=0.1)
        await process.stop()

    asyncio.run(body())


def test_stop_is_idempotent_and_wakes_a_paused_program(tmp_path: Path) -> None:
    async def body() -> None:
        process = await Process.start(command(tmp_path, "sleep", "600"))
        process.signal(signal.SIGSTOP)
        assert await process.stop() == 128 + signal.SIGTERM
        assert await process.stop() == 128 + signal.SIGTERM
        process.signal(signal.SIGTERM)  # nothing to do, nothing said

    asyncio.run(body())


def test_stop_kills_what_ignores_term(tmp_path: Path) -> None:
    async def body() -> None:
        script = "trap '' TERM; echo deaf; while :; do sleep 1; done"
        process = await Process.start(shell(tmp_path, script))
        await process.ready(lambda: wrote(process, "deaf"), limit_seconds=LIMIT_SECONDS)
        assert await process.stop(grace_seconds=0.1) == 128 + signal.SIGKILL

    asyncio.run(body())


def test_what_the_program_left_in_its_group_goes_with_it(tmp_path: Path) -> None:
    async def body() -> None:
        process = await Process.start(shell(tmp_path, "sleep 600 & echo $!"))
        await process.wait()
        await gone(int(process.last_lines()[0]))

    asyncio.run(body())


def test_a_killed_leash_takes_the_program_along(tmp_path: Path) -> None:
    async def body() -> None:
        process = await Process.start(command(tmp_path, "sleep", "600"))
        leash = int(Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        os.kill(leash, signal.SIGKILL)
        assert await process.wait() == 128 + signal.SIGKILL
        await gone(process.pid)

    asyncio.run(body())


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
def test_a_program_that_cannot_be_started_is_named(tmp_path: Path, program: str, said: str) -> None:
    (tmp_path / "not-executable").write_text("")
    (tmp_path / "no-interpreter").write_text("#!/no/such/interpreter\n")
    (tmp_path / "no-interpreter").chmod(0o755)
    unstartable = Command(name="controller", argv=(program, "--flag"), log=tmp_path / "log", cwd=tmp_path)
    with pytest.raises(SetupError, match=said) as refused:
        asyncio.run(Process.start(unstartable))
    assert str(refused.value).startswith("controller: ")
    assert program.removeprefix("./") in str(refused.value)


def test_a_folder_that_is_not_there_and_an_empty_command_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="working folder"):
        asyncio.run(Process.start(Command(name="c", argv=("true",), log=tmp_path / "log", cwd=tmp_path / "no")))
    with pytest.raises(SetupError, match="found an empty one"):
        asyncio.run(Process.start(command(tmp_path)))


def test_a_log_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match="cannot start with the log"):
        asyncio.run(Process.start(Command(name="c", argv=("true",), log=tmp_path / "file" / "log")))


def test_the_program_inherits_no_descriptor(tmp_path: Path) -> None:
    async def body() -> None:
        first = await Process.start(command(tmp_path, "sleep", "600"))
        second = await Process.start(command(tmp_path, sys.executable, "-c", "import os; print(os.listdir('/proc/self/fd'))"))
        await second.wait()
        # 3 is the listing's own.
        assert second.last_lines() == ["['0', '1', '2', '3']"]
        await first.stop()

    asyncio.run(body())


def test_variables_that_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEFT_OUT", "x")
    monkeypatch.setenv("REPLACED", "x")

    async def body() -> list[str]:
        script = 'echo "${LEFT_OUT-unset}|$REPLACED|$ADDED|$PATH"'
        process = await Process.start(
            Command(
                name="program",
                argv=("sh", "-c", script),
                log=tmp_path / "program.log",
                env={"REPLACED": "y", "ADDED": "z"},
                without=frozenset({"LEFT_OUT", "REPLACED", "NEVER_SET"}),
            )
        )
        await process.wait()
        return process.last_lines()

    assert asyncio.run(body()) == [f"unset|y|z|{os.environ['PATH']}"]
