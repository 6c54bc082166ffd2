"""How long a trial is waited for."""

import dataclasses

import pytest
from msgspec.structs import replace

from staleproof.assess.patience import converged, deadline, may_need
from staleproof.core.entry import Released, Settled
from staleproof.core.history import History
from staleproof.core.plan import Settle

from ..judged import result


@pytest.fixture(scope="module")
def innocent() -> History:
    return result("expectations-hidden-creates").history


def settling_in(reference: History, seconds: float) -> History:
    return dataclasses.replace(reference, entries=(Released(at=10.0), Settled(at=10.0 + seconds, ok=True)))


@pytest.mark.parametrize(("took", "expected"), [((), 30.0), ((0.5, 0.1), 30.0), ((0.5, 20.0), 100.0)])
def test_the_deadline_is_the_plans_or_several_times_what_the_references_took(
    took: tuple[float, ...], expected: float, innocent: History
) -> None:
    plan = replace(innocent.header.plan, settle=Settle(deadline_seconds=30.0))
    assert deadline(plan, [settling_in(innocent, seconds) for seconds in took]) == expected


def test_a_trial_has_converged_when_it_is_like_the_references_end(innocent: History) -> None:
    missing = converged(innocent.references)
    assert missing({}) != ""


def test_nothing_is_needed_before_the_release_or_by_who_never_wrote(innocent: History) -> None:
    assert may_need(dataclasses.replace(innocent, entries=())) == 0.0
    assert may_need(dataclasses.replace(innocent, entries=(Released(at=1.0),))) == 0.0
    assert may_need(innocent) > 0.0
