"""survives-lost-answer: whom it accuses, whom it does not, and when it knows nothing."""

import msgspec
import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.survives_lost_answer import REQUIREMENT
from staleproof.checks.trial import Trial
from staleproof.core.fault import Kill

from ..life_script import LifeScript, losing, three, tried
from ..script import HOLD, WIDGETS, Script, told


def begun(*names: str, generated: str = "w-") -> LifeScript:
    """The answer to the last of these creates never arrives."""
    script = LifeScript(losing(), HOLD).step(1, "apply").applied("w", spec=3)
    return script.creates(*names, generated=generated).loses_the_answer()


def lost() -> LifeScript:
    return begun("w-a", "w-b", "w-c")


def hidden() -> LifeScript:
    """What it did is not shown before it decides anew."""
    script = LifeScript(losing(), HOLD).step(1, "apply").applied("w", spec=3).hold(fault=1)
    return script.creates("w-a", "w-b", "w-c").loses_the_answer().applied("w")


def touched(script: LifeScript) -> LifeScript:
    return script.idle(1).step(2, "touch").applied("w")


def down(script: Script) -> Script:
    """A workload that ends with two pods, whichever they are."""
    return three(script).applied("w", spec=2).deletes("w-a" if script.namespace == "ref-2" else "w-c")


def lost_delete() -> LifeScript:
    return three(LifeScript(losing("delete"))).applied("w", spec=2).deletes("w-c").loses_the_answer()


def named(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec=3).creates("w-0", "w-1", generated="").idle(1)


def again(script: Script) -> Script:
    """The widget is deleted and made again."""
    return three(script).deletes("w-a", "w-b", "w-c").removed("w", WIDGETS).applied("w", spec=1).creates("w-d")


def reported(script: Script) -> Script:
    return three(script).updates("w", status={"replicas": 3})


def lost_report() -> LifeScript:
    script = three(LifeScript(losing("update"))).updates("w", status={"replicas": 3}).loses_the_answer()
    return script.refused("update", "w", "Conflict", resource=WIDGETS).idle(2)


def broken() -> Script:
    """A connection broke, and nobody knows of the answer."""
    script = three(LifeScript(losing())).asks("create", "pods")
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], outcome="unknown", code=0)
    return script.idle(2)


FOURTH = (
    "pod/ns/w-d is the 4th live pod of widget/w, made after the answer to an earlier create was lost; "
    "fault-free runs never had more than 3 by then"
)
ANOTHER_GONE = (
    "the controller deleted pod/ns/w-b after the answer to an earlier delete was lost: "
    "1 live pod of widget/w left, fault-free runs kept 2, though w-c may have been deleted"
)
ONE_POD = "1 pod of widget/w, fault-free runs ended with 3"
CASES = {
    "creates again at once, though the first one is on its way": (
        f"FAIL: {FOURTH}, though w-c may have been created",
        tried(touched(lost().creates("w-d"))),
    ),
    "the first of a burst was lost": (
        f"FAIL: {FOURTH}, though w-a may have been created",
        tried(begun("w-a").creates("w-b", "w-c", "w-d")),
    ),
    "decides anew before it has seen what it did": (
        f"FAIL: {FOURTH}, though w-c may have been created",
        tried(hidden().creates("w-d").let_go(fault=1)),
    ),
    "deletes another because it never heard of the first": (
        f"FAIL: {ANOTHER_GONE}",
        tried(lost_delete().deletes("w-b").idle(2), down),
    ),
    "gives up": (
        f"FAIL: after the answer to its create of pods was lost: {ONE_POD}",
        tried(touched(begun("w-a")).released().passes(10)),
    ),
    # innocent, though it looks suspicious
    "looks before it goes on": ("PASS", tried(touched(lost()))),
    "goes on with its burst": ("PASS", tried(begun("w-a").creates("w-b", "w-c").idle(1))),
    "asks for deterministic names again": (
        "PASS",
        tried(begun("w-0", "w-1", generated="").refused("create", "w-1", "AlreadyExists").idle(1), named),
    ),
    "repeats a delete that finds nothing": ("PASS", tried(lost_delete().refused("delete", "w-c", "NotFound").idle(2), down)),
    "replaces what somebody else deleted": ("PASS", tried(lost().removed("w-a").creates("w-d").idle(1))),
    "an excess among children that it has seen": ("PASS", tried(touched(lost()).creates("w-d").deletes("w-a"))),
    "an excess that the lost create does not explain": (
        "PASS",
        tried(lost().made("w-x").made("w-y").creates("w-d").deletes("w-d").removed("w-x").removed("w-y").idle(1)),
    ),
    "another life would not have heard it anyway": (
        "INCONCLUSIVE",
        tried(lost().dies(1).lives_again(past={"pods": {}}).creates("w-d")),
    ),
    "a conflict with itself is no harm": ("NOT_EXERCISED", tried(lost_report(), reported)),
    "another fault may explain the end": (
        f"INCONCLUSIVE: it did not converge ({ONE_POD}), but Hold fired, too, and may explain that",
        tried(begun("w-a").fires(1).idle(1).released().passes(10)),
    ),
    "another workload": (
        f"INCONCLUSIVE: {FOURTH}, but the workload created {WIDGETS}/w 1 times and 2 times in fault-free runs",
        tried(lost().creates("w-d").idle(1), again),
    ),
    # nothing is proven unless an answer was lost
    "nothing happened": ("NOT_EXERCISED", tried(LifeScript(losing()))),
    "no answer was lost": ("NOT_EXERCISED", tried(three(LifeScript(losing())).idle(2))),
    "it was killed over it": (
        "NOT_EXERCISED",
        tried(LifeScript(Kill(resource="pods")).step(1, "apply").applied("w", spec=3).creates("w-a").loses_the_answer()),
    ),
    "nobody knows of the answer": ("NOT_EXERCISED", tried(broken())),
}


@pytest.mark.parametrize(("words", "trial"), CASES.values(), ids=CASES)
def test_verdict(words: str, trial: Trial) -> None:
    assert told(verdict_of(REQUIREMENT, trial), words) == words
