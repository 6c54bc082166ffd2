"""Which provider gives the control plane.

It decides the order in which providers are asked and says why one was taken; each provider decides for itself whether
it applies. A further provider is a row in the table.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from staleproof.errors import HarnessBug, SetupError, UsageError

from . import assets, build, cache, container, existing
from .local import run_local
from .plane import ControlPlane, ControlPlaneOptions
from .progress import Progress


class Run(Protocol):
    """Start, yield, stop."""

    def __call__(
        self, options: ControlPlaneOptions, folder: Path, progress: Progress, *, why: str
    ) -> AbstractAsyncContextManager[ControlPlane]: ...


@dataclass(frozen=True, slots=True)
class Provider:
    """`applies` is asked in automatic choice only: one line why this provider is taken, or None to ask the next."""

    name: str
    applies: Callable[[ControlPlaneOptions], Awaitable[str | None]]
    run: Run


async def choose(options: ControlPlaneOptions) -> tuple[Provider, str]:
    """The one asked for, else the first that applies, with the reason."""
    if options.provider != "auto":
        found = [provider for provider in PROVIDERS if provider.name == options.provider]
        if not found:
            names = ", ".join(["auto", *(provider.name for provider in PROVIDERS)])
            raise UsageError(f"expected a control plane provider ({names}), found {options.provider!r}; name one of them.")
        return found[0], "asked for"
    for provider in PROVIDERS:
        why = await provider.applies(options)
        if why is not None:
            return provider, why
    raise HarnessBug("no control plane provider applied, though the last one always does")


@asynccontextmanager
async def control_plane(options: ControlPlaneOptions, folder: Path, progress: Progress) -> AsyncIterator[ControlPlane]:
    """A ready control plane, stopped in order when the block is left; logs stay in `folder`."""
    provider, why = await choose(options)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise SetupError(f"the run folder {folder} cannot be made: {err.strerror}; choose another.") from err
    async with provider.run(options, folder, progress, why=why) as plane:
        yield plane


async def _existing_applies(options: ControlPlaneOptions) -> str | None:
    return None if options.kubeconfig is None else f"the kubeconfig {options.kubeconfig} was given"


async def _assets_apply(options: ControlPlaneOptions) -> str | None:
    return assets.assets_named(os.environ)


@asynccontextmanager
async def _run_assets(options: ControlPlaneOptions, folder: Path, progress: Progress, *, why: str) -> AsyncIterator[ControlPlane]:
    async with run_local(assets.find_assets(os.environ, why=why), folder, progress) as plane:
        yield plane


async def _cache_applies(options: ControlPlaneOptions) -> str | None:
    entry = cache.entry_folder(cache.cache_root(os.environ), options.version)
    return None if await asyncio.to_thread(cache.what_is_wrong, entry) else f"{entry} holds it"


@asynccontextmanager
async def _run_cache(options: ControlPlaneOptions, folder: Path, progress: Progress, *, why: str) -> AsyncIterator[ControlPlane]:
    found = await asyncio.to_thread(cache.find_cached, cache.cache_root(os.environ), options.version, why=why)
    async with run_local(found, folder, progress) as plane:
        yield plane


async def _build_applies(options: ControlPlaneOptions) -> str | None:
    """Always; and it says what is wrong with an entry that was passed over."""
    entry = cache.entry_folder(cache.cache_root(os.environ), options.version)
    return f"{await asyncio.to_thread(cache.what_is_wrong, entry) or 'another process just built it'}; nothing else was named"


@asynccontextmanager
async def _run_build(options: ControlPlaneOptions, folder: Path, progress: Progress, *, why: str) -> AsyncIterator[ControlPlane]:
    entry = await build.ensure_built(options.version, progress)
    async with run_local(cache.binaries_in(entry, provider="build", why=why), folder, progress) as plane:
        yield plane


# In the order of automatic choice: what the user named, what is there, what can be had quickly, what takes minutes.
# `download` (envtest archives) will have its row before `build`.
PROVIDERS = (
    Provider("existing", _existing_applies, existing.run),
    Provider("assets", _assets_apply, _run_assets),
    Provider("cache", _cache_applies, _run_cache),
    Provider("container", container.applies, container.run),
    Provider("build", _build_applies, _run_build),
)
