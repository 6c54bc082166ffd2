"""What a measurement needs: a control plane, a proxy in front of it, and a terminal to say what is going on."""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from staleproof.assess.run.blame import known
from staleproof.drive.cluster.access import Access
from staleproof.drive.cluster.api import Api, connect
from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER, ControlPlane, ControlPlaneOptions, control_plane
from staleproof.drive.proxy.client import Proxy
from staleproof.drive.proxy.launch import proxy
from staleproof.errors import SetupError, UsageError
from staleproof.progress import progress_on

from .client import Address
from .tally import Tally

BODY_BYTES = 1_150  # with metadata and managedFields a frame is about 1.5 kB
_SETUP_FAILED = 11
_STDERR = Console(stderr=True)
T = TypeVar("T")


def say(text: str) -> None:
    """On stderr, as it is."""
    _STDERR.print(text, markup=False, highlight=False, soft_wrap=True)


def run(name: str, measure: Callable[[Path], Coroutine[None, None, T]]) -> T:
    """What comes of a measurement in a folder of its own; exits when the surroundings do not allow it."""
    with tempfile.TemporaryDirectory(prefix=f"staleproof-{name}-") as folder:
        try:
            return asyncio.run(measure(Path(folder)))
        except Exception as err:
            if not isinstance(cause := known(err), SetupError | UsageError):
                raise
            say(f"{name}: {cause}")
            sys.exit(_SETUP_FAILED)


def started_control_plane(folder: Path) -> AbstractAsyncContextManager[ControlPlane]:
    return control_plane(ControlPlaneOptions(), folder / "control-plane", progress_on(sys.stderr))


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured. `seconds`: what the rounds of one measurement may take; then no other begins, if there has been one."""

    events: int
    rounds: int
    writes: int
    seconds: float = float("inf")


@dataclass(frozen=True, slots=True)
class Rig:
    """A proxy, both ways to the kube-apiserver behind it, and the tally of what the proxy says. `api` is direct."""

    api: Api
    direct: Address
    proxied: Address
    proxy: Proxy
    tally: Tally

    @property
    def pid(self) -> int:
        """The proxy's."""
        return self.proxy.process.pid


@asynccontextmanager
async def started_proxy(plane: ControlPlane, folder: Path) -> AsyncIterator[Rig]:
    runner, tally = plane.access(RUNNER), Tally()
    async with (
        connect(plane.server, runner.tls(), runner.headers) as api,
        proxy(plane, folder / "proxy", tally.take, log=folder / "proxy.log") as running,
    ):
        controller = Access(server=running.server, ca_file=running.ca_file, token=plane.tokens[CONTROLLER])
        yield Rig(api, Address.of(runner), Address.of(controller), running, tally)


async def rounds(name: str, sizes: Sizes, measure: Callable[[], Awaitable[T]]) -> list[T]:
    """So many rounds and one before them, which is thrown away: it pays for handshakes and for what is made only once."""
    found: list[T] = []
    began = time.monotonic()
    while len(found) <= sizes.rounds and (len(found) < 2 or time.monotonic() - began < sizes.seconds):
        say(f"{name}: round {len(found)} of {sizes.rounds}")
        found.append(await measure())
    return found[1:]
