"""isolates-objects: which controllers it accuses, which it does not, and when it knows nothing."""

from functools import partial

import pytest

from staleproof.checks.rules.pace import ISOLATES_OBJECTS, usual_seconds
from staleproof.core.fault import AnyFault, HideOwnWrite, Reject
from staleproof.core.history.entry import Stalled

from ...rule_cases import Cases, verdicts, witnesses
from ...script import WIDGETS, Script, Workload, beside, trial, two_references

HIDE, SETS = HideOwnWrite(resource="pods"), "replicasets.apps"
NOTHING_HIDDEN = "NOT_EXERCISED: no new primary was shown while own writes for another one were hidden from the controller"
DISTURBED = "NOT_EXERCISED: something else was done to the controller meanwhile"


def one(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec=1)


def other(script: Script) -> Script:
    script.names = ("w", "v")
    return script.step(2, "apply").applied("v", spec=1)


def two(*faults: AnyFault) -> Script:
    """Two widgets, `w` and `v`, of which the first is applied."""
    return one(Script(HIDE, *faults))


def waiting(*faults: AnyFault) -> Script:
    """It waits for its create for `w`, and `v` has been shown."""
    return other(two(*faults).hold().creates("w-a"))


def selecting() -> Script:
    """It watches its children by their label only, and waits in the same way."""
    script = one(Script(HideOwnWrite(resource=SETS)).watches(SETS, selector="app=x")).hold(SETS)
    return other(script.creates("w-a", resource=SETS, metadata={"labels": {"app": "x"}}))


def idle(script: Script) -> Script:
    return other(one(script).creates("w-a").updates("w", status=1))


def fault_free(script: Script) -> Script:
    return idle(script).creates("v-a", owner="v")


def slow(script: Script) -> Script:
    return idle(script).passes(2.0).creates("v-a", owner="v")


def found(seconds: float) -> str:
    takes = f"for {seconds} s it did nothing for {WIDGETS}/v, which takes 0.1 s without faults"
    return f"FAIL: {takes}, while pod/w-a of another object had not been shown to it"


def short(seconds: float) -> str:
    return f"NOT_EXERCISED: own writes were hidden for {seconds} s only, and it may take 5.0 s"


def with_input(script: Script, *, hidden: bool) -> Script:
    """The second widget needs what another user made, of the kind that is hidden."""
    made = one(script).hold("configmaps") if hidden else one(script)
    made = other(made.creates("w-c", resource="configmaps", generated="").made("v-in", "configmaps", owner=""))
    made = made.passes(8.0).let_go("configmaps") if hidden else made
    return made.creates("v-c", resource="configmaps", generated="", owner="v")


def shared(script: Script) -> Script:
    """It builds one ConfigMap of all widgets, and then the status of each."""
    one(script).creates("all", resource="configmaps", generated="", data="w").updates("w", status=1)
    return other(script).updates("all", "configmaps", subresource="", data="w v").updates("v", status=1)


def shared_hidden(*, seen_at: float, late: float = 0.0) -> Script:
    """What it has built is shown so late, and its pod still later."""
    script = one(Script(HideOwnWrite(resource="configmaps"), HIDE)).hold("configmaps").hold(fault=1)
    script.creates("all", resource="configmaps", generated="", data="w").creates("w-a").updates("w", status=1)
    other(script).refused("create", "all", "AlreadyExists", resource="configmaps").passes(seen_at).let_go("configmaps")
    script.passes(late).let_go(fault=1)
    return script.updates("all", "configmaps", subresource="", data="w v").updates("v", status=1)


CASES: Cases = {
    "what is built of all of them is hidden": (
        beside(shared_hidden(seen_at=8.0), shared),
        f"NOT_EXERCISED: configmap/all was hidden, which is written for {WIDGETS}/v as well",
    ),
    "it is shown, and it waits for something else": (beside(shared_hidden(seen_at=1.0, late=8.0), shared), "FAIL"),
    "what the other may need is hidden, too": (
        beside(with_input(Script(HideOwnWrite(resource="configmaps")), hidden=True), partial(with_input, hidden=False)),
        "NOT_EXERCISED: configmap/v-in, which another user had made, was hidden, too: it may be needed",
    ),
    "waits with everything": (waiting().passes(8.0).let_go().creates("v-a", owner="v"), found(8.2)),
    "waits for a deletion": (
        other(two().creates("w-a").hold().deletes("w-a")).passes(8.0).let_go().creates("v-a", owner="v"),
        found(8.2),
    ),
    "comes to it late": (waiting().passes(8.0).creates("v-a", owner="v").passes(8.0).let_go(), found(8.1)),
    "goes on with the other": (waiting().creates("v-a", owner="v").passes(8.0).let_go(), "PASS"),
    "goes on with the other's status": (waiting().updates("v", status=1).passes(8.0).let_go(), "PASS"),
    "waits for what a label selects": (
        beside(selecting().passes(8.0).let_go(SETS).creates("v-a", resource=SETS, owner="v"), fault_free),
        found(8.2).replace("pod/", "replicaset/"),
    ),
    "goes on with the other, and a label selects": (
        beside(selecting().creates("v-a", resource=SETS, owner="v").passes(8.0).let_go(SETS), fault_free),
        "PASS",
    ),
    # --- nothing is known unless one waited long enough
    "empty": (Script(HIDE), NOTHING_HIDDEN),
    "nothing was hidden": (other(two().creates("w-a")).creates("v-a", owner="v"), NOTHING_HIDDEN),
    "another user's write": (other(two().hold().made("x", owner="w")).passes(8.0).let_go(), NOTHING_HIDDEN),
    "a live read has shown it": (other(two().hold().creates("w-a").gets("w-a")).passes(8.0).let_go(), NOTHING_HIDDEN),
    "too short": (waiting().passes(2.0).let_go(), short(2.2)),
    "restarted": (waiting().passes(2.0).restarted(), short(2.1)),
    "rejected": (waiting(Reject(resource="pods")).rejected(fault=1).passes(8.0).let_go(), f"{DISTURBED} (Answered)"),
    "stalled": (
        waiting().adds(Stalled, request=9, verb="create", resource="pods", fault=0).passes(8.0).let_go(),
        f"{DISTURBED} (Stalled)",
    ),
    # --- the references tell how long it may take
    "takes as long without faults": (beside(waiting().passes(8.0).creates("v-a", owner="v").let_go(), slow, fault_free), "PASS"),
    "does nothing without faults": (
        beside(waiting().passes(8.0).let_go(), fault_free, idle),
        f"NOT_EXERCISED: fault-free runs did nothing for {WIDGETS}/v",
    ),
}


test_verdict = verdicts(ISOLATES_OBJECTS, CASES, two_references(fault_free))


def test_the_hidden_write_and_the_other_object_are_witnesses() -> None:
    script, _ = CASES["waits with everything"]
    assert isinstance(script, Script)

    assert witnesses(ISOLATES_OBJECTS, beside(script, fault_free)) == ["FaultOpened", "Committed", "Delivered", "Delivered"]


def after_three_seconds(script: Script) -> Script:
    return script.applied("w").passes(3.0).creates("w-a")


def after_two_seconds(script: Script) -> Script:
    return script.applied("w").passes(2.0).creates("w-a")


def never(script: Script) -> Script:
    return script.applied("w")


@pytest.mark.parametrize(
    ("workloads", "seconds"), [((after_two_seconds, after_three_seconds), 3.1), ((after_two_seconds, never), None)]
)
def test_the_slowest_reference_counts(workloads: tuple[Workload, ...], seconds: float | None) -> None:
    found = usual_seconds(beside(trial(), *workloads), f"{WIDGETS}/w")

    assert found == (seconds and pytest.approx(seconds))
