"""What a process and a container have in common: what may be asked of a running program, the wait until it is ready, and the end of
its log."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from staleproof.core.times import OTHERS_GRACE_SECONDS, READY_POLL_SECONDS
from staleproof.errors import SetupError

Probe = Callable[[], Awaitable[bool]]
IDENTITY = ("imageDigest", "imageLabels")
_SHOWN_LINES = 20
_TAIL_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Log:
    """The part of a log file that one program writes, which begins at byte `start`: others may have written to the file before."""

    path: Path
    start: int

    @classmethod
    def opened(cls, path: Path) -> Self:
        """The rest of this file. OSError when it cannot be written."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as log:
            return cls(path, log.tell())

    def last_lines(self, count: int) -> list[str]:
        try:
            with self.path.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self.start, size - _TAIL_BYTES))
                return log.read().decode(errors="replace").splitlines()[-count:]
        except OSError:
            return []


class Program(Protocol):
    """A running or finished program, however it is run."""

    name: str
    pid: int
    log: Log

    @property
    def exit_code(self) -> int | None:
        """None while it runs; 128 + n when signal n ended it."""
        ...

    async def wait(self) -> int:
        """Its exit code, once it has exited."""
        ...

    async def send_signal(self, number: int) -> None:
        """To all of it that can be reached: a process with its group, or a container's first process. Ignored when it is gone."""
        ...

    async def stop(self, *, grace_seconds: float = OTHERS_GRACE_SECONDS) -> int:
        """TERM, wait, KILL; the exit code. Calling it again, or after an exit, changes nothing."""
        ...

    def description(self) -> str:
        """What was to be run, for an error message."""
        ...

    @property
    def exit_reason(self) -> str:
        """What is known of its exit besides the code; empty when that is all."""
        return ""

    def identity(self) -> dict[str, str]:
        """What reports say that it is, under the names in IDENTITY; empty when its command says it all."""
        return {}

    @property
    def running(self) -> bool:
        return self.exit_code is None

    def last_lines(self, count: int = _SHOWN_LINES) -> list[str]:
        """The end of what this program wrote."""
        return self.log.last_lines(count)

    def account(self) -> str:
        """What it is and how its log ends, for an error message."""
        lines = "\n".join(f"  | {line}" for line in self.last_lines()) or "  | (it wrote nothing)"
        return f"{self.description()}\nLog {self.log.path} ends:\n{lines}"

    async def ready(self, probe: Probe, *, limit_seconds: float) -> None:
        """Wait until `probe` says yes. SetupError when the program is not ready in time or exits, which ends the wait at once."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_seconds), asyncio.TaskGroup() as group:
                exited, answered = group.create_task(self.wait()), group.create_task(_until(probe))
                await asyncio.wait({exited, answered}, return_when=asyncio.FIRST_COMPLETED)
                yes = answered.done()
                exited.cancel()
                answered.cancel()
            if yes and self.running:
                return
        if self.running:
            found = f"not ready within {limit_seconds:g} s (it still runs, pid {self.pid})"
        else:
            found = f"exited with {_exit_text(self.exit_code)} before it was ready"
        raise SetupError(f"{self.name}: {found}.\n{self.account()}")


async def _until(probe: Probe) -> None:
    while not await probe():
        await asyncio.sleep(READY_POLL_SECONDS)


def _exit_text(code: int | None) -> str:
    if code is not None and code > 128:
        with suppress(ValueError):
            return f"code {code} ({signal.Signals(code - 128).name})"
    return f"code {code}"
