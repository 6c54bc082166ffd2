"""Until when a run may run plans: for so many minutes, or until it is to stop."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from staleproof.assess.store.run_folder import RunFolder
from staleproof.core.times import BUILT_SECONDS, CLOSING_FACTOR, CLOSING_SECONDS

_LONG_PAST = 0.0
"""On the monotonic clock."""


def end_of(run: RunFolder, minutes: float | None, *, began: float) -> Callable[[], float]:
    """Says when nothing is run any more, on the monotonic clock, which the workers share; infinite if the minutes of the run are
    not limited, and long past once any worker has stopped it. Then everything is stopped and the report is written, which is part
    of the run's time. What had to be built first is not."""

    def ends() -> float:
        if run.is_stopped:
            return _LONG_PAST
        if minutes is None:
            return math.inf
        seconds = 60 * minutes
        return began + seconds - min(CLOSING_SECONDS, CLOSING_FACTOR * seconds) + run.built_seconds()

    return ends


@contextmanager
def starting(run: RunFolder, what: str, *, by: str = "") -> Iterator[None]:
    """While the block lasts, this worker (empty: the only process, or the controlling one) waits until something has started. If
    that is so long that it was built first, it is not counted as the run's time."""
    began = time.monotonic()
    try:
        yield
    finally:
        took = time.monotonic() - began
        if took >= BUILT_SECONDS:
            run.note_built(what, took, by=by)
