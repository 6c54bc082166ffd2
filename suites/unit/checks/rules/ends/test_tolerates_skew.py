"""tolerates-skew: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.rules.ends import TOLERATES_SKEW
from staleproof.core.fault import AnyFault, HoldStream, Reject, SeverStream

from ...rule_cases import ONE_POD, UNSURE, verdicts
from ...script import HOLD, HOLD_WIDGETS, WIDGETS, Script, two_references


def late_children(fault: AnyFault = HOLD, *more_faults: AnyFault) -> Script:
    """One of two is made while pods are late."""
    return Script(fault, *more_faults).hold().pair(1).let_go()


def late_parents() -> Script:
    """Another pod is wanted while widgets are late."""
    return Script(HOLD_WIDGETS).pair(1).hold(WIDGETS).applied("w", spec=2)


def duplicated() -> Script:
    """It breaks another rule meanwhile."""
    return Script(HOLD).hold().pair().step(2, "touch").applied("w", touched=1).creates("w-2").let_go()


def burst() -> Script:
    """All in one reconciliation, which is no write on an old view."""
    script = Script(HOLD).hold().step(1, "apply").applied("w", spec=2).creates("w-0", "w-1", "w-2").deletes("w-2")
    return script.updates("w", status={"ready": 2}).let_go()


def touched() -> Script:
    return Script(HOLD).pair().hold().updates("w-0", "pods", subresource="", seen=1)


TOLD_ELSEWHERE = "NOT_EXERCISED: it wrote on an old view meanwhile, which no-duplicate-create tells"
NOT_OURS = f"{UNSURE} Hold fired, too, and may explain that"
CASES = {
    "does not get over a lag": (
        late_children().stuck(),
        f"FAIL: after its view of pods was behind that of {WIDGETS}: {ONE_POD}",
    ),
    "does not get over parents that are older than their children": (
        late_parents().updates("w-0", "pods", subresource="", seen=1).let_go(WIDGETS).stuck(),
        f"FAIL: after its view of {WIDGETS} was behind that of pods: {ONE_POD}",
    ),
    "ends well, children were late": (Script(HOLD).hold().pair().let_go(), "PASS"),
    "ends well, parents were late": (
        late_parents().updates("w-0", "pods", subresource="").creates("w-1").let_go(WIDGETS).updates("w", status={"ready": 2}),
        "PASS",
    ),
    "a burst": (burst(), "PASS"),
    # --- others tell
    "breaks another rule meanwhile, and mends it": (duplicated().deletes("w-2"), TOLD_ELSEWHERE),
    "breaks another rule meanwhile": (duplicated().stuck(), TOLD_ELSEWHERE),
    "a hold that ends with a list": (late_children(HoldStream(resource="pods", release="relist")).stuck(), NOT_OURS),
    "a hold that ends with a resumption": (late_children(HoldStream(resource="pods", release="resume")).stuck(), NOT_OURS),
    # --- something else may explain the end
    "another fault": (
        late_children(HOLD, Reject(resource="pods")).fires(1).stuck(),
        f"{UNSURE} Reject fired, too, and may explain that",
    ),
    "too soon": (
        late_children(HOLD, Reject(resource="pods")).passes(9.0).closes(0).stuck(1.0),
        f"{UNSURE} it had 1.1 s to catch up, and may need 21.0 s after what was done to it",
    ),
    # --- nothing is proven unless one moved while another was late
    "empty": (Script(HOLD), "NOT_EXERCISED"),
    "not fired": (Script(HOLD).pair(), "NOT_EXERCISED"),
    "nothing else moved": (touched().let_go(), "NOT_EXERCISED"),
    "over before anything moved": (touched().relist().applied("w", spec=2), "NOT_EXERCISED"),
    "cut, not late": (Script(SeverStream(resource="pods")).opens().ended().watches().pair(), "NOT_EXERCISED"),
    "another life": (
        Script(HOLD).hold().applied("w", spec=2).made("w-0").restarted().applied("w", spec=3),
        "NOT_EXERCISED",
    ),
}


test_verdict = verdicts(TOLERATES_SKEW, CASES, two_references())
