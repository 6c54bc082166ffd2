"""no-cross-object-writes: whom it accuses, whom it does not, and when it knows nothing."""

from typing import Any

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.no_cross_object_writes import REQUIREMENT
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome
from staleproof.core.entry import Competed
from staleproof.core.history import History

from ..script import WIDGETS, Script, reference, trial


def done(script: Script) -> History:
    return script.applied("theirs", "configmaps").applied("w", spec=1).creates("w-a").updates("w", status=1).ends()


def tried(history: History, *references: History) -> Trial:
    return Trial(history, references or (done(reference(1)), done(reference(2))))


def held(**spec: Any) -> Script:  # noqa: ANN401  # JSON
    script = trial().applied("theirs", "configmaps").applied("w", spec=1, **spec)
    return script.hold().creates("w-a").updates("w", status=1)


def writes(script: Script, number: int = 1, name: str = "theirs") -> Script:
    return script.updates(name, "configmaps", subresource="", data=number)


def makes(script: Script, name: str) -> Script:
    return script.creates(name, resource="configmaps", owner="", generated="")


def managing(script: Script) -> History:
    return makes(script.applied("w", spec=1), "settings").ends()


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


ACCUSED = "the controller {} configmap/ns/{}, which the workload neither owns nor mentions; no fault-free run did"
GUILTY = {
    "writes to what belongs to others": (writes(held()), ACCUSED.format("wrote to", "theirs")),
    "an object is told once": (writes(writes(held(), 1), 2), ACCUSED.format("wrote to", "theirs")),
    "makes what no reference had": (makes(held(), "nudge"), ACCUSED.format("created", "nudge")),
    "deletes it": (held().deletes("theirs", resource="configmaps"), ACCUSED.format("deleted", "theirs")),
    "deletes it with a collection": (held().deletes_all("configmaps"), ACCUSED.format("deleted", "theirs")),
}
NO_FAULT = "no fault touched the controller, so it had no reason to do anything unusual"
UNPROVEN = {
    "nothing happened": (trial().ends(), "the controller never wrote anything"),
    "no fault": (done(trial()), NO_FAULT),
    "no fault, whatever it did": (done(writes(trial().applied("x", "configmaps"), name="x")), NO_FAULT),
}
INNOCENT = {
    "keeps to its own": tried(held().deletes("w-a").updates("w", status=2).let_go().ends()),
    # though it looks suspicious
    "does what it does in the references": tried(
        makes(held(), "settings-2").let_go().ends(), managing(reference(1)), done(reference(2))
    ),
    "did it before any fault": tried(
        writes(trial().applied("theirs", "configmaps")).applied("w", spec=1).hold().creates("w-a").let_go().ends()
    ),
    "grandchildren are its own": tried(grown().let_go().ends()),
    "children of an owner that is gone are its own": tried(held().removed("w", WIDGETS).deletes("w-a").let_go().ends()),
    "to adopt and to release is to manage": tried(adopted().let_go().ends()),
    "the workload mentions it": tried(writes(held(settings={"from": ["configmaps/theirs"]})).let_go().ends()),
    "bookkeeping touches nothing": tried(held().asks("update", "leases.coordination.k8s.io", "lock").let_go().ends()),
    "a refused write touches nothing": tried(held().refused("update", "theirs", "Conflict", resource="configmaps").let_go().ends()),
    "takes over what a competing write made": tried(competed().let_go().ends()),
}


@pytest.mark.parametrize(("script", "because"), GUILTY.values(), ids=GUILTY)
def test_guilty(script: Script, because: str) -> None:
    verdict = verdict_of(REQUIREMENT, tried(script.let_go().ends()))

    assert verdict.outcome is Outcome.FAIL
    assert [finding.because for finding in verdict.findings] == [because]


@pytest.mark.parametrize("innocent", INNOCENT.values(), ids=INNOCENT)
def test_innocent(innocent: Trial) -> None:
    assert verdict_of(REQUIREMENT, innocent).outcome is Outcome.PASS


@pytest.mark.parametrize(("history", "why"), UNPROVEN.values(), ids=UNPROVEN)
def test_nothing_is_proven_without_a_fault(history: History, why: str) -> None:
    verdict = verdict_of(REQUIREMENT, tried(history))

    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, why)
