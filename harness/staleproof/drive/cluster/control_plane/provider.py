"""Which provider gives the control plane.

It decides the order in which providers are asked, and says why one was taken; each provider decides for itself whether it applies.
All but `existing` and `attach` find programs, which `local` runs. A further provider is a module and a name.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol, get_args

from staleproof.drive.cluster.options import ControlPlaneOptions, ProviderName
from staleproof.drive.programs.progress import Progress
from staleproof.errors import HarnessBug, SetupError, UsageError

from . import assets, attach, build, cache, existing
from .local import Binaries, run_local
from .plane import CONTROLLER, ControlPlane


class Provider(Protocol):
    """A module of this package."""

    async def applies(self, options: ControlPlaneOptions) -> str | None:
        """Asked in automatic choice only: one line why this provider is taken, or None to ask the next."""
        ...


class Finder(Provider, Protocol):
    """One that knows where programs are, or can be had."""

    async def find(self, options: ControlPlaneOptions, progress: Progress, *, why: str) -> Binaries: ...


class Runner(Provider, Protocol):
    """One that uses a control plane that runs already."""

    def use(self, options: ControlPlaneOptions, folder: Path, *, why: str) -> AbstractAsyncContextManager[ControlPlane]: ...


_RUNNERS: dict[ProviderName, Runner] = {"existing": existing, "attach": attach}
PROVIDERS: tuple[ProviderName, ...] = get_args(ProviderName)[1:]
"""In the order of automatic choice: what the user named, what is there, what can be had quickly, what takes minutes. `download`
(envtest archives) will have its place before `build`."""


def _finder(name: ProviderName) -> Finder | None:
    """The module of this name; None for those that find no programs."""
    if name == "container":
        from . import container  # testcontainers takes longer to import than all the rest, and few runs need it

        return container
    return {"assets": assets, "cache": cache, "build": build}.get(name)


async def choose(options: ControlPlaneOptions) -> tuple[ProviderName, str]:
    """The name of the one asked for, else of the first that applies; with the reason. UsageError when there is none of that
    name."""
    if options.provider in PROVIDERS:
        return options.provider, "asked for"
    if options.provider != "auto":
        names = ", ".join(get_args(ProviderName))
        raise UsageError(f"expected a control plane provider ({names}), found {options.provider!r}; name one of them.")
    for name in PROVIDERS:
        provider: Provider = _finder(name) or _RUNNERS[name]
        why = await provider.applies(options)
        if why is not None:
            return name, why
    raise HarnessBug("no control plane provider applied, though the last one always does")


@asynccontextmanager
async def control_plane(options: ControlPlaneOptions, folder: Path, progress: Progress) -> AsyncIterator[ControlPlane]:
    """A ready control plane, stopped in order when the block is left; logs stay in `folder`."""
    name, why = await choose(options)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise SetupError(f"the run folder {folder} cannot be made: {err.strerror}; choose another.") from err
    running: AbstractAsyncContextManager[ControlPlane]
    if finder := _finder(name):
        accounts = {CONTROLLER: options.service_account} if options.service_account else {}
        running = run_local(await finder.find(options, progress, why=why), folder, progress, accounts=accounts)
    else:
        running = _RUNNERS[name].use(options, folder, why=why)
    async with running as plane:
        yield plane
