"""The controller under test as a container: the image's program, with a kubeconfig that leads to the proxy.

It decides where the kubeconfig lies inside and what is replaced in arguments. `process.container` says how a container lives, and
what becomes of it when the harness is killed.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from staleproof.core.plan import Subject
from staleproof.drive.process.container import Container, ContainerCommand
from staleproof.drive.process.images import ImageRequest
from staleproof.drive.subject.controller import GRACE_SECONDS, KUBECONFIG, environment_of
from staleproof.errors import SetupError, UsageError

KUBECONFIG_INSIDE = "/staleproof/kubeconfig"


@asynccontextmanager
async def controller_container(subject: Subject, kubeconfig: Path, log: Path) -> AsyncIterator[Container]:
    """Run the subject's image on the engine's host network. Its arguments take the place of the image's own (CMD), the entrypoint
    stays; without arguments both are the image's.

    Raises:
        UsageError: no image is named, or it cannot be a name.
        SetupError: no engine, no image, a variable without a value, or a container that does not start or exits at once.
    """
    if not subject.image.strip():
        raise UsageError("--controller-image is empty; name the image of the controller, e.g. example.com/acme/operator:v1")
    container = await Container.start(
        ContainerCommand(
            name="controller",
            image=ImageRequest(
                name=subject.image,
                advice="Check its name; build it (`docker build -t …`), load it (`docker load`), or log in to its registry.",
            ),
            log=log,
            instead="run the controller as a program of this machine with --controller-cmd",
            arguments=tuple(word.replace(KUBECONFIG, KUBECONFIG_INSIDE) for word in subject.arguments),
            env=environment_of(subject, KUBECONFIG_INSIDE),  # a container sees nothing of the harness's own environment
            files={KUBECONFIG_INSIDE: await asyncio.to_thread(kubeconfig.read_bytes)},
        )
    )
    try:
        if not container.pid:
            raise SetupError(f"the controller exited with code {await container.wait()} at once.\n{container.account()}")
        yield container
    finally:
        await container.stop(grace_seconds=GRACE_SECONDS)
