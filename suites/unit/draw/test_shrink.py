"""Shrinking: what is smaller than a plan, in which order, and what a search that asks a controller comes to."""

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from staleproof.core.fault import AnyFault, HideOwnWrite, HoldStream, OwnWrite, PastSnapshot, Restart, Window
from staleproof.core.plan.plan import Plan, contradictions
from staleproof.core.plan.step import Apply, Delete, Edit, Patch, PatchStatus, Rest, Step, Touch
from staleproof.draw.shrink import is_possible, is_shrunk, shrunk, smaller
from staleproof.draw.strategies import plans

from .seen import PODS, TARGET, WIDGETS, sample, widgets

APPLY, TOUCH, REST, DELETE = Apply(object=sample(3)), Touch(target=TARGET), Rest(seconds=0.1), Delete(target=TARGET)
UP, DOWN = (Patch(target=TARGET, patch={"spec": {"replicas": n}}) for n in (4, 2))
HIDE = HideOwnWrite(resource=PODS, window=Window(from_step=3), write=OwnWrite("delete", nth=2), release="relist")
LONG = Plan(scenario="own-writes", title="drawn", steps=(APPLY, UP, DOWN, REST, TOUCH, TOUCH), faults=(HIDE,))


def plan(*steps: Step, faults: tuple[AnyFault, ...] = ()) -> Plan:
    return Plan(scenario="own-writes", steps=steps, faults=faults)


def test_faults_go_before_steps_and_steps_before_content() -> None:
    two = replace(LONG, faults=(HIDE, HoldStream(resource=WIDGETS)))
    kinds = [(len(each.faults), len(each.steps)) for each in smaller(two)]
    assert [kind for kind, _ in itertools.groupby(kinds, key=lambda kind: (kind[0] < 2, kind[1] < 6))] == [
        (True, False),
        (False, True),
        (False, False),
    ]
    assert [each.faults for each in smaller(two)][:2] == [(HIDE,), (HoldStream(resource=WIDGETS),)]


@pytest.mark.parametrize(
    ("shown_in", "faults", "likely"),
    [
        (0, (HIDE,), [(APPLY, DOWN, TOUCH)]),
        (4, (HIDE,), [(APPLY, DOWN, REST), (APPLY, UP, DOWN, REST)]),
        (3, (replace(HIDE, window=Window(3, 4)),), [(APPLY, DOWN, REST)]),
        (5, (HIDE, HoldStream(resource=PODS, window=Window(2))), [(APPLY, UP, DOWN, TOUCH), (APPLY, UP, DOWN, REST, TOUCH)]),
        (2, (HIDE,), [(APPLY, UP, DOWN)]),  # where the fault opens must stay
    ],
)
def test_the_first_guess_is_what_most_findings_need(
    shown_in: int, faults: tuple[AnyFault, ...], likely: list[tuple[Step, ...]]
) -> None:
    found = [each.steps for each in smaller(replace(LONG, faults=faults), shown_in) if len(each.faults) == len(faults)]
    assert found[: len(likely)] == likely


def test_a_finding_that_needs_other_steps_is_made_smaller_all_the_same() -> None:
    """The guess leaves out the rest, which this finding needs."""
    made = shrunk(LONG, lambda each: REST in each.steps and DOWN in each.steps, shown_in=6)
    assert (made.plan.steps[1:], made.is_minimal) == ((DOWN, REST), True)


def test_half_of_the_steps_goes_first_then_a_quarter_but_never_one_with_which_a_fault_opens() -> None:
    _, *rows = [each.steps for each in smaller(LONG)]
    assert rows[:3] == [(APPLY, UP, DOWN), (APPLY, UP, DOWN, REST), (APPLY, DOWN, REST, TOUCH, TOUCH)]
    assert all(DOWN in each.steps or each.steps[2] != DOWN for each in smaller(LONG) if len(each.steps) < 6)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (HoldStream(resource=PODS, window=Window(3)), HoldStream(resource=PODS, window=Window(2))),
        (HoldStream(resource=PODS, window=Window(3, 4)), HoldStream(resource=PODS, window=Window(2, 3))),
        (HoldStream(resource=PODS, window=Window(1, 3)), HoldStream(resource=PODS, window=Window(1, 2))),
        (HoldStream(resource=PODS, window=Window(1, 2)), HoldStream(resource=PODS, window=Window(1, 2))),
        (HoldStream(resource=PODS, window=Window(2, 3)), None),
        (Restart(window=Window(3)), Restart(window=Window(2))),
        (
            PastSnapshot(resource=PODS, as_of_step=2, window=Window(3)),
            PastSnapshot(resource=PODS, as_of_step=1, window=Window(2)),
        ),
        (
            PastSnapshot(resource=PODS, as_of_step=3, window=Window(3)),
            PastSnapshot(resource=PODS, as_of_step=2, window=Window(2)),
        ),
    ],
)
def test_the_numbers_follow_when_step_2_is_left_out(fault: AnyFault, expected: AnyFault | None) -> None:
    found = [each.faults for each in smaller(plan(APPLY, UP, DOWN, faults=(fault,))) if each.steps == (APPLY, DOWN)]
    assert found == ([] if expected is None else [(expected,)])


def test_what_a_finalizer_holds_is_there_until_that_is_removed() -> None:
    hold, let_go = (Patch(target=TARGET, patch={"metadata": {"finalizers": some}}) for some in (["a/b"], None))
    assert is_possible((APPLY, hold, DELETE, let_go))
    assert not is_possible((APPLY, hold, DELETE, let_go, TOUCH))
    assert not is_possible((APPLY, DELETE, let_go))


def test_nothing_is_done_to_what_is_not_there() -> None:
    found = [each.steps for each in smaller(plan(APPLY, DELETE, APPLY, TOUCH)) if len(each.steps) < 4]
    assert (APPLY, DELETE, TOUCH) not in found
    expected = [(APPLY, TOUCH), (APPLY, DELETE), (APPLY, DELETE, APPLY), (APPLY, APPLY, TOUCH), (APPLY,)]
    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_a_status_is_overwritten_only_where_there_is_one() -> None:
    reset = PatchStatus(target=TARGET, patch={"status": {"size": None}})
    assert is_possible((APPLY, Edit(resource=PODS, patch={"data": {"a": "b"}}), reset))
    assert not is_possible((APPLY, DELETE, reset))


def test_rests_are_short_first_because_they_take_the_time() -> None:
    first = next(smaller(plan(APPLY, Rest(seconds=12.0), TOUCH, Rest(seconds=12.0))))
    assert first.steps == (APPLY, REST, TOUCH, REST)


def test_faults_that_open_together_stay_together_at_first() -> None:
    past, restart = PastSnapshot(resource=PODS, window=Window(4)), Restart(window=Window(4))
    found = [each.faults for each in smaller(replace(LONG, faults=(past, HIDE, restart)))]
    assert found[:3] == [(past, restart), (HIDE,), (past,)]


def test_what_is_made_anew_goes_first() -> None:
    hold = HoldStream(resource=PODS, window=Window(5))
    found = [each.steps for each in smaller(plan(APPLY, UP, DELETE, REST, APPLY, DOWN, TOUCH, faults=(hold,)), shown_in=6)]
    assert found[0] == (APPLY, DELETE, APPLY, DOWN)


def test_content_gets_plainer_and_smaller() -> None:
    found = [each for each in smaller(plan(APPLY, UP, REST, faults=(replace(HIDE, window=Window(2)),))) if len(each.steps) == 3]
    assert found[0].faults == (replace(HIDE, window=Window(2), write=OwnWrite("delete")),)
    assert [each.steps[1] for each in found if each.steps[1] != UP] == [
        Patch(target=TARGET, patch={"spec": {"replicas": n}}) for n in (1, 2)
    ]


@given(st.data())
def test_everything_smaller_can_be_run(data: st.DataObject) -> None:
    drawn = data.draw(plans(widgets()))
    for each in smaller(drawn):
        assert contradictions(each) == []
        assert len(each.steps) <= len(drawn.steps)
        assert {fault.tag for fault in each.faults} <= {fault.tag for fault in drawn.faults}


# --- the search ----------------------------------------------------------------------------------------------------------------


def needs(*steps: Step) -> Callable[[Plan], bool]:
    return lambda each: all(step in each.steps for step in steps)


def test_it_ends_with_what_is_needed() -> None:
    found = shrunk(LONG, needs(DOWN, TOUCH))
    assert found.is_minimal
    assert str(found) == "minimal: 3 steps, 1 fault"
    assert found.plan.steps[1:] == (DOWN, TOUCH)
    assert found.plan.faults == (replace(HIDE, window=Window(2), write=OwnWrite("delete"), release="events"),)
    assert found.plan.title == "minimal: HideOwnWrite of pods from step 2 in 3 steps (apply, patch, touch)"
    assert is_shrunk(found.plan)
    assert not is_shrunk(LONG)


def test_what_cannot_be_made_smaller_stays() -> None:
    found = shrunk(LONG, lambda _: False)
    assert (found.plan.steps, found.plan.faults, found.is_minimal) == (LONG.steps, LONG.faults, True)


def test_nothing_is_asked_twice_and_the_end_of_the_time_is_reported() -> None:
    tried: list[Plan] = []

    def fails(each: Plan) -> bool | None:
        tried.append(each)
        return needs(DOWN, TOUCH)(each) if len(tried) < 4 else None

    found = shrunk(LONG, fails)
    assert len({str((each.steps, each.faults)) for each in tried}) == len(tried) == 4
    assert str(found).startswith("the smallest found in time: 3 steps")
    assert not found.is_minimal


def test_a_controller_that_answers_now_so_now_so_is_no_trouble() -> None:
    answers = itertools.cycle([True, False, False])
    assert shrunk(LONG, lambda _: next(answers)).is_minimal
