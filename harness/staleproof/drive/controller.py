"""The controller under test as a process: started with a kubeconfig that leads to the proxy, watched, restarted, stopped.

It knows nothing of what the controller does; ready means that it opened a watch and became idle, which the runner decides from
the proxy's entries.
"""

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from staleproof.core.plan import Subject
from staleproof.drive.process import Command, Process
from staleproof.errors import UsageError

KUBECONFIG = "{kubeconfig}"
OPENS_WATCH_SECONDS = 30.0


class Controller(Protocol):
    """A running controller, however it is run."""

    life: int

    @property
    def pid(self) -> int: ...
    @property
    def running(self) -> bool: ...
    @property
    def exit_code(self) -> int | None: ...
    async def wait(self) -> int:
        """Its exit code, once it has exited."""
        ...

    def account(self) -> str:
        """What it is and how its log ends, for an error message."""
        ...


def words(text: str, option: str) -> tuple[str, ...]:
    """The words of a command line, split as a shell would, without a shell.

    Raises:
        UsageError: unbalanced quotes.
    """
    try:
        return tuple(shlex.split(text))
    except ValueError as err:
        raise UsageError(f"{option}: {err} in {text!r}; quote it like a shell command") from err


@dataclass(slots=True)
class ProcessController:
    """A controller that is a local program."""

    process: Process
    life: int = 1
    arguments: tuple[str, ...] = field(default=())

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process.running

    @property
    def exit_code(self) -> int | None:
        return self.process.exit_code

    async def wait(self) -> int:
        return await self.process.wait()

    def account(self) -> str:
        return self.process.account()


@asynccontextmanager
async def controller_process(subject: Subject, kubeconfig: Path, log: Path) -> AsyncIterator[ProcessController]:
    """Run the subject's command; SetupError when it cannot be started."""
    argv = tuple(word.replace(KUBECONFIG, str(kubeconfig)) for word in (*subject.command, *subject.arguments))
    env = {"KUBECONFIG": str(kubeconfig), "PYTHONUNBUFFERED": "1", **subject.env}
    process = await Process.start(Command(name="controller", argv=argv, log=log, env=env))
    try:
        yield ProcessController(process)
    finally:
        await process.stop(grace_seconds=5.0)
