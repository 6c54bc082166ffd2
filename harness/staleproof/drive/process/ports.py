"""Which TCP ports the processes of a group listen on, as Linux reports."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_TABLES = ("tcp", "tcp6")
_LISTENS = "0A"
_ADDRESS, _STATE, _INODE = 1, 3, 9


def listening(group: int) -> frozenset[int] | None:
    """The ports; None where the system does not tell."""
    tables = [path for name in _TABLES if (path := _PROC / "net" / name).is_file()]
    if not tables:
        return None
    sockets = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    ports = {each[_INODE]: int(each[_ADDRESS].rpartition(":")[2], 16) for each in sockets if each[_STATE] == _LISTENS}
    own = {inode for process in _members(group) for inode in _sockets(process)}
    return frozenset(port for inode, port in ports.items() if inode in own)


def _members(group: int) -> Iterator[Path]:
    for process in _PROC.iterdir():
        if process.name.isdigit():
            with suppress(ProcessLookupError, PermissionError):
                if os.getpgid(int(process.name)) == group:
                    yield process


def _sockets(process: Path) -> Iterator[str]:
    """The inodes of its sockets; none of a process that has gone, or belongs to another user."""
    with suppress(OSError):
        for file in (process / "fd").iterdir():
            with suppress(OSError):
                target = os.readlink(file)
                if target.startswith("socket:["):
                    yield target.removeprefix("socket:[").removesuffix("]")
