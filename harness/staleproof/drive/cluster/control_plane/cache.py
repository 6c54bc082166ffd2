"""The `cache` provider: programs that staleproof built before, in the user's cache folder."""

import asyncio
import os
from pathlib import Path

from staleproof.drive.cluster.options import ControlPlaneOptions
from staleproof.drive.programs.cache import CACHE_VARIABLE, cache_root
from staleproof.drive.programs.kubernetes import SERVERS, entry_folder, what_is_wrong
from staleproof.drive.programs.progress import Progress
from staleproof.errors import SetupError

from .local import Binaries


async def applies(options: ControlPlaneOptions) -> str | None:
    entry = entry_folder(cache_root(os.environ), options.version)
    return None if await asyncio.to_thread(what_is_wrong, entry, SERVERS) else f"{entry} holds it"


async def find(options: ControlPlaneOptions, progress: Progress, *, why: str) -> Binaries:
    return await asyncio.to_thread(find_cached, cache_root(os.environ), options.version, why=why)


def find_cached(root: Path, version: str, *, why: str) -> Binaries:
    """The two programs; SetupError when they are not there whole."""
    entry = entry_folder(root, version)
    problem = what_is_wrong(entry, SERVERS)
    if problem is not None:
        raise SetupError(
            f"the cache provider cannot be used: {problem}. Run `staleproof control-plane build` to make it "
            f"(or set {CACHE_VARIABLE} to the folder that has it)."
        )
    return binaries_in(entry, provider="cache", why=why)


def binaries_in(entry: Path, *, provider: str, why: str) -> Binaries:
    return Binaries(etcd=entry / "etcd", kube_apiserver=entry / "kube-apiserver", provider=provider, why=why)
