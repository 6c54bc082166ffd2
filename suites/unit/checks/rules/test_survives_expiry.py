"""survives-expiry: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import survives_expiry
from staleproof.checks.trial import Trial
from staleproof.core.entry import Answered, Ended, Refused
from staleproof.core.fault import Coalesce, Expire, HoldStream, SeverStream

from ..script import WIDGETS, told
from ..stream_script import ONE_POD, UNSURE, StreamScript, pair, stuck, two_references

EXPIRE = Expire(resource="pods")
NEVER = "NOT_EXERCISED: no watch or list of the controller was answered 410"


def expired(resource: str = WIDGETS, how: str = "expired") -> StreamScript:
    return StreamScript(EXPIRE).opens().ended(resource, how)


def scaled(how: str = "expired") -> StreamScript:
    """The widget is scaled to two after its watch expired, and then nothing comes."""
    return pair(StreamScript(EXPIRE), replicas=1).opens().ended(WIDGETS, how).step(2, "scale").applied("w", spec=2)


def keeps_what_has_vanished() -> StreamScript:
    return stuck(pair(StreamScript(HoldStream(resource="pods", release="relist"))).hold().removed("w-1").relist())


def answer_to_a_list() -> StreamScript:
    script = StreamScript(EXPIRE).opens().fires().asks("list", WIDGETS)
    script.entries[-1] = Answered(at=1.0, request=1, outcome="fail", code=410, reason="Expired", fault=0, executed=False)
    return pair(script.lists(WIDGETS))


def answer_to_a_watch() -> StreamScript:
    script = StreamScript(EXPIRE).opens().ended(WIDGETS, "gone")
    script.adds(Refused, client="controller", resource=WIDGETS, start="1", code=410, fault=0)
    return pair(script.lists(WIDGETS).watches(WIDGETS))


def skips_a_state() -> StreamScript:
    script = pair(StreamScript(Coalesce(resource="pods")), replicas=1).opens().ended(WIDGETS, "gone")
    return stuck(script.step(2, "scale").applied("w", spec=5).applied("w", spec=2).lists(WIDGETS).watches(WIDGETS))


def severed_too() -> StreamScript:
    script = StreamScript(EXPIRE, SeverStream(resource="pods")).opens().ended(WIDGETS, "gone").lists(WIDGETS).watches(WIDGETS)
    return stuck(pair(script.fires(1), replicas=1))


CASES: dict[str, tuple[StreamScript, str]] = {
    "never lists again": (
        stuck(scaled()),
        f"FAIL: it never listed {WIDGETS} again after 410 Expired, and widget/w was changed: {ONE_POD}",
    ),
    "lists and does not look at what it got": (
        stuck(scaled("gone").lists(WIDGETS).watches(WIDGETS)),
        f"FAIL: after 410 Expired, and a list of {WIDGETS}: {ONE_POD}",
    ),
    "keeps what has vanished": (keeps_what_has_vanished(), f"FAIL: after 410 Expired, and a list of pods: {ONE_POD}"),
    "lists again after expired": (pair(expired(how="expired").lists(WIDGETS).watches(WIDGETS)), "PASS"),
    "lists again after gone": (pair(expired(how="gone").lists(WIDGETS).watches(WIDGETS)), "PASS"),
    "is given the state by a WatchList": (pair(expired().watches(WIDGETS, watch_list=True).initial_end(4)), "PASS"),
    "is given the state by a watch from 0": (pair(expired().watches(WIDGETS, start="0")), "PASS"),
    "410 may answer a list": (answer_to_a_list(), "PASS"),
    "410 may answer a watch": (answer_to_a_watch(), "PASS"),
    "a resync is answered 410 as well": (
        pair(StreamScript(EXPIRE).ended(WIDGETS, "expired", fault=None).lists(WIDGETS).watches(WIDGETS)),
        "PASS",
    ),
    # --- something else may explain the end
    "never shown a state in between": (
        skips_a_state(),
        f"{UNSURE} it was never shown a state of widget/w in between (tolerates-coalescing)",
    ),
    "another fault": (severed_too(), f"{UNSURE} Sever fired, too, and may explain that"),
    "a client may yet come back": (
        stuck(scaled(), seconds=1.0),
        f"{UNSURE} it had 1.1 s to catch up, and may need 1.6 s after what was done to it",
    ),
    # --- nothing is known without 410 and something to do
    "a new life has survived nothing": (
        pair(expired().restarted().watches(WIDGETS, start="0")),
        f"NOT_EXERCISED: it did not list {WIDGETS} again after 410, and there was nothing there that it needed",
    ),
    "nothing it needed": (
        pair(StreamScript(EXPIRE)).opens().ended("configmaps", "expired"),
        "NOT_EXERCISED: it did not list configmaps again after 410, and there was nothing there that it needed",
    ),
    "never wrote": (
        expired().lists(WIDGETS).watches(WIDGETS).applied("w").made("w-0"),
        "NOT_EXERCISED: the controller never wrote anything",
    ),
    "empty": (StreamScript(EXPIRE), NEVER),
    "not fired": (pair(StreamScript(EXPIRE)), NEVER),
    "another end": (pair(StreamScript(EXPIRE).ended(WIDGETS, "reset").watches(WIDGETS)), NEVER),
    "bookkeeping": (pair(StreamScript(Expire(resource="*")).watches("events").ended("events", "expired")), NEVER),
    "never settled": (expired().adds(Ended), "INCONCLUSIVE: the trial has no settling phase"),
}


@pytest.mark.parametrize(("script", "verdict"), CASES.values(), ids=CASES)
def test_verdict(script: StreamScript, verdict: str) -> None:
    assert told(verdict_of(survives_expiry.REQUIREMENT, Trial(script.ends(), two_references())), verdict) == verdict
