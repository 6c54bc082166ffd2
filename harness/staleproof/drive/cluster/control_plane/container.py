"""The `container` provider: etcd and kube-apiserver as one container each, of one image, on the host's network.

It decides what is expected of that image and where it comes from when none is named. The image must have programs called `etcd` and
`kube-apiserver` on its PATH, whatever its entrypoint (official images hold only one of the two); by default it is an image that
staleproof makes of the programs in its cache. Paths inside are the paths outside, so that the command lines of `local` serve here
as well.
"""

import asyncio
import os
from contextlib import closing
from functools import partial
from pathlib import Path

from testcontainers.core.docker_client import DockerClient

from staleproof.core.times import ENGINE_PROBE_SECONDS
from staleproof.drive.cluster.options import ControlPlaneOptions
from staleproof.drive.process.container import Container, ContainerCommand
from staleproof.drive.process.images import ImageRequest, Recipe, image_here, make_image, reach_engine
from staleproof.drive.programs.cache import cache_root
from staleproof.drive.programs.kubernetes import SERVERS, entry_folder
from staleproof.drive.programs.progress import Progress, working
from staleproof.errors import SetupError

from . import cache
from .local import Binaries, Server

INSTEAD = "choose another control plane provider (cache, build, assets, existing)"


def control_plane_image(version: str) -> str:
    """What our image of this Kubernetes version is called."""
    return f"staleproof-control-plane:{version}"


async def applies(options: ControlPlaneOptions) -> str | None:
    """A reason if an engine answers at once, and an image is named or already made. It makes and pulls nothing."""
    return await asyncio.to_thread(_applies, options)


async def find(options: ControlPlaneOptions, progress: Progress, *, why: str) -> Binaries:
    launch = partial(_launch, await _image(options, progress))
    return Binaries(etcd=Path("etcd"), kube_apiserver=Path("kube-apiserver"), provider="container", why=why, launch=launch)


def make_control_plane_image(client: DockerClient, version: str) -> str:
    """Make our image of the programs in the cache, unless it is there; its digest. Blocks. SetupError when the programs are not in
    the cache, with what to do; or the engine fails."""
    root = cache_root(os.environ)
    cache.find_cached(root, version, why="an image is made of it")
    program = entry_folder(root, version) / SERVERS.name
    return make_image(client, Recipe(image=control_plane_image(version), program=program, names=SERVERS.programs))


async def _launch(image: ImageRequest, server: Server, port: int) -> Container:
    command = server.command(port)
    return await Container.start(
        ContainerCommand(
            name=command.name,
            image=image,
            log=command.log,
            instead=INSTEAD,
            entrypoint=command.argv[:1],
            arguments=command.argv[1:],
            files={str(path): path.read_bytes() for path in server.reads},
            scratch=tuple(str(path) for path in server.writes),
        )
    )


def _applies(options: ControlPlaneOptions) -> str | None:
    try:
        client = reach_engine(instead=INSTEAD, limit_seconds=ENGINE_PROBE_SECONDS)
    except SetupError:
        return None
    with closing(client.client):
        if options.image:
            return f"Docker answers, and the image {options.image} was given"
        image = control_plane_image(options.version)
        return f"Docker has the image {image}" if image_here(client, image) else None


async def _image(options: ControlPlaneOptions, progress: Progress) -> ImageRequest:
    """The one that was named, else our own, made when it is not there yet."""
    if options.image:
        advice = "Check its name; load it (`docker load`), or log in to its registry; or leave it out to use one made here."
        return ImageRequest(name=options.image, advice=advice)
    image = control_plane_image(options.version)
    with working(progress, f"control plane: making the image {image}, unless it is there"):
        await asyncio.to_thread(_make_unless_there, options.version)
    return ImageRequest(name=image, advice="It was removed just now; try again.", pull=False)


def _make_unless_there(version: str) -> None:
    client = reach_engine(instead=INSTEAD)
    with closing(client.client):
        if not image_here(client, control_plane_image(version)):
            make_control_plane_image(client, version)
