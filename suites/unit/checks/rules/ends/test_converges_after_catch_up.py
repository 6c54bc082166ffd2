"""converges-after-catch-up: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.rules.ends import CONVERGES_AFTER_CATCH_UP
from staleproof.core.history.entry import Ended

from ...rule_cases import ONE_POD, UNSURE, Cases, verdicts
from ...script import WIDGETS, Script, beside, trial, two_references

# --- workloads


def two(script: Script, *, ready: int = 2) -> Script:
    return script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b").updates("w", status={"ready": ready})


def three(script: Script) -> Script:
    return two(script).creates("w-c")


def unready(script: Script) -> Script:
    return two(script, ready=1)


def loose(script: Script, name: str = "w-map") -> Script:
    return script.creates(name, resource="configmaps", owner="", generated="")


def with_map(script: Script) -> Script:
    return loose(two(script))


def gone(script: Script) -> Script:
    return two(script).step(2, "delete").removed("w", WIDGETS).deletes("w-a", "w-b")


def again(script: Script) -> Script:
    """The user deletes and applies again."""
    return gone(script).step(3, "apply").applied("w", spec=0)


# --- trials


def held(*names: str, ready: int | None = None) -> Script:
    """These pods were created while pods were hidden."""
    script = trial().step(1, "apply").hold().applied("w", spec=2).creates(*names).let_go()
    return script if ready is None else script.updates("w", status={"ready": ready})


def late(script: Script) -> Script:
    """The end comes after a time that any controller can do with."""
    return script.released().passes(60)


def users(script: Script) -> Script:
    """Nothing that the controller has to do."""
    return script.step(1, "apply").applied("w", spec=0)


def gone_again(script: Script) -> Script:
    """What it made is taken away again."""
    return users(script).creates("w-a").deletes("w-a")


def silent() -> Script:
    """It is shown everything in the end, and writes nothing."""
    return trial().step(1, "apply").hold().applied("w", spec=2).made("w-x").let_go()


def right_without_it() -> Script:
    """It writes nothing, and nothing is missing."""
    return trial().step(1, "apply").hold().applied("w", spec=0).made("w-x").removed("w-x").let_go()


def meeting_the_dying() -> Script:
    """A finalizer still keeps the first one, and the apply changes that."""
    script = held("w-a", "w-b").step(2, "delete").terminating("w", WIDGETS).step(3, "apply").applied("w", spec=0)
    return late(script.deletes("w-a", "w-b").removed("w", WIDGETS))


LATE = "FAIL: 60.1 s after it could catch up:"
IDLE = "the controller never wrote anything"
DISAGREE = "INCONCLUSIVE: the references do not agree:"
CASES: Cases = {
    "children left over": (
        late(held("w-a", "w-b", "w-c", ready=2)),
        f"{LATE} 3 pods of widget/w, fault-free runs ended with 2",
    ),
    "children that are missing": (late(held("w-a", ready=2)), f"{LATE} {ONE_POD}"),
    "another status, which is a report": (late(held("w-a", "w-b", ready=0)), "PASS"),
    "an object of its own is missing": (
        beside(late(held("w-a", "w-b", ready=2)), with_map),
        f"{LATE} configmap/w-map is missing, fault-free runs ended with it",
    ),
    "an object of its own is there": (
        late(loose(held("w-a", "w-b", ready=2), "x")),
        f"{LATE} configmap/x is there, fault-free runs ended without it",
    ),
    "the children of a deleted primary are garbage": (beside(late(held("w-a", "w-b").removed("w", WIDGETS)), gone), "PASS"),
    "a certain difference counts whatever else is unstable": (beside(late(held("w-a", ready=7)), unready, two), "FAIL"),
    "the state of the references": (held("w-a", "w-b", ready=2), "PASS"),
    "it was reached before the deadline, whatever came later": (
        held("w-a", "w-b", ready=2).released().settled().resynced().creates("w-c"),
        "PASS",
    ),
    # --- the references
    "counts that differ between references are a range": (beside(held("w-a", "w-b", "w-c", ready=2), two, three), "PASS"),
    "outside such a range": (
        beside(held("w-a", "w-b", "w-c", "w-d", ready=2), two, three),
        f"{DISAGREE} 4 pods of widget/w, fault-free runs ended with 2 to 3",
    ),
    "a report that the references do not agree on": (beside(held("w-a", "w-b", ready=7), unready, two), "PASS"),
    "that a user's apply meets the dying object is not the controller's doing": (beside(meeting_the_dying(), again), "PASS"),
    # --- time enough
    "a deadline that is shorter than any client may need": (
        held("w-a").passes(1),
        f"{UNSURE} it had 0.1 s to catch up, and may need 1.6 s after what was done to it",
    ),
    "one that a restarted controller may need to be elected": (
        held("w-a").restarted().released().passes(15),
        f"{UNSURE} 15.5 s after its last start it may still wait to be elected",
    ),
    "a longer one": (held("w-a").restarted().released().passes(25), "FAIL"),
    # --- nothing is proven without something to catch up with
    "empty": (trial(), "INCONCLUSIVE"),
    "it differs, and no fault fired": (
        late(trial().pair(1)),
        f"INCONCLUSIVE: it did not converge ({ONE_POD}), but no fault had touched the controller",
    ),
    "no fault fired": (two(trial()), "NOT_EXERCISED"),
    # --- silence
    "it never wrote": (
        late(silent()),
        f"FAIL: 60.1 s after it could catch up, it had not written anything, and in every fault-free run it did: {ONE_POD}",
    ),
    "it never wrote, and had no time": (
        silent().passes(1).released(),
        "INCONCLUSIVE",
    ),
    "nor did it in a fault-free run": (beside(late(silent()), users, two), f"NOT_EXERCISED: {IDLE}"),
    "it never wrote, and nothing is missing": (beside(late(right_without_it()), gone_again), f"NOT_EXERCISED: {IDLE}"),
    "no settling phase": (two(trial()).adds(Ended), "INCONCLUSIVE"),
}


test_verdict = verdicts(CONVERGES_AFTER_CATCH_UP, CASES, two_references(two))
