"""The table of incidents: each kind of fault by itself, and those that do harm only side by side."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import get_args

from staleproof.core.fault import AnyFault
from staleproof.core.fault.legality import Contract
from staleproof.core.plan.step import Apply, Delete, Patch, Remove, Rest, Touch
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
    Incident(joint.down),
    Incident(partial(joint.hidden_while, "create", Rest), is_for_a_step=True),
    Incident(partial(joint.hidden_while, "create", Apply), is_for_a_step=True),
    Incident(partial(joint.hidden_while, "create", Delete), is_for_a_step=True),
    Incident(partial(joint.hidden_while, "create", Remove), is_for_a_step=True),
    Incident(partial(joint.hidden_while, "delete", Patch), is_for_a_step=True),
    Incident(partial(joint.hidden_while, "delete", Touch), is_for_a_step=True),
    Incident(joint.end_hidden, is_for_a_step=True),
    Incident(joint.of_children, is_for_a_step=True),
    Incident(joint.of_the_primary, is_for_a_step=True),
    Incident(joint.all_rejected, is_for_a_step=True),
    Incident(joint.change_missed, is_for_a_step=True),
    Incident(joint.removal_missed, often=3, is_for_a_step=True),
    Incident(joint.led_back, is_for_a_step=True),
    Incident(joint.listed_behind, is_for_a_step=True),
)
