"""What is built before a run, and where that is shown.

Workers are silent, and all would wait for the one that builds. So the controlling process builds what they will need, before it
sends them the first test.
"""

import asyncio
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import pytest

from staleproof.assess.configuration import control_plane_options
from staleproof.assess.run.budget import starting
from staleproof.assess.run.doing import BuildProgress, Doing
from staleproof.assess.store.run_folder import RunFolder
from staleproof.core.operator.companion import PROVISIONER
from staleproof.drive.cluster.control_plane.provider import choose
from staleproof.drive.cluster.options import ControlPlaneOptions, ProviderName
from staleproof.drive.programs.build import ensure_built
from staleproof.drive.programs.kubernetes import COMPANIONS, SERVERS, MultiCall
from staleproof.drive.programs.progress import Progress
from staleproof.errors import SetupError, UsageError
from staleproof.plugin import WATCHING
from staleproof.plugin.options import settings_of
from staleproof.plugin.outcome import begun
from staleproof.progress import progress_on


def build_for_workers(config: pytest.Config) -> None:
    """Build what is missing. What cannot be built every worker will try again, and say why it is not to be had."""
    settings, run = settings_of(config), RunFolder(begun(config).folder)
    with suppress(SetupError, UsageError), progress_of(config) as progress, starting(run, "for all workers"):
        asyncio.run(_build(control_plane_options(settings), settings.companions, progress))
    begun(config).tell(Doing())


@contextmanager
def progress_of(config: pytest.Config) -> Iterator[Progress]:
    """Where builds are shown: with the rest of the run if that can be watched; in a run of other tests in a line of their own."""
    if hasattr(config, "workerinput") or config.pluginmanager.has_plugin(WATCHING):
        yield BuildProgress(begun(config).tell)
    else:
        with screen(config) as stream:
            yield progress_on(stream)


@contextmanager
def screen(config: pytest.Config) -> Iterator[TextIO]:
    """The standard error stream of this process, also while pytest captures what tests write. Only while it does not capture."""
    terminal: Any = config.pluginmanager.getplugin("terminalreporter")
    if terminal is not None:
        terminal.ensure_newline()
    with open(os.dup(2), "w") as stream:
        yield stream


def needed(provider: ProviderName, companions: Collection[str]) -> tuple[MultiCall, ...]:
    """What a run needs of what can be built, given where its control plane comes from and which companions it names."""
    beside = (COMPANIONS,) if set(companions) - {PROVISIONER} else ()
    return {"build": (SERVERS, *beside), "existing": ()}.get(provider, beside)


async def _build(options: ControlPlaneOptions, companions: Collection[str], progress: Progress) -> None:
    provider, _ = await choose(options)
    await ensure_built(*needed(provider, companions), progress=progress)
