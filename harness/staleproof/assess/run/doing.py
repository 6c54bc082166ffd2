"""What a worker is doing, for a user who watches the run. It decides nothing about how that looks."""

import time
from collections.abc import Callable
from typing import Literal

import msgspec

from staleproof.core.times import LOOK_SECONDS
from staleproof.drive.programs.progress import Progress

Phase = Literal[
    "waiting", "building", "control plane", "learning the operator", "references", "trial", "confirming", "shrinking", "stopping"
]
"""In the order in which a worker may come to them. References are the fault-free runs that a trial is compared with; what confirms
a finding is run only because of it."""


class Doing(msgspec.Struct, frozen=True, omit_defaults=True):
    """A phase, and what is done in it, in words: a plan's title, a sample. `done` of `total`: how far a build is; a total of 0 is
    not known."""

    phase: Phase = "waiting"
    what: str = ""
    done: int = 0
    total: int = 0


Tell = Callable[[Doing], None]
"""Takes what a worker does from now on."""


def discard(_: Doing) -> None:
    """For a run that has no display."""


class BuildProgress(Progress):
    """Reports builds, as often as a person looks, and not for each of a thousand packages."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._title, self._total, self._said_at = "", 0, 0.0

    def begin(self, title: str, total: int | None) -> None:
        self._title, self._total = title, total or 0
        self._say(0)

    def advance(self, done: int) -> None:
        if done == self._total or time.monotonic() >= self._said_at + LOOK_SECONDS:
            self._say(done)

    def _say(self, done: int) -> None:
        self._said_at = time.monotonic()
        self._tell(Doing("building", self._title, done, self._total))
