"""The controller under test as a container: the image's program, with a kubeconfig that leads to the proxy.

It decides where the kubeconfig lies inside and what is replaced in arguments. How a container lives, and what becomes
of it when the harness is killed, stands in `container`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from staleproof.core.plan import Subject
from staleproof.drive.process.container import Container, ContainerCommand
from staleproof.drive.process.images import Wanted
from staleproof.drive.subject.controller import KUBECONFIG, environment_of
from staleproof.errors import SetupError, UsageError

KUBECONFIG_INSIDE = "/staleproof/kubeconfig"
GRACE_SECONDS = 5.0


@dataclass(slots=True)
class ContainerController:
    """A controller that is an image. `pid` is of this machine; where only root may signal it, `signal` asks the engine."""

    container: Container
    life: int = 1

    @property
    def pid(self) -> int:
        return self.container.pid

    @property
    def image_digest(self) -> str:
        return self.container.image_digest

    @property
    def running(self) -> bool:
        return self.container.running

    @property
    def exit_code(self) -> int | None:
        return self.container.exit_code

    async def wait(self) -> int:
        return await self.container.wait()

    async def signal(self, number: int) -> None:
        await self.container.signal(number)

    def account(self) -> str:
        return self.container.account()


@asynccontextmanager
async def controller_container(subject: Subject, kubeconfig: Path, log: Path) -> AsyncIterator[ContainerController]:
    """Run the subject's image on the engine's host network. Its arguments take the place of the image's own (CMD), its
    entrypoint stays; without arguments both are the image's.

    Raises:
        UsageError: no image is named, or it cannot be a name.
        SetupError: no engine, no image, a variable without a value, or a container that does not start or exits at once.
    """
    if not subject.image.strip():
        raise UsageError("--controller-image is empty; name the image of the controller, e.g. example.com/acme/operator:v1")
    container = await Container.start(
        ContainerCommand(
            name="controller",
            wanted=Wanted(
                image=subject.image,
                advice="Check its name; build it (`docker build -t …`), load it (`docker load`), or log in to its registry.",
            ),
            log=log,
            instead="run the controller as a program of this machine with --controller-cmd",
            arguments=tuple(word.replace(KUBECONFIG, KUBECONFIG_INSIDE) for word in subject.arguments),
            env=environment_of(subject, KUBECONFIG_INSIDE),  # of the harness's own environment a container sees nothing
            files={KUBECONFIG_INSIDE: await asyncio.to_thread(kubeconfig.read_bytes)},
        )
    )
    try:
        if not container.pid:
            raise SetupError(f"the controller exited with code {await container.wait()} at once.\n{container.account()}")
        yield ContainerController(container)
    finally:
        await container.stop(grace_seconds=GRACE_SECONDS)
