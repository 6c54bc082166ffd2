"""The bodies that the proxy's control API accepts and answers, for both sides. `staleproof.core.engine.routes` has the calls.

Bodies are read strictly: an unknown fault or field is refused with the nearest known name, a fault that makes no sense with the
reason, and a hostile one unless the caller says that it is wanted.
"""

from collections.abc import Iterable

import msgspec

from staleproof.core.fault import AnyFault, Fault
from staleproof.core.fault.decision import End
from staleproof.core.fault.legality import Contract
from staleproof.core.fault.model import Value
from staleproof.core.plan.plan import M, converted, fault_problems, read_json


class InstallPlan(Value, frozen=True):
    """Replace all faults. Entries count faults from 0 in this order; `namespace` is the trial's, empty for all.

    `runner` says that the caller runs the controller, and kills, restarts and pauses it when the entries say that it is time.
    """

    faults: tuple[AnyFault, ...] = ()
    namespace: str = ""
    contract: Contract = "legal"
    runner: bool = False


class AddFault(Value, frozen=True):
    """One more fault, open from now on."""

    fault: AnyFault
    contract: Contract = "legal"


class Step(Value, frozen=True):
    """A step of the workload is about to be done. `revision`: the API server's now, for past snapshots of this moment."""

    step: int
    revision: int | None = None


class Release(Value, frozen=True):
    """Close every fault; or, with a resource and a revision, let what is held of the resource up to there leave."""

    resource: str = ""
    revision: int | None = None


class SeverStreams(Value, frozen=True):
    """End the open streams of a resource."""

    resource: str
    how: End = "expired"


class Done(msgspec.Struct, frozen=True):
    """`entries` is how many entries have been made by now, those that the call caused included."""

    entries: int


class Added(Done, frozen=True):
    """The number of the new fault."""

    fault: int


class Severed(Done, frozen=True):
    """How many streams were ended."""

    streams: int


class StreamState(msgspec.Struct, frozen=True, rename="camel"):
    """An open watch, and how much of it waits in the proxy."""

    stream: int
    client: str
    resource: str
    namespace: str
    held: int
    held_bytes: int


class Health(Done, frozen=True):
    """What is open."""

    streams: list[StreamState]


class FaultState(msgspec.Struct, frozen=True):
    """Where a fault stands. `outcome`: fired, refused or not fired, with the reason in `why`."""

    number: int
    fault: AnyFault
    phase: str
    outcome: str
    why: str


class Faults(Done, frozen=True):
    """Every fault of the plan, and what became of it."""

    faults: list[FaultState]


class Problem(msgspec.Struct, frozen=True):
    """What was wrong, where, and what to do."""

    error: str


def read(data: bytes, model: type[M]) -> M:
    """A request body.

    Raises:
        PlanError: it is not JSON, has an unknown or wrong field, or its faults make no sense or are not legal.
    """
    return converted(read_json(data or b"{}"), model, _problems)


def _problems(body: msgspec.Struct) -> list[str]:
    match body:
        case InstallPlan(faults=faults, contract=contract, runner=runner):
            return fault_problems(faults, contract) + ([] if runner else without_runner(faults))
        case AddFault(fault=fault, contract=contract):
            return fault_problems([fault], contract) + without_runner([fault])
        case Release(resource=resource, revision=revision) if bool(resource) is not (revision is not None):
            return ["resource and revision go together; leave both out to release everything"]
        case Step(step=step) if step < 1:
            return [f"step is {step}, steps are counted from 1"]
    return []


def without_runner(faults: Iterable[Fault]) -> list[str]:
    """What is wrong with these faults, in words, when the controller has no runner."""
    return [
        f"fault {number} ({fault.tag}): it is done to the controller's process, which the proxy does not have; leave it out and do"
        ' it yourself, or, if you do it when the entries say so, say "runner": true in PUT /v1/plan'
        for number, fault in enumerate(faults, 1)
        if fault.needs_runner
    ]
