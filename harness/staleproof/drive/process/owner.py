"""Whose something is that a run leaves on the machine: a process, known by place, process id and birth; and whether it is dead.

It decides nothing about what is left: containers are removed by `leftovers`, folders by `private`. Where there is no /proc, a
process has no birth, and nothing is ever found dead.
"""

import os
import platform
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def mine() -> str:
    """The label of this process: where, which process id, and when that process was born."""
    return label(here(), os.getpid(), born(os.getpid()))


def label(place: str, pid: int, birth: str) -> str:
    return f"{place}/{pid}/{birth}"


def is_leftover(label: str, here: str, born: Callable[[int], str]) -> bool:
    """Whether the run that a label names is dead, as far as `here` can be judged; `born` is "" for no such process."""
    place, _, rest = label.partition("/")
    pid, _, birth = rest.partition("/")
    return place == here and pid.isdigit() and born(int(pid)) != birth


def here() -> str:
    """Where a process id means the same process: the host and, in containers, their PID namespace."""
    with suppress(OSError):
        return f"{platform.node()} {os.readlink('/proc/self/ns/pid')}"
    return platform.node()


def born(pid: int) -> str:
    """When a process started, in the kernel's ticks: process ids are used again."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""
