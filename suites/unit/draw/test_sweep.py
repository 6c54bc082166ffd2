"""Sweeps: which primaries they have, what is done to them together, and one of them alone."""

from dataclasses import replace

from msgspec import structs

from staleproof.core.fault import HoldStream, Kill, LoseAnswer, PastSnapshot, Restart, Skew, Window
from staleproof.core.operator.edge import Edge
from staleproof.core.operator.observed import ChildKind, Observed, Written
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Delete, Patch, Rest, Together, in_parts, parts
from staleproof.draw.copies import WIDTH, alone, copies, copies_in, there_and_back
from staleproof.draw.profile import PROFILES, STANDARD
from staleproof.draw.sweep import (
    SCENARIO,
    children_as_they_were,
    killed_in_between,
    killed_on_the_way_back,
    late,
    lost_answers,
    made_anew_since,
    made_anew_unseen,
    switched_back,
    unseen_children,
    unseen_return,
    way_back,
    worst_first,
)

from .seen import EDGE, MAPS, MOVE, PODS, REMOVED, SWITCHED, WIDGETS, widgets

COMES = Edge(REMOVED, comes=(PODS,))


def maps(*edges: Edge) -> Observed:
    """What was learnt of the operator, with these edges."""
    return replace(widgets(), edges=edges, reads_past=(WIDGETS,))


def restarts(*edges: Edge) -> list[Plan]:
    return list(switched_back(maps(*edges), STANDARD))


def every_plan(of: Observed) -> list[Plan]:
    return [plan for family in SCENARIO.families for plan in family(of, STANDARD)]


def test_each_primary_has_a_move_of_its_own() -> None:
    plan = restarts(EDGE, COMES)[0]
    assert copies_in(plan) == ["w-a", "w-b"]
    moved = {part.target.name: part.patch for part in parts(plan.steps[1]) if isinstance(part, Patch)}
    assert moved == {"w-a": SWITCHED.do, "w-b": REMOVED.do}
    assert [type(step) for step in plan.steps] == [Together, Together, Together, Rest], "a touch would wake the controller"


def test_the_past_that_is_shown_is_that_before_they_came_back() -> None:
    there, back = restarts(EDGE, COMES)
    for plan in (there, back):
        assert plan.faults == (
            PastSnapshot(resource=WIDGETS, as_of_step=3, window=Window(from_step=4)),
            Restart(window=Window(from_step=4)),
        ), "what is newer does not come before it has done what it does about the past"
    first = next(part for part in parts(back.steps[0]) if isinstance(part, Apply))
    assert first.object["spec"]["audited"] is False, "they begin as their moves leave them"


def test_what_is_not_read_from_the_past_is_not_shown_it() -> None:
    assert not any(
        isinstance(fault, PastSnapshot) for plan in every_plan(replace(maps(EDGE), reads_past=())) for fault in plan.faults
    )


def test_a_move_without_an_effect_is_in_no_sweep() -> None:
    assert every_plan(maps(Edge(MOVE))) == []
    assert [copies_in(plan) for plan in restarts(Edge(MOVE), EDGE, COMES)] == [["w-a", "w-b"]] * 2


def test_moves_that_only_change_what_is_there_have_sweeps_of_their_own() -> None:
    there, back, rolls = restarts(Edge(MOVE, changes=(MAPS,)), EDGE, COMES)
    assert [copies_in(plan) for plan in (there, back)] == [["w-a", "w-b"]] * 2
    assert rolls.steps == there_and_back(copies(widgets(), [MOVE]))
    assert rolls.faults == there.faults
    assert not list(made_anew_since(maps(Edge(MOVE, changes=(MAPS,))), STANDARD)), "nothing live would be deleted"


def test_what_moves_only_change_is_hidden_or_old_and_answers_about_it_are_lost_in_one_sweep_each() -> None:
    edges = [Edge(structs.replace(MOVE, path=f"spec.s{number}"), changes=(MAPS,)) for number in range(2 * WIDTH)]
    of = replace(maps(*edges), reads_past=(WIDGETS, MAPS))
    for family, fault in ((unseen_children, HoldStream), (children_as_they_were, PastSnapshot), (lost_answers, LoseAnswer)):
        (plan,) = family(of, STANDARD)
        assert (len(copies_in(plan)), type(plan.faults[0]), plan.faults[0].resource) == (WIDTH, fault, MAPS)
        assert not list(family(of, PROFILES["smoke"]))
    assert [len(copies_in(plan)) for plan in late(of, STANDARD)] == [WIDTH] * 4


def test_most_moves_change_the_same_so_not_all_of_them_are_tried() -> None:
    edges = [Edge(structs.replace(MOVE, path=f"spec.s{number}"), changes=(MAPS,)) for number in range(3 * WIDTH)]
    assert [len(copies_in(plan)) for plan in restarts(*edges)] == [WIDTH] * 2
    assert [len(copies_in(plan)) for plan in switched_back(maps(*edges), PROFILES["thorough"])] == [WIDTH] * 3


def test_what_comes_and_goes_is_shown_as_it_was_meanwhile() -> None:
    of = replace(maps(EDGE, COMES), reads_past=(WIDGETS, PODS))
    (plan,) = children_as_they_were(of, STANDARD)
    assert plan.faults == (
        PastSnapshot(resource=PODS, as_of_step=3, window=Window(from_step=4)),
        Restart(window=Window(from_step=4)),
    )
    assert not list(children_as_they_were(maps(EDGE, COMES), STANDARD)), "it reads no past state of them"


def test_as_many_answers_are_lost_as_there_are_primaries() -> None:
    edges = [replace(EDGE, move=structs.replace(SWITCHED, path=f"spec.s{number}")) for number in range(3)]
    (plan,) = lost_answers(maps(*edges), STANDARD)
    assert plan.faults == (LoseAnswer(resource=MAPS, verb="write", subresource="", times=3, window=Window(2, 4)),)


def test_what_is_made_is_shown_late_and_so_are_the_primaries() -> None:
    children, primaries = (plan.faults for plan in late(maps(EDGE, COMES), STANDARD))
    assert isinstance(children[0], Skew)
    assert isinstance(primaries[0], Skew)
    assert children[0].by_seconds.keys() == {MAPS, PODS}
    assert primaries[0].by_seconds.keys() == {WIDGETS}
    assert not list(late(maps(EDGE, COMES), PROFILES["smoke"]))


def test_of_a_field_one_move_that_takes_away_the_same_is_enough() -> None:
    again = replace(EDGE, move=structs.replace(SWITCHED, kind="remove-value"))
    assert {part.target.name for plan in restarts(EDGE, again) for part in in_parts(plan.steps) if isinstance(part, Patch)} == {
        "w-a"
    }


def test_of_a_block_and_what_is_in_it_the_innermost_that_takes_away_the_same_is_enough() -> None:
    inner, other = (replace(EDGE, move=structs.replace(SWITCHED, path=f"spec.{path}")) for path in ("storage.size", "store"))
    block = replace(EDGE, move=structs.replace(SWITCHED, path="spec.storage", kind="remove-block"))
    worse = replace(block, goes=(*EDGE.goes, "secrets"))
    for edges, count in (((block, inner, other), 2), ((worse, inner, other), 3)):
        (plan, _) = restarts(*edges)
        assert len(copies_in(plan)) == count
        assert "spec.storage.size" in plan.title
        assert ("spec.storage," in plan.title) is (count == 3)


def test_it_is_killed_between_a_delete_and_what_comes_of_it() -> None:
    remakes = Edge(MOVE, changes=(PODS,), remakes=(MAPS,))
    (plan,) = killed_in_between(maps(remakes, EDGE), STANDARD)
    assert plan.faults == (Kill(resource=MAPS, verb="delete", window=Window(2, 3)),)
    assert [type(step) for step in plan.steps] == [Apply, Patch, Rest], "the way back would do all of it once more"


def test_of_moves_that_only_make_anew_no_more_than_one_sweep_is_made() -> None:
    rolls = [Edge(structs.replace(MOVE, path=f"spec.s{number}"), remakes=(MAPS,)) for number in range(3 * WIDTH)]
    assert worst_first([*rolls, EDGE]) == [EDGE, *rolls[:WIDTH]]


def test_no_controller_works_on_more_than_a_few_at_once() -> None:
    edges = [replace(EDGE, move=structs.replace(SWITCHED, path=f"spec.s{number}")) for number in range(WIDTH + 2)]
    assert [len(copies_in(plan)) for plan in restarts(*edges)] == [WIDTH, WIDTH, 2, 2]


def test_children_are_hidden_where_they_come_and_go() -> None:
    plans = list(unseen_children(maps(EDGE, COMES), STANDARD))
    hidden = {plan.faults[0].resource: plan for plan in plans}
    assert hidden.keys() == {MAPS, PODS}
    assert [type(step) for step in hidden[MAPS].steps] == [Apply, Patch, Patch, Rest], "one primary needs no sweep"
    assert copies_in(hidden[MAPS]) == []


def test_a_return_is_unseen_from_the_move_until_it_is_taken_back() -> None:
    (plan,) = unseen_return(maps(EDGE, COMES), STANDARD)
    assert plan.faults == (HoldStream(resource=WIDGETS, window=Window(2, 4), release="relist"),)
    assert len(list(unseen_return(maps(EDGE, COMES), PROFILES["thorough"]))) == 3


def test_others_of_their_names_are_made_without_the_move() -> None:
    (since,) = made_anew_since(maps(EDGE, COMES), STANDARD)
    assert [type(parts(step)[0]) for step in since.steps] == [Apply, Delete, Apply, Rest]
    first, second = (
        next(part.object["spec"].get("audited") for part in parts(step) if isinstance(part, Apply)) for step in since.steps[:3:2]
    )
    assert (first, second) == (False, None), "it asks for something else than the one before"
    assert since.faults[0] == PastSnapshot(resource=WIDGETS, as_of_step=2, window=Window(from_step=4))
    held = list(made_anew_unseen(replace(maps(EDGE, COMES), keeps_finalizer=False), STANDARD))
    assert [plan.steps for plan in held] == [since.steps]
    assert not list(made_anew_unseen(maps(EDGE, COMES), STANDARD)), "a controller that holds it by a finalizer sees it go"


def test_it_is_killed_on_the_way_back_of_the_worst_moves_one_primary_at_a_time() -> None:
    plans = list(killed_on_the_way_back(maps(EDGE, COMES), STANDARD))
    assert [fault.resource for plan in plans for fault in plan.faults] == ["*", MAPS, "*", PODS]
    assert not any(copies_in(plan) for plan in plans)
    sweep = restarts(EDGE, COMES)[0]
    alike = [alone(sweep, name).steps for name in copies_in(sweep)]
    assert [plan.steps for plan in plans[::2]] == alike, "references are shared"
    many = [replace(EDGE, move=structs.replace(SWITCHED, path=f"spec.s{number}")) for number in range(9)]
    assert len(list(killed_on_the_way_back(maps(*many), STANDARD))) == 8
    assert len(list(killed_on_the_way_back(maps(*many), PROFILES["thorough"]))) == 18


def test_what_the_map_says_is_left_is_looked_at_without_any_fault() -> None:
    leaves = replace(COMES, leaves=(PODS,))
    (plan,) = way_back(maps(EDGE, leaves, replace(leaves, move=SWITCHED)), STANDARD)
    assert (plan.faults, plan.aims) == ((), ("path-independent",))
    assert plan.steps == there_and_back(copies(widgets(), [REMOVED]))


def test_what_comes_again_a_while_later_is_waited_for() -> None:
    of = maps(replace(EDGE, leaves=(PODS,)))
    slow = replace(of, moved_pause_seconds=3.0)
    for quick, patient in zip(every_plan(of), every_plan(slow), strict=True):
        assert patient.settle.idle_seconds > 3.0 > quick.settle.idle_seconds
        assert patient.settle.quiet_seconds >= quick.settle.quiet_seconds


SERVICES, CLAIMS = "services", "persistentvolumeclaims"


def alike() -> Observed:
    """A Service and a claim are made once each, under names that stay; a switch deletes the claim alone."""
    children = tuple(ChildKind(each, 1, 0, stable_names=True, stays=1) for each in (SERVICES, CLAIMS))
    made = tuple(Written(1, each, "create", "", 1) for each in (SERVICES, CLAIMS))
    watched = (WIDGETS, SERVICES, CLAIMS)
    return replace(maps(Edge(SWITCHED, goes=(CLAIMS,))), children=children, life=made, watched=watched, reads_past=watched)


def test_what_a_move_takes_away_is_in_sweeps_though_the_controller_makes_it_like_another_child() -> None:
    assert [child.resource for child in alike().typical().children] == [SERVICES]
    families = {str(family): family for family in SCENARIO.families}
    for name in ("unseen-children", "lost-answers", "children-as-they-were"):
        plans = families[f"sweep/{name}"](alike(), STANDARD)
        assert {fault.resource for plan in plans for fault in plan.faults if not isinstance(fault, Restart)} == {CLAIMS}, name
    lagging = [fault for plan in families["sweep/late"](alike(), STANDARD) for fault in plan.faults if isinstance(fault, Skew)]
    assert any(CLAIMS in fault.by_seconds for fault in lagging)
