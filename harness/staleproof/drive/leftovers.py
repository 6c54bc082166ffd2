"""Containers of dead runs: how they are known, and when they are removed.

What is guaranteed when the harness is killed with SIGKILL: with testcontainers' Ryuk its containers go within seconds.
Without Ryuk (TESTCONTAINERS_RYUK_DISABLED=true) they run on until the next run on the same machine (same host name and
PID namespace) starts a container, which removes all those whose run is dead. Nobody sweeps up after a machine, or a CI
container, that never comes back: `docker ps --filter label=staleproof.run` shows what is left.
"""

import os
import platform
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from docker import DockerClient  # type: ignore[import-untyped]
from docker.errors import APIError  # type: ignore[import-untyped]

RUN_LABEL = "staleproof.run"


def labels() -> dict[str, str]:
    """For a container of this process: where, which process id, and when that process was born."""
    return {RUN_LABEL: f"{_here()}/{os.getpid()}/{_born(os.getpid())}"}


def sweep(client: DockerClient) -> None:
    for found in client.containers.list(all=True, filters={"label": RUN_LABEL}, ignore_removed=True):
        if is_leftover(found.labels[RUN_LABEL], _here(), _born):
            with suppress(APIError):  # another run removes it at the same time
                found.remove(force=True, v=True)


def is_leftover(label: str, here: str, born: Callable[[int], str]) -> bool:
    """Whether the run that a label names is dead, as far as `here` can be judged; `born` is "" for no such process."""
    place, _, rest = label.partition("/")
    pid, _, birth = rest.partition("/")
    return place == here and pid.isdigit() and born(int(pid)) != birth


def _here() -> str:
    """Where a process id means the same process: the host and, in containers, their PID namespace."""
    with suppress(OSError):
        return f"{platform.node()} {os.readlink('/proc/self/ns/pid')}"
    return platform.node()


def _born(pid: int) -> str:
    """When a process started, in the kernel's ticks: process ids are used again."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""
