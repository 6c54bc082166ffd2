"""no-cross-object-writes: which controllers it accuses, which it does not, and when it knows nothing."""

from typing import Any

from staleproof.checks.rules.writes import NO_CROSS_OBJECT_WRITES
from staleproof.core.history.entry import Competed

from ...rule_cases import Cases, verdicts
from ...script import WIDGETS, Script, beside, trial, two_references


def done(script: Script) -> Script:
    return script.applied("theirs", "configmaps").applied("w", spec=1).creates("w-a").updates("w", status=1)


def late(script: Script) -> Script:
    """The hold ends."""
    return script.let_go()


def held(**spec: Any) -> Script:  # noqa: ANN401  # JSON
    script = trial().applied("theirs", "configmaps").applied("w", spec=1, **spec)
    return script.hold().creates("w-a").updates("w", status=1)


def held_beside() -> Script:
    """What it writes to was there before the trial, and nothing was heard of it since."""
    script = trial().had("theirs", "configmaps").applied("w", spec=1)
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


def restarts() -> Script:
    """All that it changes in another's Deployment is a time."""
    script = trial().applied("theirs", "deployments.apps", spec=at("2026-01-01T00:00:00Z")).applied("w", spec=1)
    script.hold().creates("w-a").updates("w", status=1)
    return script.updates("theirs", "deployments.apps", subresource="", spec=at("2026-01-02T00:00:00Z"))


def at(time: str) -> dict[str, Any]:
    return {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": time}}}}


CASES: Cases = {
    "writes to what belongs to others": (late(writes(held())), ACCUSED.format("wrote to", "theirs")),
    "writes to what was there before": (late(writes(held_beside())), ACCUSED.format("wrote to", "theirs")),
    "an object is named once": (late(writes(writes(held(), 1), 2)), ACCUSED.format("wrote to", "theirs")),
    "makes what no reference had": (late(makes(held(), "nudge")), ACCUSED.format("created", "nudge")),
    "deletes it": (late(held().deletes("theirs", resource="configmaps")), ACCUSED.format("deleted", "theirs")),
    "deletes it with a collection": (late(held().deletes_all("configmaps")), ACCUSED.format("deleted", "theirs")),
    "restarts another's pods": (late(restarts()), "FAIL"),
    "patches it with what it is": (late(held().asks("patch", "configmaps", "theirs")), "PASS"),
    "keeps to its own": (late(held().deletes("w-a").updates("w", status=2)), "PASS"),
    # innocent, though it looks suspicious
    "does what it does in the references": (beside(late(makes(held(), "settings-2")), managing, done), "PASS"),
    "did it before any fault": (late(writes(trial().applied("theirs", "configmaps")).applied("w").hold().creates("w-a")), "PASS"),
    "grandchildren are its own": (late(grown()), "PASS"),
    "reports on another kind that it serves": (late(held().updates("theirs", "configmaps", status={"ready": True})), "PASS"),
    "children of an owner that is gone are its own": (late(held().removed("w", WIDGETS).deletes("w-a")), "PASS"),
    "to adopt and to release is to manage": (late(adopted()), "PASS"),
    "the workload mentions it": (late(writes(held(settings={"from": ["configmaps/theirs"]}))), "PASS"),
    "bookkeeping touches nothing": (late(held().asks("update", "leases.coordination.k8s.io", "lock")), "PASS"),
    "a refused write touches nothing": (late(held().refused("update", "theirs", "Conflict", resource="configmaps")), "PASS"),
    "takes over what a competing write made": (late(competed()), "PASS"),
    # nothing is proven without a fault
    "nothing happened": (trial(), "NOT_EXERCISED: the controller never wrote anything"),
    "no fault": (done(trial()), NO_FAULT),
    "no fault, whatever it did": (done(writes(trial().applied("x", "configmaps"), name="x")), NO_FAULT),
}


test_verdict = verdicts(NO_CROSS_OBJECT_WRITES, CASES, two_references(done))
