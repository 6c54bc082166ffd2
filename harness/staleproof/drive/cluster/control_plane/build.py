"""The `build` provider: etcd and kube-apiserver compiled into the cache."""

import asyncio
import os

from staleproof.drive.cluster.options import ControlPlaneOptions
from staleproof.drive.programs.build import ensure_built
from staleproof.drive.programs.cache import cache_root
from staleproof.drive.programs.kubernetes import SERVERS, entry_folder, what_is_wrong
from staleproof.drive.programs.progress import Progress

from .cache import binaries_in
from .local import Binaries


async def applies(options: ControlPlaneOptions) -> str | None:
    """Always; the reason says what is wrong with an entry of the cache that was passed over."""
    entry = entry_folder(cache_root(os.environ), options.version)
    problem = await asyncio.to_thread(what_is_wrong, entry, SERVERS)
    return f"{problem or 'another process just built it'}; nothing else was named"


async def find(options: ControlPlaneOptions, progress: Progress, *, why: str) -> Binaries:
    entry = await ensure_built(SERVERS, version=options.version, progress=progress)
    return binaries_in(entry, provider="build", why=why)
