"""What strategies draw plans from: the observation of the run's controller, unless another is given."""

from collections.abc import Callable, Sequence

import hypothesis.strategies as st

from staleproof.core.operator.observed import Observed
from staleproof.errors import UsageError

_observe: list[Callable[[], Sequence[Observed]]] = []


def observe_with(observe: Callable[[], Sequence[Observed]]) -> None:
    """Where the observation comes from. The plugin says that, once a run."""
    _observe[:] = [observe]


@st.composite
def observations(draw: st.DrawFn) -> Observed:
    """What the controller of this run was observed to do with one of its samples. UsageError when there is no such run."""
    if not _observe:
        raise UsageError(
            "plans are drawn for a controller, and none was observed: let the test have the fixture `trial`, or give what was "
            "observed, as in plans(observed)"
        )
    return draw(st.sampled_from(list(_observe[0]())))
