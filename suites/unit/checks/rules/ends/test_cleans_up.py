"""cleans-up: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.rules.ends import CLEANS_UP
from staleproof.core.history.entry import Ended, FaultFired

from ...rule_cases import Cases, verdicts
from ...script import HOLD, HOLD_WIDGETS, WIDGETS, Script, beside, losing, trial, two_references

FINALIZERS = ["example.com/clean-up"]
KEPT = {"finalizers": ["example.com/keep"]}
"""Garbage without an owner: a collector would mark it for deletion, and there it would stay."""
NO_DELETION = "NOT_EXERCISED: nothing of the workload was deleted"
ORPHANED = "FAIL: pod/ns/w-a was left over when widget/w was deleted; fault-free runs left none, though it had not been shown w-a"
UNFINISHED = (
    "FAIL: widget/ns/w was deleted and is still there 10.1 s after it could catch up, held by example.com/clean-up; "
    "fault-free runs left none"
)

LEFT_OVER = "pod/ns/w-a was left over when widget/w was deleted; fault-free runs left none"


def settings(script: Script, name: str = "settings", *, generated: str = "") -> Script:
    """The controller makes a config map without an owner."""
    return script.creates(name, resource="configmaps", owner="", generated=generated)


def tidies(script: Script, *names: str) -> Script:
    """It deletes its config maps."""
    return script.deletes("settings", *names, resource="configmaps")


def finalizes(script: Script) -> Script:
    """It removes the finalizer, and so the widget is gone."""
    script.updates("w", subresource="", metadata=script._objects[WIDGETS, "w"]["metadata"] | {"finalizers": []})
    return script.removed("w", WIDGETS)


def made(script: Script, *, hold: bool = False) -> Script:
    """A widget with a finalizer, a pod that is kept by its own, perhaps hidden, and a config map without an owner."""
    script.step(1, "apply").applied("w", metadata={"finalizers": FINALIZERS}, spec=1)
    script = (script.hold() if hold else script).creates("w-a", metadata=KEPT)
    return settings(script).idle(1)


def deleted(script: Script) -> Script:
    return script.step(2, "delete").terminating("w", WIDGETS)


def held() -> Script:
    """The pod is hidden from the controller when the widget is deleted."""
    return deleted(made(trial(), hold=True))


def later(script: Script) -> Script:
    """After a time that any controller can do with."""
    script.released()
    for _ in range(100):
        script.idle(2)
    return script


def renewed(script: Script) -> Script:
    """The widget is applied again. As long as its finalizer keeps it, that changes the dying one."""
    return script.step(3, "apply").applied("w", spec=3)


# --- what references do


def cleaned(script: Script) -> Script:
    return finalizes(tidies(deleted(made(script)).deletes("w-a"))).idle(2)


def cleaned_and_renewed(script: Script) -> Script:
    return renewed(cleaned(script))


def recreated(script: Script) -> Script:
    return cleaned(script).applied("w", spec=1).creates("w-b")


def pod_left(script: Script) -> Script:
    return finalizes(tidies(deleted(made(script))))


def settings_left(script: Script) -> Script:
    return finalizes(deleted(made(script)).deletes("w-a"))


def more_settings(script: Script) -> Script:
    return finalizes(tidies(deleted(settings(made(script), "settings-a", generated="settings-")).deletes("w-a"), "settings-a"))


def reported(script: Script) -> Script:
    """It writes a status, and nothing else."""
    script.step(1, "apply").applied("w", spec=1).says(1)
    return script.step(2, "delete").removed("w", WIDGETS).idle(2)


# --- what trials do


def over_before_the_deletion() -> Script:
    return finalizes(tidies(made(trial(), hold=True).let_go().terminating("w", WIDGETS).deletes("w-a")))


def restarted_after_the_deletion() -> Script:
    script = trial().adds(FaultFired, fault=0, on="x").step(1, "apply").applied("w", metadata={"finalizers": FINALIZERS}, spec=1)
    return finalizes(script.creates("w-a").terminating("w", WIDGETS).restarted().lists("pods").deletes("w-a"))


def never_heard_of_one() -> Script:
    script = Script(losing(), HOLD)
    settings(made(script), "settings-a", generated="settings-")
    settings(script.loses_the_answer(), "settings-b", generated="settings-")
    script.step(2, "delete").terminating("w", WIDGETS).deletes("w-a")
    return later(finalizes(tidies(script, "settings-b")))


def made_for_one_that_is_gone() -> Script:
    script = tidies(held().deletes("w-a"))
    owner = {"kind": "Widget", "name": "w", "uid": script.uid("w", WIDGETS), "controller": True}
    return later(finalizes(script).let_go().creates("w-b", owner="", metadata={"ownerReferences": [owner], **KEPT}))


def plain() -> Script:
    """A pod that nothing keeps, and which is hidden."""
    return trial().step(1, "apply").applied("w", metadata={"finalizers": FINALIZERS}, spec=1).hold().creates("w-a")


def garbage(*more: str) -> Script:
    return later(finalizes(deleted(plain().creates(*more))).let_go())


def terminating() -> Script:
    """Its pod is in its grace period."""
    return finalizes(deleted(plain()).deletes("w-a", grace=True)).let_go()


def shared() -> Script:
    """The pod has a second owner, which lives."""
    script = held().applied("v", WIDGETS)
    second = [{"kind": "Widget", "name": each, "uid": script.uid(each, WIDGETS), "controller": each == "w"} for each in ("w", "v")]
    script.deletes("w-a").creates("w-b", owner="", metadata={"ownerReferences": second})
    return later(finalizes(tidies(script)).let_go())


def replaced(script: Script) -> Script:
    """The widget is replaced, and its pod, too."""
    script.step(1, "apply").applied("w", spec=1).creates("w-0", generated="").idle(1).step(2, "recreate").deletes("w-0")
    return script.removed("w", WIDGETS).applied("w", spec=1).creates("w-0", generated="").idle(2).step(3, "touch").idle(3)


def adopts() -> Script:
    """It never saw that the widget was replaced, and so takes the pod over for the new one."""
    script = Script(HOLD_WIDGETS).step(1, "apply").applied("w", spec=1).creates("w-0", generated="").idle(1).step(2, "recreate")
    script.hold(WIDGETS).removed("w", WIDGETS).applied("w", spec=1).idle(2).relist(WIDGETS)
    owner = {"kind": "Widget", "name": "w", "uid": script.uid("w", WIDGETS), "controller": True}
    metadata = script._objects["pods", "w-0"]["metadata"] | {"ownerReferences": [owner]}
    return later(script.updates("w-0", "pods", subresource="", metadata=metadata).step(3, "touch").idle(3))


CASES: Cases = {
    "a controller that only reports": (
        beside(later(reported(trial().adds(FaultFired, fault=0, on="x"))), reported),
        "NOT_EXERCISED: it writes nothing but status, which honest-status judges",
    ),
    "cleans up what it has not been shown": (finalizes(tidies(held().deletes("w-a"))).let_go(), "PASS"),
    "forgets what it has not been shown": (later(finalizes(tidies(held())).let_go()), f"{ORPHANED} (resourceVersion 102)"),
    "all of a role are one finding": (
        later(finalizes(tidies(held().creates("w-b", metadata=KEPT))).let_go()),
        "FAIL: pod/ns/w-a, pod/ns/w-b were left over when widget/w was deleted; fault-free runs left none, "
        "though it had not been shown w-a, w-b (resourceVersion 102\N{EN DASH}105)",
    ),
    "leaves what has no owner": (
        later(finalizes(held().deletes("w-a")).let_go()),
        "FAIL: configmap/ns/settings was left over without an owner; fault-free runs left none",
    ),
    "never finishes": (later(tidies(held().deletes("w-a")).let_go()), UNFINISHED),
    "makes a child for one that is gone": (
        made_for_one_that_is_gone(),
        "FAIL: pod/ns/w-b was created and left over after widget/w was deleted; fault-free runs left none",
    ),
    "may still come back to it": (
        finalizes(tidies(held())).let_go(),
        f"INCONCLUSIVE: {LEFT_OVER}, but it had 0.1 s to catch up, and may need 4.8 s after what was done to it",
    ),
    # --- innocent, though it looks suspicious
    "a pod in its grace period is on its way": (terminating(), "PASS"),
    "late": (finalizes(tidies(held())).let_go().released().settled().deletes("w-a"), "PASS"),
    "made after the end was right": (settings(finalizes(tidies(held().deletes("w-a"))).let_go().released().settled()), "PASS"),
    "others' objects": (finalizes(tidies(held().deletes("w-a")).applied("theirs", "configmaps")).let_go(), "PASS"),
    "others made it again": (finalizes(tidies(held().deletes("w-a")).applied("settings", "configmaps")).let_go(), "PASS"),
    "a successor took it over": (beside(adopts(), replaced), "PASS"),
    "restarted after the deletion": (restarted_after_the_deletion(), "PASS"),
    # --- nothing is known without a deletion under a fault
    "empty": (trial(), NO_DELETION),
    "nothing was deleted": (made(trial()).hold().updates("w", status=1).creates("w-b").let_go(), NO_DELETION),
    "no fault": (
        cleaned(trial()),
        "NOT_EXERCISED: no fault touched the controller, so there was nothing that could disturb the deletion",
    ),
    "idle": (
        trial().adds(FaultFired, fault=0, on="x").applied("w").removed("w", WIDGETS),
        "NOT_EXERCISED: the controller never wrote anything",
    ),
    "a fault that was over before": (
        over_before_the_deletion(),
        "NOT_EXERCISED: nothing was done to the controller during or after the deletion",
    ),
    "never settled": (held().adds(Ended), "INCONCLUSIVE: the trial has no settling phase"),
    # --- the references
    "children of an earlier incarnation": (
        beside(later(finalizes(tidies(held())).applied("w", spec=1).let_go().creates("w-b")), recreated),
        f"{ORPHANED} (resourceVersion 102)",
    ),
    "left by all": (beside(finalizes(tidies(held())).let_go(), pod_left), "PASS"),
    "left to the garbage collector": (garbage(), "PASS"),
    "however many": (garbage("w-b"), "PASS"),
    "what another owner keeps from it": (
        shared(),
        "FAIL: pod/ns/w-b was created and left over after widget/w was deleted; fault-free runs left none, "
        "though it had not been shown w-b (resourceVersion 107)",
    ),
    "left by one reference only": (
        beside(later(finalizes(tidies(held().creates("w-b", metadata=KEPT))).let_go()), pod_left, cleaned),
        "INCONCLUSIVE: pod/ns/w-b is left over, but the references do not agree how much is left",
    ),
    "kept by the references": (beside(finalizes(held().deletes("w-a")).let_go(), settings_left), "PASS"),
    "left of another workload": (
        beside(later(finalizes(tidies(renewed(held()))).let_go()), cleaned_and_renewed),
        f"INCONCLUSIVE: {LEFT_OVER}, but the workload created {WIDGETS}/w 1 times and 2 times in fault-free runs",
    ),
    "never finished, in another workload": (
        beside(later(tidies(renewed(held().deletes("w-a"))).let_go()), cleaned_and_renewed),
        UNFINISHED,
    ),
    "it never heard that it had made it": (beside(never_heard_of_one(), more_settings), "PASS"),
}


test_verdict = verdicts(CLEANS_UP, CASES, two_references(cleaned))
