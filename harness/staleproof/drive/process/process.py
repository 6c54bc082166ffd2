"""One program with a lifetime: started on a leash, watched, stopped.

It decides what a start, an exit and a stop *are* (a missing program, TERM before KILL) and puts the operating system's errors into
words. It does not decide what a program is for, nor whether an exit was right. A process belongs to the event loop it was started
in.
"""

import asyncio
import contextlib
import errno
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from staleproof.core.times import OTHERS_GRACE_SECONDS
from staleproof.drive.process.program import Log, Program
from staleproof.errors import HarnessBug, SetupError

LEASH = Path(__file__).with_name("leash.py")


_OF_THE_PROGRAM = frozenset({errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EISDIR, errno.ELOOP})
"""What is wrong with the program itself; all else that keeps one from starting (it is being written, memory is short) passes."""


class CannotStart(SetupError):
    """The program is not there, or cannot be executed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run. `env` is added to the harness's own environment without the variables in `without`; no `cwd` means the current
    folder."""

    name: str
    argv: tuple[str, ...]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    without: frozenset[str] = frozenset()


class Process(Program):
    """A running or finished program. `pid` is the program's own, and its process group's; the leash stays hidden."""

    def __init__(self, command: Command, leash: subprocess.Popen[bytes], log: Log) -> None:
        self.command, self.name, self.log = command, command.name, log
        self.pid = 0
        self._leash = leash
        self._exited = asyncio.Event()

    @classmethod
    async def start(cls, command: Command) -> Self:
        """Return once the program runs under its own pid. SetupError when it cannot be started at all."""
        process = cls(command, *_start_leash(command))
        try:
            await process._started()
        except BaseException:
            process._let_go()
            raise
        return process

    @property
    def exit_code(self) -> int | None:
        code = self._leash.poll()
        return code if code is None or code >= 0 else 128 - code

    async def wait(self) -> int:
        await self._exited.wait()
        code = self.exit_code
        if code is None:
            raise HarnessBug(f"{self.command.name}: the leash of pid {self.pid} closed its report before it exited")
        return code

    async def stop(self, *, grace_seconds: float = OTHERS_GRACE_SECONDS) -> int:
        # A paused program would not see TERM before CONT.
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)
        try:
            async with asyncio.timeout(grace_seconds):
                return await self.wait()
        except TimeoutError:
            self.signal(signal.SIGKILL)
            return await self.wait()
        except asyncio.CancelledError:
            self._let_go()  # nothing waits any more: the leash ends it with a grace of its own
            raise

    def signal(self, number: int) -> None:
        """To the program alone; nothing happens when it is gone."""
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def send_signal(self, number: int) -> None:
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def description(self) -> str:
        return f"Command: {shlex.join(self.command.argv)}"

    async def _started(self) -> None:
        report = await self._first_line()
        word, _, number = report.partition(" ")
        if word == "errno":
            self._leash.wait()
            kind = CannotStart if int(number) in _OF_THE_PROGRAM else SetupError
            raise kind(_not_started(self.command, int(number)))
        if word != "pid":
            raise HarnessBug(f"{self.command.name}: the leash reported {report!r}.\n{self.account()}")
        self.pid = int(number)

    async def _first_line(self) -> str:
        """The leash's report; afterwards the same descriptor reaches its end when the leash exits."""
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str] = loop.create_future()
        stream = self._leash.stdout
        if stream is None:
            raise HarnessBug("the leash was started without a report pipe")
        descriptor = stream.fileno()
        os.set_blocking(descriptor, False)

        def readable() -> None:
            text = os.read(descriptor, 256)
            if not line.done():
                line.set_result(text.decode().strip())
            if not text:
                loop.remove_reader(descriptor)
                stream.close()
                self._reap()

        loop.add_reader(descriptor, readable)
        return await line

    def _reap(self) -> None:
        if self._leash.wait() < 0 and self.pid:
            # The leash itself was killed: the program has no parent that would end it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        self._let_go()
        self._exited.set()

    def _let_go(self) -> None:
        if self._leash.stdin is not None:
            self._leash.stdin.close()


@contextlib.asynccontextmanager
async def run_process(command: Command, *, grace_seconds: float = OTHERS_GRACE_SECONDS) -> AsyncIterator[Process]:
    """The started program, which is stopped when the block is left; SetupError when it cannot be started."""
    process = await Process.start(command)
    try:
        yield process
    finally:
        await process.stop(grace_seconds=grace_seconds)


def _start_leash(command: Command) -> tuple[subprocess.Popen[bytes], Log]:
    if not command.argv:
        raise SetupError(f"{command.name}: expected a command, found an empty one; name the program to run.")
    if command.cwd is not None and not command.cwd.is_dir():
        raise SetupError(f"{command.name}: the working folder {command.cwd} does not exist; create it or name another.")
    try:
        log = Log.opened(command.log)
        with command.log.open("ab") as file:
            leash = subprocess.Popen(
                [sys.executable, "-I", "-S", str(LEASH), *command.argv],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                cwd=command.cwd,
                env={name: value for name, value in os.environ.items() if name not in command.without} | dict(command.env),
                bufsize=0,
                start_new_session=True,  # Ctrl-C at a terminal reaches the harness alone, which stops things in order
            )
            return leash, log
    except OSError as err:
        raise SetupError(f"{command.name}: cannot start with the log {command.log}: {err}.") from err


def _not_started(command: Command, number: int) -> str:
    program = command.argv[0]
    path = (command.cwd or Path.cwd()) / program
    if number == errno.ENOENT and "/" not in program:
        problem = f"{program!r} was not found on PATH; install it, or give the path of the program."
    elif number == errno.ENOENT and path.exists():
        problem = f"{program!r} exists, but the interpreter or loader it names does not; check its first line."
    elif number == errno.ENOENT:
        problem = f"no such file: {program!r} (seen from {path.parent}); check the path, or build the program."
    elif number in (errno.EACCES, errno.ENOEXEC):
        where = shutil.which(program) or path
        problem = f"{where} cannot be executed: {os.strerror(number)}; check its mode and what it was built for."
    else:
        problem = f"{program!r} cannot be started: {os.strerror(number)}; check the command."
    return f"{command.name}: {problem}"
