"""The `container` provider: etcd and kube-apiserver as one container each, of one image, on the host's network.

It decides what is expected of that image (programs called `etcd` and `kube-apiserver` on its PATH, whatever its
entrypoint; official images hold one of the two, so they do not do) and where it comes from when none is named: an image
that staleproof makes of the programs in its cache. Flags, readiness and the order of the stop are those of `local`.
Paths inside are the paths outside, so that the same command line serves both.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from staleproof.drive.process.private import private_folder
from staleproof.errors import SetupError

from .credentials import Credentials, make_credentials
from .local import Server, apiserver_server, connected, etcd_server, on_a_free_port, version_of
from .plane import USERS, ControlPlane, ControlPlaneOptions
from .progress import Progress

if TYPE_CHECKING:
    from staleproof.drive.process.images import Wanted

# testcontainers is imported where it is used: it takes longer than all the rest, and few runs need it.

INSTEAD = "choose another control plane provider (cache, build, assets, existing)"
ASKED_SECONDS = 0.4  # by the automatic choice, which everybody waits for


async def applies(options: ControlPlaneOptions) -> str | None:
    """When an engine answers at once, and an image is named or already made. It makes and pulls nothing."""
    return await asyncio.to_thread(_applies, options)


@asynccontextmanager
async def run(options: ControlPlaneOptions, folder: Path, progress: Progress, *, why: str) -> AsyncIterator[ControlPlane]:
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    wanted = await _image(options, progress)
    async with AsyncExitStack() as stack:
        private = stack.enter_context(private_folder("control-plane"))
        credentials = make_credentials(private, USERS)
        session = await stack.enter_async_context(connected(credentials))
        progress.begin("control plane: starting the containers of etcd and kube-apiserver", 2)
        try:
            # The stack is left in reverse: kube-apiserver first, and its etcd is there until it has gone.
            etcd = _Boxed(etcd_server(Path("etcd"), private / "etcd", folder, session), wanted, scratch=(str(private / "etcd"),))
            etcd_port = await _start(stack, etcd)
            progress.advance(1)
            apiserver = apiserver_server(Path("kube-apiserver"), credentials, etcd_port, folder, session)
            port = await _start(stack, _Boxed(apiserver, wanted, files=_files(credentials)))
            progress.advance(2)
        finally:
            progress.end()
        server = f"https://127.0.0.1:{port}"
        yield ControlPlane(
            server=server,
            ca_file=credentials.ca_file,
            version=await version_of(session, server, credentials),
            provider="container",
            why=why,
            tokens=credentials.tokens,
            client_certificate=None,
            log_folder=folder,
        )


@dataclass(frozen=True, slots=True)
class _Boxed:
    """A server, and what its container needs."""

    server: Server
    wanted: "Wanted"
    files: tuple[Path, ...] = ()
    scratch: tuple[str, ...] = ()


async def _start(stack: AsyncExitStack, boxed: _Boxed) -> int:
    from staleproof.drive.process.container import Container, ContainerCommand

    def start(port: int) -> Awaitable[Container]:
        command = boxed.server.command(port)
        return Container.start(
            ContainerCommand(
                name=command.name,
                wanted=boxed.wanted,
                log=command.log,
                instead=INSTEAD,
                entrypoint=command.argv[:1],
                arguments=command.argv[1:],
                files={str(path): path.read_bytes() for path in boxed.files},
                scratch=boxed.scratch,
            )
        )

    return await on_a_free_port(stack, boxed.server, start)


def _files(credentials: Credentials) -> tuple[Path, ...]:
    """What kube-apiserver reads. Only itself can see the inside of its container."""
    return (
        credentials.certificate_file,
        credentials.key_file,
        credentials.service_account_key_file,
        credentials.tokens_file,
    )


def _applies(options: ControlPlaneOptions) -> str | None:
    from staleproof.drive.process.images import control_plane_image, image_here, reach_engine

    try:
        client = reach_engine(instead=INSTEAD, limit_seconds=ASKED_SECONDS)
    except SetupError:
        return None
    try:
        if options.image:
            return f"Docker answers, and the image {options.image} was given"
        image = control_plane_image(options.version)
        return f"Docker has the image {image}" if image_here(client, image) else None
    finally:
        client.client.close()


async def _image(options: ControlPlaneOptions, progress: Progress) -> "Wanted":
    """The one that was named, else our own, made when it is not there yet."""
    from staleproof.drive.process.images import Wanted, control_plane_image

    if options.image:
        advice = "Check its name; load it (`docker load`), or log in to its registry; or leave it out to use one made here."
        return Wanted(image=options.image, advice=advice)
    image = control_plane_image(options.version)
    progress.begin(f"control plane: making the image {image}, unless it is there", None)
    try:
        await asyncio.to_thread(_make_unless_there, options.version)
    finally:
        progress.end()
    return Wanted(image=image, advice="Somebody removed it just now; try again.", pull=False)


def _make_unless_there(version: str) -> None:
    from staleproof.drive.process.images import control_plane_image, image_here, make_control_plane_image, reach_engine

    client = reach_engine(instead=INSTEAD)
    try:
        if not image_here(client, control_plane_image(version)):
            make_control_plane_image(client, version)
    finally:
        client.client.close()
