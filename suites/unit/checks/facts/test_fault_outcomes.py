"""What became of each planned fault, and whether the plan is about what no API server does."""

import pytest

from staleproof.checks.facts.fault_outcomes import FaultOutcome, fault_outcomes, hostility
from staleproof.core.fault import AnyFault, DropFrame, Expire, HoldStream, PastSnapshot, Reject, Reorder
from staleproof.core.fault.legality import Contract
from staleproof.core.history.entry import Entry, FaultFired, FaultIndex, FaultMissed, FaultRefused
from staleproof.core.history.history import Header, History
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply

HOLD, PAST = HoldStream(resource="pods"), PastSnapshot()
FIRED = FaultFired(at=2.0, fault=FaultIndex(0), on="ADDED pods ns/a")
MISSED = FaultMissed(at=3.0, fault=FaultIndex(0), why="no event of pods came while it was open")
REFUSED = FaultRefused(at=1.0, fault=FaultIndex(0), on="list pods", row="25", why="the read does not ask for resourceVersion 0")
UNABLE = FaultRefused(at=1.0, fault=FaultIndex(0), on="list pods", why="the API server no longer knows revision 7")


def plan(*faults: AnyFault, contract: Contract = "legal") -> Plan:
    return Plan(scenario="test", steps=(Apply(object={}),), faults=faults, contract=contract)


def became(fault: AnyFault, *entries: Entry) -> FaultOutcome:
    (found,) = fault_outcomes(History(Header(plan=plan(fault), namespace="ns"), entries))
    return found


@pytest.mark.parametrize(
    ("found", "expected", "text"),
    [
        (became(HOLD, FIRED), FaultOutcome("Hold", "pods", "fired", 2.0, FIRED.on), "Hold of pods: fired on ADDED pods ns/a"),
        (
            became(HOLD, MISSED),
            FaultOutcome("Hold", "pods", "not fired", why=MISSED.why),
            "Hold of pods: no event of pods came while it was open",
        ),
        (became(HOLD), FaultOutcome("Hold", "pods", "not fired"), "Hold of pods"),
        (
            became(PAST, REFUSED),
            FaultOutcome("PastSnapshot", "*", "refused", 1.0, "list pods", "25", REFUSED.why),
            "PastSnapshot of *: refused on list pods, legality row 25 (an old answer to a consistent read): "
            "the read does not ask for resourceVersion 0",
        ),
        (
            became(PAST, UNABLE),
            FaultOutcome("PastSnapshot", "*", "refused", 1.0, "list pods", "", UNABLE.why),
            "PastSnapshot of *: refused on list pods, the API server no longer knows revision 7",
        ),
    ],
    ids=["fired", "not fired", "not recorded", "refused", "could not be done"],
)
def test_what_became_of_it_and_how_it_is_reported(found: FaultOutcome, expected: FaultOutcome, text: str) -> None:
    assert found == expected
    assert str(found) == text


@pytest.mark.parametrize(
    ("fault", "entries", "outcome"),
    [
        (HOLD, (FIRED, REFUSED), "fired"),
        (HOLD, (REFUSED, FIRED), "fired"),
        (HOLD, (REFUSED, FIRED, MISSED), "fired"),
        (PAST, (MISSED, REFUSED), "refused"),
        (PAST, (REFUSED, MISSED), "refused"),
    ],
)
def test_what_fired_has_fired_and_what_was_refused_was_not_missed(
    fault: AnyFault, entries: tuple[Entry, ...], outcome: str
) -> None:
    assert became(fault, *entries).outcome == outcome


def test_it_is_the_first_time_that_is_reported() -> None:
    assert became(HOLD, FIRED, FaultFired(at=9.0, fault=FaultIndex(0), on="later")).at == FIRED.at


def test_faults_are_reported_in_the_plans_order() -> None:
    history = History(
        Header(plan=plan(HOLD, PAST, HOLD), namespace="ns"), (FaultFired(at=1.0, fault=FaultIndex(2), on="x"), REFUSED)
    )
    assert [fault.outcome for fault in fault_outcomes(history)] == ["refused", "not fired", "fired"]


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (plan(), ""),
        (plan(HOLD, PAST), ""),
        (plan(HOLD, DropFrame(resource="pods"), DropFrame(resource="nodes"), contract="hostile"), "hostile faults (DropFrame)"),
        (plan(Reorder(resource="pods"), DropFrame(resource="pods"), contract="hostile"), "hostile faults (Reorder, DropFrame)"),
        (plan(Reject(resource="pods", code=409), contract="hostile"), "hostile faults (Reject)"),
        (plan(HOLD, contract="hostile"), "a hostile plan"),
        (plan(HOLD, Expire(resource="pods", at="watch")), "what is only documented (410 as the HTTP answer to a WATCH)"),
        (plan(Expire(resource="pods", at="resume")), ""),
        (plan(Expire(resource="pods", at="watch"), DropFrame(resource="pods"), contract="hostile"), "hostile faults (DropFrame)"),
    ],
)
def test_what_no_api_server_does_is_named(of: Plan, expected: str) -> None:
    assert hostility(of) == expected
