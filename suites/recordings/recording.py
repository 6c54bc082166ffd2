"""What a program writes to a terminal of a given size, and when."""

import fcntl
import os
import pty
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

_ROWS = 40


@dataclass(frozen=True, slots=True)
class Recording:
    """`written` has (seconds since the start, what came then); `columns` is how wide the terminal was."""

    columns: int
    written: tuple[tuple[float, str], ...]
    exit_code: int


def record(command: Sequence[str], columns: int, environ: Mapping[str, str], folder: str) -> Recording:
    """Run a command in a folder, in a terminal so wide, to its end."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe(command[0], list(command), dict(environ))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, columns, 0, 0))
    began, written = time.monotonic(), list[tuple[float, str]]()
    left = b""
    with suppress(OSError):  # which says that the other end is closed
        while data := os.read(terminal, 1 << 16):
            text, left = _whole(left + data)
            written.append((round(time.monotonic() - began, 2), text))
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return Recording(columns, tuple(written), os.waitstatus_to_exitcode(status))


def _whole(data: bytes) -> tuple[str, bytes]:
    """The text so far, and the beginning of a character whose rest is still to come."""
    for cut in range(min(4, len(data) + 1)):
        with suppress(UnicodeDecodeError):
            return data[: len(data) - cut].decode(), data[len(data) - cut :]
    return data.decode(errors="replace"), b""
