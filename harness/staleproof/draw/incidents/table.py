"""The table of incidents: each kind of fault by itself, and those that do harm only side by side."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import get_args

from staleproof.core.fault import AnyFault
from staleproof.core.fault.legality import Contract
from staleproof.core.plan.step import Apply, Delete, Patch, Remove, Rest, Touch, removes
from staleproof.draw.incidents import joint
from staleproof.draw.incidents.single import Faults, needs, single
from staleproof.draw.occasions import Occasions

KINDS: tuple[type[AnyFault], ...] = get_args(AnyFault)


@dataclass(frozen=True, slots=True)
class Incident:
    """Faults that come over a workload at once.

    Attributes:
        over: each of them, wherever the workload gives occasion for it.
        often: how often it is drawn beside one that is drawn once.
        is_for_a_step: it is made for a step of the workload; one half of all schedules begin with one of these.
    """

    over: Callable[[Occasions], Iterator[Faults]]
    often: int = 1
    is_for_a_step: bool = False
    contract: Contract = "legal"


INCIDENTS = (
    *(
        Incident(partial(single, kind, need), kind.often, contract=kind.contract)
        for kind in KINDS
        if kind.often
        for need in needs(kind)
    ),
    Incident(joint.two_writes_hidden),
    Incident(joint.two_held),
    Incident(joint.skewed),
    Incident(joint.competed),
    Incident(partial(joint.down, lambda _: True)),
    Incident(partial(joint.hidden_while, "create", Rest), is_for_a_step=True),
    Incident(partial(joint.hidden_while, "create", Apply), is_for_a_step=True),
    Incident(partial(joint.hidden_while, "create", Delete), is_for_a_step=True),
    Incident(partial(joint.hidden_while, "create", Remove), is_for_a_step=True),
    Incident(partial(joint.hidden_while, "delete", Patch), is_for_a_step=True),
    Incident(partial(joint.hidden_while, "delete", Touch), is_for_a_step=True),
    Incident(joint.end_hidden, often=2, is_for_a_step=True),  # few workloads give occasion for it
    Incident(joint.replaced_unseen, often=5, is_for_a_step=True),  # nor for this, and nothing else shows what it does
    Incident(partial(joint.refused_update, of_children=True), is_for_a_step=True),
    Incident(partial(joint.refused_update, of_children=False), is_for_a_step=True),
    Incident(joint.all_rejected, is_for_a_step=True),
    Incident(joint.clean_up_rejected, is_for_a_step=True),
    Incident(partial(joint.down, lambda step: isinstance(step, Patch)), is_for_a_step=True),
    Incident(partial(joint.down, removes), often=3, is_for_a_step=True),  # unseen by one that only reacts to changes
    Incident(joint.led_back, is_for_a_step=True),
    Incident(joint.listed_behind, is_for_a_step=True),
)
