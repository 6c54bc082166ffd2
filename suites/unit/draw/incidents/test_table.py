"""The table: every fault of a plan can come from it."""

from dataclasses import replace

from staleproof.core.operator.observed import Calls
from staleproof.core.plan.step import Apply, Delete, Rest, Touch
from staleproof.draw.incidents.table import INCIDENTS, KINDS
from staleproof.draw.occasions import occasions

from ..seen import CHANGE, PODS, TARGET, WIDGETS, sample, widgets


def test_every_kind_of_fault_comes_over_some_workload() -> None:
    of = replace(widgets(), asks_watch_list=True, bookmarked=(PODS,), reads_past=(WIDGETS, PODS), calls=(Calls(1, "db", 1),))
    first = Apply(object=sample(3))
    steps = (first, CHANGE, of.scale(1), Rest(seconds=12.0), Delete(target=TARGET), first, Touch(target=TARGET))
    at = occasions(of, steps)
    drifts = {kind for kind in KINDS if kind.needs == "notification"}  # nothing else brings one: `draw.outside`
    assert {type(fault) for each in INCIDENTS for faults in each.over(at) for fault in faults} == {*KINDS} - drifts


def test_what_is_made_for_a_step_is_legal() -> None:
    assert {each.contract for each in INCIDENTS if each.is_for_a_step} == {"legal"}
    assert {each.contract for each in INCIDENTS} == {"legal", "hostile"}
