"""What dead runs leave on this machine: how it is recognised, and the removal of their containers (`private` removes folders).

A run is known by its place, its process id and when that process was born. Without /proc no birth is known, and nothing is ever
taken for dead.

When the harness dies, be it of SIGKILL, the sweeper removes its containers within seconds (`sweeper`), and testcontainers' Ryuk a
little later. Where the sweeper dies as well, with a CI container for example, and there is no Ryuk
(TESTCONTAINERS_RYUK_DISABLED=true), they run on until the next run on the same machine (same host name and PID namespace) starts a
container and removes those of dead runs. Nothing sweeps up after a machine, or a CI container, that never comes back:
`docker ps --filter label=staleproof.run` shows what is left.
"""

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from docker import DockerClient  # type: ignore[import-untyped]

RUN_LABEL = "staleproof.run"
SWEEPER = Path(__file__).with_name("sweeper.py")
_LOCK = Lock()


def this_run() -> str:
    """The label of the run that this process is."""
    return f"{here()}/{os.getpid()}/{born(os.getpid())}"


def is_orphan(label: str, here: str, born: Callable[[int], str]) -> bool:
    """Whether the run that a label names is dead, as far as `here` can tell; `born` answers "" for a process that is gone."""
    place, _, rest = label.partition("/")
    pid, _, birth = rest.partition("/")
    return place == here and pid.isdigit() and born(int(pid)) != birth


def here() -> str:
    """The place where a process id means the same process: the host and, in containers, their PID namespace."""
    with suppress(OSError):
        return f"{platform.node()} {os.readlink('/proc/self/ns/pid')}"
    return platform.node()


def born(pid: int) -> str:
    """When a process started, in the kernel's ticks: process ids are used again."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def reap_containers(client: "DockerClient") -> None:
    """Remove the containers of dead runs."""
    from docker.errors import APIError  # type: ignore[import-untyped]  # imported only where containers are used

    for found in client.containers.list(all=True, filters={"label": RUN_LABEL}, ignore_removed=True):
        if is_orphan(found.labels[RUN_LABEL], here(), born):
            with suppress(APIError):  # another run removes it at the same time
                found.remove(force=True, v=True)


def tell_sweeper(word: Literal["+", "-"]) -> None:
    """Have the containers of this run counted by the process that removes what is left of them: `+` before one is made, `-` once it
    has been removed."""
    with _LOCK, suppress(OSError):  # it was killed
        stream = _sweeper().stdin
        if stream is not None:
            os.write(stream.fileno(), word.encode())


@cache
def _sweeper() -> subprocess.Popen[bytes]:
    """The one that serves this process. It is in a session of its own, to which no terminal sends signals."""
    argv = [sys.executable, "-P", str(SWEEPER), f"{RUN_LABEL}={this_run()}"]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, bufsize=0, start_new_session=True)
