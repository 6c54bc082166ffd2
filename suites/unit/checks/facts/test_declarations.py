"""What is declared of external systems."""

import pytest

from staleproof.checks.facts.declarations import may_take, polls, repairs
from staleproof.checks.trial import Trial

from ..outside import EVERY_5, EVERY_MINUTE, NEVER, NO_POLLS, WITHIN_5, Outside


def trial(*declared: object) -> Trial:
    return Trial(Outside(declared=declared).ends())  # type: ignore[arg-type]


def test_of_a_repair_and_of_looks() -> None:
    assert (repairs(trial(WITHIN_5), "db"), polls(trial(WITHIN_5), "db")) == (5.0, None)
    assert (repairs(trial(EVERY_5), "db"), polls(trial(EVERY_5), "db")) == (None, 5.0)
    assert (repairs(trial(NEVER), "db"), polls(trial(NO_POLLS), "db")) == ("never", "never")
    assert (repairs(trial(WITHIN_5), "other"), polls(trial(), "db")) == (None, None)


@pytest.mark.parametrize(
    ("declared", "gaps", "seconds"),
    [((), (), 5.0), ((), (None, 0.2), 5.0), ((), (0.2, 3.0), 30.0), ((EVERY_MINUTE,), (3.0,), 62.0), ((NEVER,), (), 5.0)],
)
def test_the_longest_counts(declared: tuple[object, ...], gaps: tuple[float | None, ...], seconds: float) -> None:
    assert may_take(trial(*declared), "db", gaps) == seconds
