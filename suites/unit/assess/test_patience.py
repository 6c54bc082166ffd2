"""How long a trial is waited for."""

from dataclasses import replace

import pytest

from staleproof.assess.patience import converged, deadline, may_need
from staleproof.core.entry import Released, Settled
from staleproof.core.history import History

from ..judged import result


@pytest.fixture(scope="module")
def innocent() -> History:
    return result("expectations-hidden-creates").history


def settling_in(reference: History, seconds: float) -> History:
    return replace(reference, entries=(Released(at=10.0), Settled(at=10.0 + seconds, ok=True)))


@pytest.mark.parametrize(("took", "more"), [((0.5, 0.1), False), ((0.5, 20.0), True), ((), False)])
def test_the_deadline_is_the_plans_or_several_times_what_the_references_took(
    took: tuple[float, ...],
    more: bool,
    innocent: History,  # noqa: FBT001  # a column
) -> None:
    plan = innocent.header.plan
    found = deadline(plan, [settling_in(innocent, seconds) for seconds in took])
    assert found == (100.0 if more else plan.settle.deadline_seconds)


def test_a_trial_has_converged_when_it_is_like_the_references_end(innocent: History) -> None:
    missing = converged(innocent.references)
    assert missing({}) != ""


def test_nothing_is_needed_before_the_release_or_by_who_never_wrote(innocent: History) -> None:
    assert may_need(replace(innocent, entries=())) == 0.0
    assert may_need(replace(innocent, entries=(Released(at=1.0),))) == 0.0
    assert may_need(innocent) > 0.0
