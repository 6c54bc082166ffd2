"""The controller under test as a container: the image's program, with what leads it to the proxy: all that a pod would find, and a
kubeconfig.

It decides where these lie inside, what is replaced in arguments, and which ports are published. `process.container` says how a
container lives, and what becomes of it when the harness is killed; `process.network`, how it gets here.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path

from staleproof.core.plan.plan import Subject
from staleproof.core.times import GRACE_SECONDS
from staleproof.drive.cluster.access import Access
from staleproof.drive.cluster.control_plane.plane import CONTROLLER, kubeconfig
from staleproof.drive.process.container import Container, ContainerCommand
from staleproof.drive.process.images import ImageRequest, reach_engine
from staleproof.drive.process.network import Network, find_network
from staleproof.drive.subject import in_cluster
from staleproof.drive.subject.controller import KUBECONFIG, environment_of
from staleproof.errors import SetupError, UsageError

KUBECONFIG_INSIDE = "/staleproof/kubeconfig"
INSTEAD = "run the controller as a program of this machine with --controller-cmd"


async def controller_network(subject: Subject) -> Network:
    """The network that the subject's container will be in.

    Raises:
        UsageError: the engine has no such network.
        SetupError: no engine, or nothing leads here from that network.
    """

    def find() -> Network:
        client = reach_engine(instead=INSTEAD)
        with closing(client.client):
            return find_network(client, subject.network)

    return await asyncio.to_thread(find)


@asynccontextmanager
async def controller_container(
    subject: Subject,
    access: Access,
    log: Path,
    network: Network,
    *,
    files: Mapping[str, bytes] | None = None,
    publish: Mapping[int, int] | None = None,
) -> AsyncIterator[Container]:
    """Run the subject's image. Its arguments take the place of the image's own (CMD), and its command that of the entrypoint;
    without them these are the image's. `access` is how the controller reaches the API server; `files`: what else lies inside;
    `publish`: ports of its own that are to be reached from here, and where on loopback.

    Raises:
        UsageError: no image is named, or it cannot be a name.
        SetupError: no engine, no image, a variable without a value, or a container that does not start or exits at once.
    """
    if not subject.image.strip():
        raise UsageError("--controller-image is empty; name the image of the controller, e.g. example.com/acme/operator:v1")
    given = environment_of(subject, KUBECONFIG_INSIDE, reached=network.reach.host)
    container = await Container.start(
        ContainerCommand(
            name="controller",
            image=ImageRequest(
                name=subject.image,
                advice="Check its name; build it (`docker build -t …`), load it (`docker load`), or log in to its registry.",
            ),
            log=log,
            instead=INSTEAD,
            entrypoint=tuple(word.replace(KUBECONFIG, KUBECONFIG_INSIDE) for word in subject.command),
            arguments=tuple(word.replace(KUBECONFIG, KUBECONFIG_INSIDE) for word in subject.arguments),
            env=in_cluster.variables(access.server) | given,  # a container sees nothing of the harness's own environment
            files={**await asyncio.to_thread(_files, access, subject.namespace), **(files or {})},
            network=network.name,
            publish=(publish or {}) if network.is_private else {},
        )
    )
    try:
        if not container.pid:
            raise SetupError(f"the controller exited with code {await container.wait()} at once.\n{container.account()}")
        yield container
    finally:
        await container.stop(grace_seconds=GRACE_SECONDS)


def _files(access: Access, namespace: str) -> dict[str, bytes]:
    mounted = in_cluster.files(access, namespace=namespace or in_cluster.NAMESPACE)
    return {KUBECONFIG_INSIDE: kubeconfig(access, user=CONTROLLER, namespace=namespace), **mounted}
