"""A night: commands one after the other, each to its end, whatever became of those before it. INT and TERM end it early."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from .commands import Command, absent, reduced

GRACE_SECONDS = 30.0
"""That a command has for ending by itself: three times what a run of staleproof takes."""
_TICK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    seconds: float | None
    result: str
    failed: bool = False


@dataclass(slots=True)
class Night:
    root: Path
    grace_seconds: float = GRACE_SECONDS
    rows: list[Row] = field(default_factory=list)
    stopped_by: signal.Signals | None = None

    def stop(self, number: int, _frame: FrameType | None = None) -> None:
        """What a signal calls: nothing more begins, and what runs is ended."""
        self.stopped_by = signal.Signals(number)

    def spend(self, commands: Sequence[Command]) -> None:
        for command in commands:
            self.rows.append(Row(command.name, None, "not begun") if self.stopped_by else self._row(command))

    def _row(self, command: Command) -> Row:
        if reason := absent(self.root, command):
            _say(f"ci/{command.name}: left out, {reason}")
            return Row(command.name, None, f"left out: {reason}")
        note = reduced(command)
        _say(f"ci/{command.name}" + (f", {note}" if note else ""))
        began = time.monotonic()
        code = self._run(command)
        seconds = time.monotonic() - began
        if self.stopped_by:
            return Row(command.name, seconds, f"interrupted ({self.stopped_by.name})")
        result = "passed" if code == 0 else f"failed, exit code {code}"
        return Row(command.name, seconds, f"{result}, {note}" if note else result, failed=code != 0)

    def _run(self, command: Command) -> int:
        """In a group of its own, so that a signal can be sent to all of it, as a terminal does, and comes once."""
        child = subprocess.Popen([self.root / "ci" / command.name], cwd=self.root, stdin=subprocess.DEVNULL, process_group=0)
        while self.stopped_by is None:
            with suppress(subprocess.TimeoutExpired):
                return child.wait(_TICK_SECONDS)
        self._end(child, self.stopped_by)
        return child.returncode

    def _end(self, child: subprocess.Popen[bytes], number: signal.Signals) -> None:
        deadline = time.monotonic() + self.grace_seconds
        alive = _send(child.pid, number)
        while alive and time.monotonic() < deadline:
            child.poll()  # else it would stay in its group, though it is dead
            threading.Event().wait(_TICK_SECONDS)
            alive = _send(child.pid, 0)
        _send(child.pid, signal.SIGKILL)
        child.wait()


def _send(group: int, number: int) -> bool:
    """Whether there was any process in this group."""
    with suppress(ProcessLookupError):
        os.killpg(group, number)
        return True
    return False


def _say(text: str) -> None:
    sys.stderr.write(f"\n==== {text}\n")
    sys.stderr.flush()
