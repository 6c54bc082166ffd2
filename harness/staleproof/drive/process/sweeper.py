"""A container's leash: removes the containers of a run that is dead. A script, never imported.

A program dies with the process that holds its leash (`leash`); a container belongs to the engine and does not. The sweeper reads
from standard input, which only the harness holds: a `+` before a container is made, a `-` once it has been removed. The input ends
when the harness does, in any way, SIGKILL included. If containers are left by then, those with the run's label are removed; the
last of them may only come into being a moment later.

    python -P sweeper.py LABEL
"""

import os
import signal
import sys
import threading
from contextlib import closing, suppress

from staleproof.core.times import SWEEP_SECONDS

TRIES = 8


def main(label: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they are meant for the harness, whose end is what counts
    left = 0
    while said := os.read(0, 4096):
        left += said.count(b"+") - said.count(b"-")
    if left > 0:
        sweep(label, left)


def sweep(label: str, left: int) -> None:
    """Remove so many containers with this label."""
    from docker.errors import APIError  # type: ignore[import-untyped]  # hardly ever needed, and imported in half a second
    from testcontainers.core.docker_client import DockerClient

    with closing(DockerClient().client) as client:
        for _ in range(TRIES):
            for found in client.containers.list(all=True, filters={"label": label}, ignore_removed=True):
                with suppress(APIError):  # it goes by itself
                    found.remove(force=True, v=True)
                    left -= 1
            if left <= 0:
                return
            threading.Event().wait(SWEEP_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1])
