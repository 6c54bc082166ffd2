"""Which resources were late while something of another one was shown."""

import pytest

from staleproof.checks.facts.lags import lags
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Withheld

from ..script import WIDGETS, Script, trial


def held() -> Script:
    """Pods are held from here on, and one is created unseen."""
    return trial().step(1, "apply").applied("w").hold().creates("w-a")


CASES: dict[str, tuple[Script, list[tuple[str, list[str]]]]] = {
    "a primary is shown while its children are late": (held().applied("w", spec=2), [("pods", [WIDGETS])]),
    "each resource that was ahead is named once": (
        held().applied("w", spec=2).applied("w", spec=3).made("c", "configmaps"),
        [("pods", [WIDGETS, "configmaps"])],
    ),
    "nothing of another resource was shown": (held().creates("w-b"), []),
    "it had caught up by then": (held().let_go().applied("w", spec=2), []),
    "a list catches up, too": (held().relist().applied("w", spec=2), []),
    "it is late a second time": (
        held().applied("w", spec=2).let_go().hold().creates("w-b").applied("w", spec=3),
        [("pods", [WIDGETS]), ("pods", [WIDGETS])],
    ),
    "a new life has nothing to catch up with": (held().restarted().applied("w", spec=2), []),
    "leases are never ahead": (held().made("l", "leases.coordination.k8s.io"), []),
    "what comes after the settling does not count": (held().released().settled().applied("w", spec=2), []),
    "nothing was late": (trial().step(1, "apply").applied("w").creates("w-a").applied("w", spec=2), []),
    "nothing happened": (trial(), []),
}


@pytest.mark.parametrize(("script", "found"), CASES.values(), ids=CASES)
def test_lags(script: Script, found: list[tuple[str, list[str]]]) -> None:
    assert [(lag.behind, lag.ahead) for lag in lags(Trial(script.ends()))] == found


def test_a_lag_says_where_it_began_and_where_something_else_was_shown() -> None:
    script = held().applied("w", spec=2)
    withheld = next(index for index, entry in enumerate(script.entries) if isinstance(entry, Withheld))
    shown = len(script.entries) - 1

    (lag,) = lags(Trial(script.ends()))

    assert (lag.withheld, lag.shown) == (withheld, shown)
