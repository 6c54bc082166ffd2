"""Until when a run may run plans: for so many minutes, or until it is to stop."""

import math
from collections.abc import Callable

from staleproof.assess.store.run_folder import RunFolder
from staleproof.core.times import CLOSING_FACTOR, CLOSING_SECONDS

_LONG_PAST = 0.0
"""On the monotonic clock."""


def end_of(run: RunFolder, minutes: float | None, *, began: float) -> Callable[[], float]:
    """Says when nothing is run any more, on the monotonic clock, which the workers share; infinite if the minutes of the run are
    not limited, and long past once any worker has stopped it. Then everything is stopped and the report is written, which is part
    of the run's time. What had to be built first is not."""
    seconds = math.inf if minutes is None else 60 * minutes
    last = began + seconds - min(CLOSING_SECONDS, CLOSING_FACTOR * seconds)
    return lambda: _LONG_PAST if run.is_stopped else last + run.built_seconds()
