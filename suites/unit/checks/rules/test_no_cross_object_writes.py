"""no-cross-object-writes: whom it accuses, whom it does not, and when it knows nothing."""

from typing import Any

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.no_cross_object_writes import REQUIREMENT
from staleproof.checks.trial import Trial
from staleproof.core.entry import Competed

from ..script import WIDGETS, Script, reference, told, trial


def done(script: Script) -> Script:
    return script.applied("theirs", "configmaps").applied("w", spec=1).creates("w-a").updates("w", status=1)


def tried(script: Script, *references: Script) -> Trial:
    return Trial(script.ends(), tuple(each.ends() for each in references or (done(reference(1)), done(reference(2)))))


def late(script: Script, *references: Script) -> Trial:
    """The hold ends."""
    return tried(script.let_go(), *references)


def held(**spec: Any) -> Script:  # noqa: ANN401  # JSON
    script = trial().applied("theirs", "configmaps").applied("w", spec=1, **spec)
    return script.hold().creates("w-a").updates("w", status=1)


def writes(script: Script, number: int = 1, name: str = "theirs") -> Script:
    return script.updates(name, "configmaps", subresource="", data=number)


def makes(script: Script, name: str) -> Script:
    return script.creates(name, resource="configmaps", owner="", generated="")


def managing(script: Script) -> Script:
    return makes(script.applied("w", spec=1), "settings")


def grown() -> Script:
    """Grandchildren of the widget are written to."""
    script = held().made("rs", "replicasets.apps").made("rs-a", owner="rs").deletes("rs-a")
    return script.updates("rs", "replicasets.apps", subresource="", spec=2)


def adopted() -> Script:
    """An orphan is adopted and released."""
    script = held().applied("orphan", "pods")
    owned = script._objects["pods", "w-a"]["metadata"]["ownerReferences"]
    metadata = script._objects["pods", "orphan"]["metadata"]
    script.updates("orphan", "pods", subresource="", metadata=metadata | {"ownerReferences": owned})
    return script.updates("orphan", "pods", subresource="", metadata=metadata)


def competed() -> Script:
    """A competing write of a fault made an object, and the controller takes it over."""
    script = held().applied("w-settings", "configmaps")
    uid = script.uid("w-settings", "configmaps")
    return writes(script.adds(Competed, request=9, resource="configmaps", name="w-settings", uid=uid, fault=0), name="w-settings")


ACCUSED = (
    "FAIL: the controller {} configmap/ns/{}, which the workload neither owns nor mentions; no fault-free run did, "
    "which is not its own"
)
NO_FAULT = "NOT_EXERCISED: no fault touched the controller, so it had no reason to do anything unusual"
CASES = {
    "writes to what belongs to others": (ACCUSED.format("wrote to", "theirs"), late(writes(held()))),
    "an object is told once": (ACCUSED.format("wrote to", "theirs"), late(writes(writes(held(), 1), 2))),
    "makes what no reference had": (ACCUSED.format("created", "nudge"), late(makes(held(), "nudge"))),
    "deletes it": (ACCUSED.format("deleted", "theirs"), late(held().deletes("theirs", resource="configmaps"))),
    "deletes it with a collection": (ACCUSED.format("deleted", "theirs"), late(held().deletes_all("configmaps"))),
    "keeps to its own": ("PASS", late(held().deletes("w-a").updates("w", status=2))),
    # innocent, though it looks suspicious
    "does what it does in the references": ("PASS", late(makes(held(), "settings-2"), managing(reference(1)), done(reference(2)))),
    "did it before any fault": ("PASS", late(writes(trial().applied("theirs", "configmaps")).applied("w").hold().creates("w-a"))),
    "grandchildren are its own": ("PASS", late(grown())),
    "children of an owner that is gone are its own": ("PASS", late(held().removed("w", WIDGETS).deletes("w-a"))),
    "to adopt and to release is to manage": ("PASS", late(adopted())),
    "the workload mentions it": ("PASS", late(writes(held(settings={"from": ["configmaps/theirs"]})))),
    "bookkeeping touches nothing": ("PASS", late(held().asks("update", "leases.coordination.k8s.io", "lock"))),
    "a refused write touches nothing": ("PASS", late(held().refused("update", "theirs", "Conflict", resource="configmaps"))),
    "takes over what a competing write made": ("PASS", late(competed())),
    # nothing is proven without a fault
    "nothing happened": ("NOT_EXERCISED: the controller never wrote anything", tried(trial())),
    "no fault": (NO_FAULT, tried(done(trial()))),
    "no fault, whatever it did": (NO_FAULT, tried(done(writes(trial().applied("x", "configmaps"), name="x")))),
}


@pytest.mark.parametrize(("words", "trial"), CASES.values(), ids=CASES)
def test_verdict(words: str, trial: Trial) -> None:
    assert told(verdict_of(REQUIREMENT, trial), words) == words
