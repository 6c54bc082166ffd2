"""The controller under test as a process: started with a kubeconfig that leads to the proxy, stopped when the block is left.

This module decides what a controller is given and which of its values must not stay in logs. It knows nothing of what the
controller does: that it is ready is decided by the runner, from the proxy's entries.
"""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from staleproof.core.plan.masking import SHORTEST, reference_to
from staleproof.core.plan.plan import MAIN, Subject
from staleproof.core.times import GRACE_SECONDS
from staleproof.drive.cluster.access import not_inherited
from staleproof.drive.process.address import LOOPBACK
from staleproof.drive.process.process import Command, Process, run_process
from staleproof.errors import SetupError

KUBECONFIG = "{kubeconfig}"


def environment_of(
    subject: Subject, kubeconfig: str, environ: Mapping[str, str] = os.environ, *, reached: str = LOOPBACK
) -> dict[str, str]:
    """The variables that a controller is given; its own win, and may name the kubeconfig as its command may. `reached` is what it
    knows this machine as. SetupError when the value of a variable is to be taken from the environment, and is not there."""
    direct = ",".join(dict.fromkeys((reached, LOOPBACK, "localhost")))
    ours = {"KUBECONFIG": kubeconfig, "PYTHONUNBUFFERED": "1", "NO_PROXY": direct, "no_proxy": direct}
    own = {name: _value(name, value.replace(KUBECONFIG, kubeconfig), environ) for name, value in subject.env.items()}
    return ours | subject.declared | own


def filled(subject: Subject, values: Mapping[str, str]) -> Subject:
    """The subject with these placeholders replaced in its command, arguments and variables."""

    def text(given: str) -> str:
        for placeholder, value in values.items():
            given = given.replace(placeholder, value)
        return given

    return replace(
        subject,
        command=tuple(map(text, subject.command)),
        arguments=tuple(map(text, subject.arguments)),
        env={name: text(value) for name, value in subject.env.items()},
        declared={name: text(value) for name, value in subject.declared.items()},
    )


def words_of(subject: Subject) -> tuple[str, ...]:
    """Everything that it is started with."""
    return (*subject.command, *subject.arguments, *subject.env.values(), *subject.declared.values())


def secret_values(subject: Subject, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Values of its variables that must not stay in logs. Shorter ones (`1`, `debug`) hide nothing and would tear up every line."""
    given = (environ.get(name, "") if value == reference_to(name) else value for name, value in subject.env.items())
    return [value for value in given if len(value) >= SHORTEST]


def _value(name: str, value: str, environ: Mapping[str, str]) -> str:
    if value != reference_to(name):
        return value
    if name not in environ:
        raise SetupError(
            f"the controller's variable {name} is to be taken from the environment (a written plan keeps names, not values), and "
            f"is not set; set {name} and run again, or give it with --controller-env."
        )
    return environ[name]


@asynccontextmanager
async def controller_process(subject: Subject, kubeconfig: Path, log: Path, *, name: str = MAIN) -> AsyncIterator[Process]:
    """Run the subject's command; `name` is what errors call it. SetupError when it cannot be started, or one of its variables has
    no value."""
    argv = tuple(word.replace(KUBECONFIG, str(kubeconfig)) for word in (*subject.command, *subject.arguments))
    env = environment_of(subject, str(kubeconfig))
    command = Command(name=name, argv=argv, log=log, env=env, without=not_inherited(os.environ))
    async with run_process(command, grace_seconds=GRACE_SECONDS) as process:
        yield process
