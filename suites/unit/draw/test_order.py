"""The order of plans: how long they take, and what is worth most when there is no time for all."""

import pytest
from hypothesis import given
from msgspec import structs

from staleproof.core.fault import AnyFault as Fault
from staleproof.core.fault import Expire, HideOwnWrite, HoldStream, PastSnapshot, Refuse, Restart, Skew, SlowAnswer, Window
from staleproof.core.operator.edge import Edge
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Apply, Patch, Rest, Resync, Step, Together, Touch
from staleproof.draw.canonical import another
from staleproof.draw.order import calm_seconds, expected_seconds, most_valuable_first, share
from staleproof.draw.profile import STANDARD
from staleproof.draw.scenarios import canonical_plans

from .seen import MOVE, PODS, TARGET, WIDGETS, controllers, sample

TOOK = {"apply": 2.0, "touch": 0.5, "rest": 0.25, "settle": 1.0, "start": 3.0}
APPEAR, TOUCH = Apply(object=sample(3)), Touch(target=TARGET)


def plan(*faults: Fault, steps: tuple[Step, ...] = (APPEAR, TOUCH), aims: tuple[str, ...] = (), fresh: bool = False) -> Plan:
    return Plan(scenario="x", steps=steps, faults=faults, aims=aims, fresh=fresh)


@pytest.mark.parametrize(
    ("drawn", "seconds"),
    [
        (plan(), 3.5),
        (plan(steps=(APPEAR, Rest(seconds=12), TOUCH)), 15.75),
        (plan(steps=(APPEAR, Resync(resource=WIDGETS))), 5.0),  # it may take as long as anything
        (plan(HoldStream(resource=PODS)), 3.5),  # until the last step is over
        (plan(HoldStream(resource=PODS, window=Window(seconds=4))), 7.5),
        (plan(Restart(window=Window(2))), 6.5),
        (plan(fresh=True), 6.5),
        (plan(SlowAnswer(resource=PODS, verb="create", by_seconds=2)), 5.5),
        (plan(Skew(by_seconds={PODS: 0.5, WIDGETS: 1})), 5.5),
        (plan(Skew(by_seconds={PODS: 1}, window=Window(1, 2))), 4.5),
        (plan(steps=(Together(steps=(APPEAR, APPEAR, TOUCH)), TOUCH)), 5.5),  # side by side
    ],
)
def test_a_plan_takes_what_its_steps_take_without_faults_and_what_its_faults_add(drawn: Plan, seconds: float) -> None:
    assert expected_seconds(drawn, TOOK) == seconds


def test_of_what_was_not_observed_nothing_is_expected() -> None:
    assert expected_seconds(plan(Restart()), {}) == 0.0


@given(controllers())
def test_something_is_expected_of_every_plan_and_each_has_its_place(of: Observed) -> None:
    plans = list(canonical_plans(of, STANDARD))
    seconds = [expected_seconds(each, TOOK) for each in plans]
    assert min(seconds) > 0
    assert sorted(most_valuable_first(plans, seconds)) == list(range(len(plans)))


HIDDEN, OTHER = HideOwnWrite(resource=PODS), HideOwnWrite(resource="services")
TWICE = ("no-duplicate-create",)
PAST, HELD = PastSnapshot(resource=WIDGETS, window=Window(2)), HoldStream(resource=WIDGETS)
INPUTS = structs.replace(plan(HELD, aims=("a",)), scenario="inputs")


@pytest.mark.parametrize(
    ("plans", "order"),
    [
        ([plan(HELD, aims=("a",)), plan(HELD, aims=("a", "b"))], [1, 0]),  # two requirements
        ([plan(HELD, aims=("a",)), plan(HELD, aims=("a",)), plan(Refuse(), aims=("a",))], [0, 2, 1]),  # another fault
        ([plan(HELD, aims=("a",)), plan(PAST, aims=("a",))], [1, 0]),  # one that has shown more
        ([plan(HELD, aims=("settles",)), plan(HELD, aims=("no-duplicate-create",))], [1, 0]),  # what does more harm
        ([plan(HELD, aims=("a",)), plan(HELD, aims=("a",)), plan(HoldStream(resource=PODS), aims=("a",))], [0, 2, 1]),  # resource
        ([INPUTS, INPUTS, INPUTS, plan(HELD, aims=("a",))], [0, 1, 3, 2]),  # what a primary needs, for itself and twice as much
        ([plan(each, aims=TWICE) for each in (HIDDEN, HIDDEN, OTHER)] + [plan(PAST, aims=("a",))], [0, 2, 3, 1]),  # kind
        ([plan(PAST), plan(PAST, aims=("a",))], [1, 0]),  # one that says what it is for
        ([plan(aims=("a",)), plan(aims=("a",)), plan(aims=("b",))], [0, 2, 1]),  # without any fault
    ],
    ids=["requirements", "faults", "share", "harm", "resources", "inputs", "kinds", "aims", "no faults"],
)
def test_what_was_not_tried_before_comes_first(plans: list[Plan], order: list[int]) -> None:
    assert list(most_valuable_first(plans, [1.0] * len(plans))) == order


def test_the_worth_of_a_second_counts() -> None:
    plans = [plan(Expire(resource="*"), aims=("a", "b")), plan(Refuse(), aims=("c",))]
    assert list(most_valuable_first(plans, [10.0, 1.0])) == [1, 0]
    assert list(most_valuable_first(plans, [1.0, 1.0])) == [0, 1]


def test_plans_of_one_workload_share_what_is_run_without_faults_before_the_first_of_them() -> None:
    first, third = plan(HELD, aims=("a", "d")), plan(Refuse(), aims=("c",))
    second = plan(Restart(), steps=(APPEAR,), aims=("b",))
    plans = [first, second, third]
    assert list(most_valuable_first(plans, [1.0] * 3)) == [0, 1, 2]
    assert list(most_valuable_first(plans, [1.0] * 3, calm=[2.0] * 3)) == [0, 2, 1]
    assert list(most_valuable_first(plans, [1.0, 1.0, 4.0], calm=[2.0, 2.0, 8.0])) == [0, 1, 2], "it is worth what it costs"


def test_each_plan_of_a_workload_bears_its_part_of_what_is_run_without_faults() -> None:
    alone = plan(Restart(), steps=(APPEAR,), aims=("a",))
    several = [plan(Refuse(), aims=("b",)), plan(HELD, aims=("c",))]
    assert list(most_valuable_first([alone, *several], [1.0] * 3, calm=[2.0] * 3, shares=[1.0] * 3)) == [1, 2, 0]


def test_what_takes_most_of_the_time_that_is_left_comes_last() -> None:
    plans = [plan(Expire(resource="*"), aims=("a", "b", "c", "d")), plan(Refuse(), aims=("c",))]
    assert list(most_valuable_first(plans, [2.0, 2.0], left=20.0)) == [0, 1]
    assert list(most_valuable_first(plans, [11.0, 9.0], left=20.0)) == [1, 0]
    assert list(most_valuable_first(plans, [5.0, 5.0], calm=[6.0, 1.0], left=20.0)) == [1, 0], "with what it is compared with"


def test_only_the_first_run_without_faults_waits_for_the_pauses_of_the_controller() -> None:
    slow = structs.replace(plan(Refuse(), aims=()), settle=Settle(idle_seconds=10.0, quiet_seconds=20.0))
    took = {"apply": 2.0, "settle": 1.0}
    once, twice = (calm_seconds(slow, took, runs=runs) for runs in (1, 2))
    assert twice - once == expected_seconds(slow.reference, took)
    assert once - expected_seconds(slow.reference, took) == 10.0 * len(slow.steps) + 20.0


def test_what_is_done_together_takes_as_long_as_it_was_seen_to_take() -> None:
    sweep = plan(PastSnapshot(resource=WIDGETS), steps=(Together(steps=(APPEAR,) * 8), TOUCH), aims=())
    quick = expected_seconds(sweep, {"apply": 1.0, "touch": 1.0})
    assert expected_seconds(sweep, {"apply": 1.0, "touch": 1.0, "together": 10.0}) == quick - 4.5 + 45.0
    assert expected_seconds(sweep, {"apply": 1.0, "touch": 1.0, "together": 0.5}) == quick, "a primary takes longer by itself"
    single = plan(PastSnapshot(resource=WIDGETS), steps=(Together(steps=(APPEAR,)), TOUCH), aims=())
    assert expected_seconds(single, {"apply": 1.0, "touch": 1.0, "together": 10.0}) == 11.0, "one primary is no crowd"


def test_a_sweep_comes_before_as_many_plans_as_it_has_primaries() -> None:
    sweep = plan(PastSnapshot(resource=WIDGETS), steps=(Together(steps=(APPEAR,) * 8), TOUCH), aims=("no-time-travel",))
    other = plan(PastSnapshot(resource=PODS), aims=("no-time-travel",))
    assert list(most_valuable_first([other, sweep], [5.0, 30.0])) == [1, 0]
    assert list(most_valuable_first([other, sweep], [5.0, 80.0])) == [0, 1]


def test_what_the_map_points_at_comes_first_and_what_was_drawn_last() -> None:
    made = [structs.replace(plan(HELD, aims=("a",)), scenario=name) for name in ("drawn", "streams", "sweep")]
    assert list(most_valuable_first(made, [1.0] * 3)) == [2, 1, 0]


def test_a_sweep_of_what_only_changes_comes_after_what_takes_something_away() -> None:
    """An old view undoes a change, and deletes nothing."""
    steps = (APPEAR, Patch(target=TARGET, patch=MOVE.do), Apply(object=another(sample(3))))
    sweep = structs.replace(plan(PAST, steps=steps), scenario="sweep")
    changing, taking = Edge(MOVE, changes=(PODS,)), Edge(MOVE, goes=(PODS,))
    unknown = Edge(structs.replace(MOVE, do={"spec": {"other": 1}}), changes=(PODS,))
    changes, takes = share(sweep, (changing,)), share(sweep, (taking,))
    assert changes < share(plan(PAST)) < takes
    assert share(sweep, (changing, taking)) == share(sweep, (unknown,)) == share(sweep) == takes
    assert list(most_valuable_first([sweep, sweep], [1.0, 1.0], shares=[changes, takes])) == [1, 0]


def test_a_sweep_is_worth_what_each_of_its_primaries_tries() -> None:
    """They are many for the price of one."""
    moves = tuple(Patch(target=TARGET, patch={"spec": {str(number): False}}) for number in range(3))
    one, many = (plan(HoldStream(resource=PODS), steps=(APPEAR, step)) for step in (moves[0], Together(steps=moves)))
    assert list(most_valuable_first([one, many], [1.0, 1.0])) == [1, 0]
