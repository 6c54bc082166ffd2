"""Until when a run may run plans, if its minutes are limited."""

import math
from collections.abc import Callable

from staleproof.assess.store.run_folder import RunFolder
from staleproof.core.times import CLOSING_FACTOR, CLOSING_SECONDS


def end_of(run: RunFolder, minutes: float | None, *, began: float) -> Callable[[], float]:
    """Says when nothing is run any more, on the monotonic clock, which the workers share; infinite if the minutes of the run are
    not limited. Then everything is stopped and the report is written, which is part of the run's time. What had to be built first
    is not."""
    if minutes is None:
        return lambda: math.inf
    seconds = 60 * minutes
    last = began + seconds - min(CLOSING_SECONDS, CLOSING_FACTOR * seconds)
    return lambda: last + run.built_seconds()
