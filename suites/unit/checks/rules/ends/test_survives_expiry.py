"""survives-expiry: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.rules.ends import SURVIVES_EXPIRY
from staleproof.core.fault import AnyFault, Coalesce, Expire, HoldStream
from staleproof.core.history.entry import Answered, Ended, FaultIndex, Refused, RequestId

from ...rule_cases import ONE_POD, UNSURE, verdicts
from ...script import SEVER, WIDGETS, Script, two_references

EXPIRE, COALESCE = Expire(resource="pods"), Coalesce(resource="pods")
RELIST = HoldStream(resource="pods", release="relist")
NEVER = "NOT_EXERCISED: no watch or list of the controller was answered 410"


def expired(how: str = "expired", *more_faults: AnyFault) -> Script:
    return Script(EXPIRE, *more_faults).opens().ended(WIDGETS, how)


def scaled(how: str = "expired", replicas: int = 2, fault: AnyFault = EXPIRE) -> Script:
    """The widget is scaled after its watch expired, and that is not shown."""
    return Script(fault).pair(1).opens().ended(WIDGETS, how).step(2, "scale").applied("w", spec=replicas)


def refused() -> Script:
    return expired("gone").adds(Refused, client="controller", resource=WIDGETS, start="1", code=410, fault=0)


def answer_to_a_list() -> Script:
    script = Script(EXPIRE).opens().fires().asks("list", WIDGETS)
    script.entries[-1] = Answered(
        at=1.0, request=RequestId(1), outcome="fail", code=410, reason="Expired", fault=FaultIndex(0), executed=False
    )
    return script.lists(WIDGETS).pair()


CASES = {
    "never lists again": (
        scaled().stuck(),
        f"FAIL: it never listed {WIDGETS} again after 410 Expired, and widget/w was changed: {ONE_POD}",
    ),
    "lists and does not look at what it got": (
        scaled("gone").lists(WIDGETS).watches(WIDGETS).stuck(),
        f"FAIL: after 410 Expired, and a list of {WIDGETS}: {ONE_POD}",
    ),
    "keeps what has vanished": (
        Script(RELIST).pair().hold().removed("w-1").relist().stuck(),
        f"FAIL: after 410 Expired, and a list of pods: {ONE_POD}",
    ),
    "lists again after expired": (expired().lists(WIDGETS).watches(WIDGETS).pair(), "PASS"),
    "lists again after gone": (expired("gone").lists(WIDGETS).watches(WIDGETS).pair(), "PASS"),
    "is given the state by a WatchList": (expired().watches(WIDGETS, watch_list=True).initial_end(4).pair(), "PASS"),
    "is given the state by a watch from 0": (expired().watches(WIDGETS, start="0").pair(), "PASS"),
    "410 may answer a list": (answer_to_a_list(), "PASS"),
    "410 may answer a watch": (refused().lists(WIDGETS).watches(WIDGETS).pair(), "PASS"),
    "a resync is answered 410 as well": (
        Script(EXPIRE).ended(WIDGETS, "expired", fault=None).lists(WIDGETS).watches(WIDGETS).pair(),
        "PASS",
    ),
    # --- something else may explain the end
    "never shown a state in between": (
        scaled("gone", 5, COALESCE).applied("w", spec=2).lists(WIDGETS).watches(WIDGETS).stuck(),
        f"{UNSURE} it was never shown a state of widget/w in between (tolerates-coalescing)",
    ),
    "another fault": (
        expired("gone", SEVER).lists(WIDGETS).watches(WIDGETS).fires(1).pair(1).stuck(),
        f"{UNSURE} Sever fired, too, and may explain that",
    ),
    "a client may yet come back": (
        scaled().stuck(1.0),
        f"{UNSURE} it had 1.1 s to catch up, and may need 1.6 s after what was done to it",
    ),
    # --- nothing is known without 410 and something to do
    "a new life has survived nothing": (
        expired().restarted().watches(WIDGETS, start="0").pair(),
        f"NOT_EXERCISED: it did not list {WIDGETS} again after 410, and there was nothing there that it needed",
    ),
    "nothing it needed": (
        Script(EXPIRE).pair().opens().ended("configmaps", "expired"),
        "NOT_EXERCISED: it did not list configmaps again after 410, and there was nothing there that it needed",
    ),
    "never wrote": (
        expired().lists(WIDGETS).watches(WIDGETS).applied("w").made("w-0"),
        f"{UNSURE} it had 0.1 s to catch up, and may need 1.6 s after what was done to it",
    ),
    "never wrote, though it had the time": (
        expired().lists(WIDGETS).watches(WIDGETS).applied("w").made("w-0").stuck(),
        f"FAIL: after 410 Expired, and a list of {WIDGETS}: {ONE_POD}",
    ),
    "empty": (Script(EXPIRE), NEVER),
    "not fired": (Script(EXPIRE).pair(), NEVER),
    "another end": (Script(EXPIRE).ended(WIDGETS, "reset").watches(WIDGETS).pair(), NEVER),
    "bookkeeping": (Script(Expire(resource="*")).watches("events").ended("events", "expired").pair(), NEVER),
    "never settled": (expired().adds(Ended), "INCONCLUSIVE: the trial has no settling phase"),
}


test_verdict = verdicts(SURVIVES_EXPIRY, CASES, two_references())
