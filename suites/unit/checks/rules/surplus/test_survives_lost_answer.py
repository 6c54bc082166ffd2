"""survives-lost-answer: which controllers it accuses, which it does not, and when it knows nothing."""

import msgspec

from staleproof.checks.rules.surplus import SURVIVES_LOST_ANSWER
from staleproof.checks.trial import Trial
from staleproof.core.fault import Kill

from ...rule_cases import Cases, verdicts
from ...script import HOLD, WIDGETS, Script, beside, losing, three, three_renewed, two_references


def begun(*names: str, generated: str = "w-") -> Script:
    """The answer to the last of these creates never arrives."""
    script = Script(losing(), HOLD).step(1, "apply").applied("w", spec=3)
    return script.creates(*names, generated=generated).loses_the_answer()


def lost() -> Script:
    return begun("w-a", "w-b", "w-c")


def hidden() -> Script:
    """What it did is not shown before it decides anew."""
    script = Script(losing(), HOLD).step(1, "apply").applied("w", spec=3).hold(fault=1)
    return script.creates("w-a", "w-b", "w-c").loses_the_answer().applied("w")


def touched(script: Script) -> Script:
    return script.idle(1).step(2, "touch").applied("w")


def down(script: Script) -> Script:
    """A workload that ends with two pods, whichever they are."""
    return three(script).applied("w", spec=2).deletes("w-a" if script.namespace == "ref-2" else "w-c")


def lost_delete() -> Script:
    return three(Script(losing("delete"))).applied("w", spec=2).deletes("w-c").loses_the_answer()


def named(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec=3).creates("w-0", "w-1", generated="").idle(1)


def reported(script: Script) -> Script:
    return three(script).updates("w", status={"replicas": 3})


def bare_report(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec=3).updates("w", status={"of": 3})


def lost_bare_report() -> Script:
    return bare_report(Script(losing("update"))).loses_the_answer().idle(1)


def lost_report() -> Script:
    script = three(Script(losing("update"))).updates("w", status={"replicas": 3}).loses_the_answer()
    return script.refused("update", "w", "Conflict", resource=WIDGETS).idle(2)


def broken() -> Script:
    """A connection broke, and whether an answer arrived is unknown."""
    script = three(Script(losing())).asks("create", "pods")
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], outcome="unknown", code=0)
    return script.idle(2)


def of_input(script: Script, *, state: str = "new") -> Script:
    return script.step(1, "apply").applied("w", spec=1).creates("w-a", spec=state)


def made_late(state: str) -> Trial:
    """It never hears of the pod that it made from this state of an input, and makes one for the new state; a user tidies up."""
    script = of_input(Script(losing()), state=state).loses_the_answer().creates("w-b", spec="new")
    return beside(script.removed("w-a").idle(1), of_input)


def replaced_late(state: str) -> Trial:
    """It replaces a pod of this state of an input twice, and never hears that the first one is deleted."""
    script = of_input(Script(losing("delete")), state=state).deletes("w-a").loses_the_answer()
    return beside(script.creates("w-b", spec=state).deletes("w-b").creates("w-c", spec="new").idle(1), of_input)


FOURTH = (
    "pod/ns/w-d is the 4th live pod of widget/w, made after the answer to an earlier create was lost; "
    "fault-free runs never had more than 3"
)
ANOTHER_GONE = (
    "the controller deleted pod/ns/w-b after the answer to an earlier delete was lost: "
    "1 live pod of widget/w left, fault-free runs kept 2, though w-c may have been deleted"
)
ONE_POD = "1 pod of widget/w, fault-free runs ended with 3"
CASES: Cases = {
    "creates again at once, though the first one is on its way": (
        touched(lost().creates("w-d")),
        f"FAIL: {FOURTH}, though w-c may have been created",
    ),
    "the first of a burst was lost": (
        begun("w-a").creates("w-b", "w-c", "w-d"),
        f"FAIL: {FOURTH}, though w-a may have been created",
    ),
    "decides anew before it has seen what it did": (
        hidden().creates("w-d").let_go(fault=1),
        f"FAIL: {FOURTH}, though w-c may have been created",
    ),
    "deletes another because it never heard of the first": (
        beside(lost_delete().deletes("w-b").idle(2), down),
        f"FAIL: {ANOTHER_GONE}",
    ),
    "gives up": (touched(begun("w-a")).released().passes(100), f"FAIL: after the answer to its create of pods was lost: {ONE_POD}"),
    # innocent, though it looks suspicious
    "looks before it goes on": (touched(lost()), "PASS"),
    "goes on with its burst": (begun("w-a").creates("w-b", "w-c").idle(1), "PASS"),
    "makes another for another state of the input": (made_late("old"), "PASS"),
    "makes another for the same state": (made_late("new"), "FAIL"),
    "replaces what it had made from an input that was shown late": (replaced_late("old"), "PASS"),
    "replaces what is as ever": (replaced_late("new"), "FAIL"),
    "asks for deterministic names again": (
        beside(begun("w-0", "w-1", generated="").refused("create", "w-1", "AlreadyExists").idle(1), named),
        "PASS",
    ),
    "repeats a delete that finds nothing": (beside(lost_delete().refused("delete", "w-c", "NotFound").idle(2), down), "PASS"),
    "replaces what another user deleted": (lost().removed("w-a").creates("w-d").idle(1), "PASS"),
    "an excess among children that it has seen": (touched(lost()).creates("w-d").deletes("w-a"), "PASS"),
    "an excess that the lost create does not explain": (
        lost().made("w-x").made("w-y").creates("w-d").deletes("w-d").removed("w-x").removed("w-y").idle(1),
        "PASS",
    ),
    "another life would not have heard it anyway": (lost().dies(1).lives_again(past={"pods": {}}).creates("w-d"), "INCONCLUSIVE"),
    "a conflict with itself is no harm": (beside(lost_report(), reported), "NOT_EXERCISED"),
    "nothing but a status": (
        beside(lost_bare_report(), bare_report),
        "NOT_EXERCISED: it writes nothing but status, which honest-status judges",
    ),
    "another fault may explain the end": (
        touched(begun("w-a").fires(1).idle(1)).released().passes(100),
        f"INCONCLUSIVE: it did not converge ({ONE_POD}), but Hold fired, too, and may explain that",
    ),
    "another workload": (
        beside(lost().creates("w-d").idle(1), three_renewed),
        f"INCONCLUSIVE: {FOURTH}, but the workload created {WIDGETS}/w 1 times and 2 times in fault-free runs",
    ),
    # nothing is proven unless an answer was lost
    "nothing happened": (Script(losing()), "NOT_EXERCISED"),
    "no answer was lost": (three(Script(losing())).idle(2), "NOT_EXERCISED"),
    "it was killed over it": (
        Script(Kill(resource="pods")).step(1, "apply").applied("w", spec=3).creates("w-a").loses_the_answer(),
        "NOT_EXERCISED",
    ),
    "whether an answer arrived is unknown": (broken(), "NOT_EXERCISED"),
}


test_verdict = verdicts(SURVIVES_LOST_ANSWER, CASES, two_references(three))
