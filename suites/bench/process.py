"""What the kernel says about a process: CPU time, memory, open files. Reads /proc and decides nothing."""

import os
from dataclasses import dataclass
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def forget_peak(pid: int) -> None:
    """Make `peak_mb` start again from here (proc(5), clear_refs)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def peak_mb(pid: int) -> float:
    """The peak of the resident memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


@dataclass(frozen=True, slots=True)
class Handles:
    """What else a process can leak, besides memory."""

    files: int
    sockets: int
    threads: int

    @classmethod
    def of(cls, pid: int) -> "Handles":
        targets = [_target(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
        sockets = sum(target.startswith("socket:") for target in targets)
        return cls(len(targets), sockets, len(list(Path(f"/proc/{pid}/task").iterdir())))


def _target(link: Path) -> str:
    """Where a link leads; empty if it was closed in the meantime."""
    try:
        return os.readlink(link)
    except FileNotFoundError:
        return ""
