"""The controller under test as a process: started with a kubeconfig that leads to the proxy, watched, restarted, stopped.

It knows nothing of what the controller does; ready means that it opened a watch and became idle, which the runner decides from
the proxy's entries. It decides what of the harness's own environment a controller does not see: everything that could lead it past
the proxy, to a cluster that matters.
"""

import os
import shlex
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from staleproof.core.masking import reference_to
from staleproof.core.plan import Subject
from staleproof.drive.process.process import Command, Process
from staleproof.errors import SetupError, UsageError

KUBECONFIG = "{kubeconfig}"
OPENS_WATCH_SECONDS = 30.0
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"})
_IN_CLUSTER = "KUBERNETES_"
_NO_PROXY = "127.0.0.1,localhost"
_SHORTEST_SECRET = 8


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

    async def signal(self, number: int) -> None:
        """To the program and what it has started."""
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


def not_inherited(names: Iterable[str]) -> frozenset[str]:
    """Which variables of the harness a controller must not see.

    Many try the in-cluster configuration (KUBERNETES_SERVICE_HOST) before KUBECONFIG: in a CI job that runs in a pod, that is the
    cluster of the CI. HTTP proxies of the network have nothing to do with a control plane on loopback.
    """
    return frozenset(name for name in names if name.startswith(_IN_CLUSTER) or name.upper() in _PROXIES)


def environment_of(subject: Subject, kubeconfig: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What a controller is given; its own variables win.

    Raises:
        SetupError: the value of a variable is to be taken from the environment, and is not there.
    """
    ours = {"KUBECONFIG": kubeconfig, "PYTHONUNBUFFERED": "1", "NO_PROXY": _NO_PROXY, "no_proxy": _NO_PROXY}
    return ours | {name: _value(name, value, environ) for name, value in subject.env.items()}


def secret_values(subject: Subject, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Values of its variables that must not stay in logs. Shorter ones (`1`, `debug`) hide nothing and would tear up every line."""
    given = (environ.get(name, "") if value == reference_to(name) else value for name, value in subject.env.items())
    return [value for value in given if len(value) >= _SHORTEST_SECRET]


def _value(name: str, value: str, environ: Mapping[str, str]) -> str:
    if value != reference_to(name):
        return value
    if name not in environ:
        raise SetupError(
            f"the controller's variable {name} is to be taken from the environment (a written plan keeps names, not values), and "
            f"is not set; set {name} and run again, or give it with --controller-env."
        )
    return environ[name]


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

    async def signal(self, number: int) -> None:
        self.process.signal_group(number)

    def account(self) -> str:
        return self.process.account()


@asynccontextmanager
async def controller_process(subject: Subject, kubeconfig: Path, log: Path) -> AsyncIterator[ProcessController]:
    """Run the subject's command; SetupError when it cannot be started, or when a variable of its has no value."""
    argv = tuple(word.replace(KUBECONFIG, str(kubeconfig)) for word in (*subject.command, *subject.arguments))
    env = environment_of(subject, str(kubeconfig))
    process = await Process.start(Command(name="controller", argv=argv, log=log, env=env, without=not_inherited(os.environ)))
    try:
        yield ProcessController(process)
    finally:
        await process.stop(grace_seconds=5.0)
