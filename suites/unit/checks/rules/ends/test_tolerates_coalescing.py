"""tolerates-coalescing: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.rules.ends import TOLERATES_COALESCING
from staleproof.core.fault import AnyFault, Coalesce, HoldStream, Kill
from staleproof.core.history.entry import Ended

from ...rule_cases import ONE_POD, UNSURE, Cases, verdicts
from ...script import WIDGETS, Script, beside, two_references

COALESCE = Coalesce(resource=WIDGETS)
CHANGED = "FAIL: it was never shown that widget/w was changed, only what came of it"


def scaled_twice(*more_faults: AnyFault) -> Script:
    """The widget goes from there to 5 and to 2 while nothing of it is shown."""
    script = Script(COALESCE, *more_faults).pair(1).opens().ended(WIDGETS, "gone").step(2, "scale").applied("w", spec=5)
    return script.applied("w", spec=2).lists(WIDGETS).watches(WIDGETS)


def done() -> Script:
    return scaled_twice().creates("w-1").updates("w", status={"ready": 2})


def usual(script: Script) -> Script:
    return script.pair(1).removed("w", WIDGETS).deletes("w-0").pair()


def renamed() -> Script:
    """There is another object under the same name."""
    script = Script(HoldStream(resource=WIDGETS, release="relist")).pair(1).hold(WIDGETS)
    return script.removed("w", WIDGETS).applied("w", spec=2).relist(WIDGETS)


def unseen_child() -> Script:
    """A child comes and goes unseen."""
    script = Script(COALESCE).opens().ended("configmaps", "gone").applied("x", "configmaps").removed("x", "configmaps")
    return script.lists("configmaps").watches("configmaps").pair()


CASES: Cases = {
    "needs every state": (scaled_twice().stuck(), f"{CHANGED}: {ONE_POD}"),
    "does not notice another object under the same name": (
        beside(renamed().stuck(), usual),
        "FAIL: it was never shown that widget/w was deleted, only what came of it: "
        "0 pods of widget/w, fault-free runs ended with 2",
    ),
    "leaves something behind": (
        done().creates("w-map", resource="configmaps", owner="", generated="").stuck(),
        f"{CHANGED}: configmap/w- is there, fault-free runs ended without it",
    ),
    "looks at the state": (done(), "PASS"),
    "its child came and went unseen": (unseen_child(), "PASS"),
    # --- something else may explain the end
    "another fault": (scaled_twice(Kill(resource="pods")).fires(1).stuck(), f"{UNSURE} Kill fired, too, and may explain that"),
    "too soon": (
        scaled_twice(Kill(resource="pods")).stuck(0.5),
        f"{UNSURE} it had 0.6 s to catch up, and may need 1.8 s after what was done to it",
    ),
    # --- nothing is proven unless a state was skipped
    "empty": (Script(COALESCE), "NOT_EXERCISED"),
    "not fired": (Script(COALESCE).pair(), "NOT_EXERCISED"),
    "nothing changed": (
        Script(COALESCE).opens().ended(WIDGETS, "gone").lists(WIDGETS).watches(WIDGETS).pair(),
        "NOT_EXERCISED",
    ),
    "a list of others by their label": (
        Script(COALESCE).pair().hold().creates("w-2", "w-3").lists(selector="app=x", without=["w-2", "w-3"]).ended().watches(),
        "NOT_EXERCISED",
    ),
    "a deletion that the list shows": (Script(COALESCE).pair(1).hold().deletes("w-0").relist(), "NOT_EXERCISED"),
    "held, not coalesced": (
        Script(COALESCE).pair().hold(WIDGETS).applied("w", spec=5).applied("w", spec=2).let_go(WIDGETS),
        "NOT_EXERCISED",
    ),
    "a new life": (Script(COALESCE).pair().opens().applied("w", spec=5).restarted(), "NOT_EXERCISED"),
    "never settled": (scaled_twice().adds(Ended), "INCONCLUSIVE: the trial has no settling phase"),
}


test_verdict = verdicts(TOLERATES_COALESCING, CASES, two_references())
