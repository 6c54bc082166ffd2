"""Containers of dead runs: how they are known, and when they are removed.

What is guaranteed when the harness is killed with SIGKILL: with testcontainers' Ryuk its containers go within seconds.
Without Ryuk (TESTCONTAINERS_RYUK_DISABLED=true) they run on until the next run on the same machine (same host name and
PID namespace) starts a container, which removes all those whose run is dead. Nobody sweeps up after a machine, or a CI
container, that never comes back: `docker ps --filter label=staleproof.run` shows what is left.
"""

from contextlib import suppress

from docker import DockerClient  # type: ignore[import-untyped]
from docker.errors import APIError  # type: ignore[import-untyped]

from staleproof.drive.process.owner import born, here, is_leftover, mine

RUN_LABEL = "staleproof.run"


def labels() -> dict[str, str]:
    """For a container of this process: where, which process id, and when that process was born."""
    return {RUN_LABEL: mine()}


def sweep(client: DockerClient) -> None:
    for found in client.containers.list(all=True, filters={"label": RUN_LABEL}, ignore_removed=True):
        if is_leftover(found.labels[RUN_LABEL], here(), born):
            with suppress(APIError):  # another run removes it at the same time
                found.remove(force=True, v=True)
