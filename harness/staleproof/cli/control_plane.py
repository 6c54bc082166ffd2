"""`staleproof control-plane`: the programs, or a running control plane, for other tools and for a look around.

It decides what goes to standard output (what a script wants) and what to standard error (what a person wants). Errors are raised;
they become exit codes at the top of the command line.
"""

import asyncio
import datetime
import os
import sys
from pathlib import Path
from typing import get_args

import click

from staleproof.cli.signals import cancel_on_signals
from staleproof.drive.cluster.control_plane import ControlPlane, ControlPlaneOptions, control_plane
from staleproof.drive.cluster.control_plane.attach import VARIABLE, hand_over
from staleproof.drive.cluster.options import ProviderName
from staleproof.drive.programs.build import ensure_built
from staleproof.drive.programs.kubernetes import COMPANIONS, KUBERNETES_VERSION, SERVERS
from staleproof.errors import UsageError
from staleproof.progress import progress_on
from staleproof.settings import ARTEFACTS

RUNS = ARTEFACTS / "control-plane"
STARTED = tuple(name for name in get_args(ProviderName) if name not in ("existing", "attach"))  # what runs is not started


@click.group("control-plane")
def control_plane_group() -> None:
    """etcd, kube-apiserver and the controllers of Kubernetes for tests."""


@control_plane_group.command("path")
def path_command() -> None:
    """Print the folder that holds them (and kube-controller-manager, kube-scheduler and kwok); build them when needed."""
    click.echo(_built())


@control_plane_group.command("build")
def build_command() -> None:
    """Build the programs into the cache, unless they are there."""
    entry = _built()
    click.echo(f"Kubernetes {KUBERNETES_VERSION} is in {entry}", err=True)


@control_plane_group.command("start")
@click.option(
    "--provider",
    type=click.Choice(STARTED),
    default="auto",
    show_default=True,
    help="Where the control plane comes from; auto takes the first that works.",
)
@click.option("--image", default="", help="For the container provider; empty means its default.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help=f"For the kubeconfig and the logs; left out, a new folder under {RUNS}.",
)
@click.option(
    "--attach",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Write into this file how runs with {VARIABLE}=FILE in their environment use the control plane, one after the other.",
)
def start_command(provider: ProviderName, image: str, folder: Path | None, attach: Path | None) -> None:
    """Start a control plane, print how to use it, and stop it at Ctrl-C or TERM."""
    options = ControlPlaneOptions(provider=provider, image=image)
    folder = folder or RUNS / f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}"
    asyncio.run(_serve(options, folder.resolve(), attach))


def _built() -> Path:
    return asyncio.run(ensure_built(SERVERS, COMPANIONS, progress=progress_on(sys.stderr)))


async def _serve(options: ControlPlaneOptions, folder: Path, attach: Path | None) -> None:
    kubeconfig, written = folder / "kubeconfig", dict[Path, bytes]()
    if kubeconfig.exists():
        raise UsageError(f"{kubeconfig} is there already, and would be overwritten; take it away, or name another --folder")
    cancel_on_signals()  # even while it is being built or started: whatever is open is closed in order
    try:
        async with control_plane(options, folder, progress_on(sys.stderr)) as plane:
            plane.write_kubeconfig(kubeconfig)
            written[kubeconfig] = kubeconfig.read_bytes()
            if attach is not None:
                hand_over(plane, attach)
                written[attach] = attach.read_bytes()
            click.echo(_usage(plane, kubeconfig))
            await asyncio.Event().wait()
    except asyncio.CancelledError:
        click.echo(f"Stopped. The logs are in {folder}", err=True)
    finally:
        for path, data in written.items():
            if path.is_file() and path.read_bytes() == data:  # another may have taken its place
                path.unlink()  # its token is worth nothing any more


def _usage(plane: ControlPlane, kubeconfig: Path) -> str:
    return f"""kubeconfig: {kubeconfig}
server: {plane.server}
version: {plane.version}
provider: {plane.provider} ({plane.why})
logs: {plane.log_folder}
Try: kubectl --kubeconfig={kubeconfig} get namespaces
Ctrl-C stops it."""
