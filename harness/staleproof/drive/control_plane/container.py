"""The `container` provider: etcd and kube-apiserver as containers.

The seam: `applies` tells the automatic choice whether and why this provider can be taken, `run` has the shape of every
provider (`provider.Provider`).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from staleproof.errors import SetupError

from .plane import ControlPlane, ControlPlaneOptions
from .progress import Progress


async def applies(options: ControlPlaneOptions) -> str | None:
    """Never chosen automatically as long as it is not available."""
    return None


@asynccontextmanager
async def run(options: ControlPlaneOptions, folder: Path, progress: Progress, *, why: str) -> AsyncIterator[ControlPlane]:
    raise SetupError("the container provider is not available in this version; choose auto, assets, cache or build.")
    yield  # makes this a generator, which the decorator wants
