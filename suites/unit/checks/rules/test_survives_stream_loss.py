"""survives-stream-loss: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import survives_stream_loss
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Verdict
from staleproof.core.entry import Ended
from staleproof.core.fault import HideOwnWrite, HoldStream, SeverStream, SlowStart

from ..script import WIDGETS, told
from ..stream_script import ONE_POD, UNSURE, StreamScript, pair, stuck, two_references

SEVER = SeverStream(resource="pods")
NOT_CUT = "NOT_EXERCISED: no watch of the controller was cut by a fault"


def severed(*, of: str = WIDGETS, how: str = "reset") -> StreamScript:
    return StreamScript(SEVER).opens().ended(of, how)


def never_watches_again() -> StreamScript:
    script = pair(StreamScript(SEVER), replicas=1).opens().ended(WIDGETS, "clean").step(2, "scale").applied("w", spec=2)
    return stuck(script)


def watches_from_now_on() -> StreamScript:
    """What was deleted in the gap its new stream does not tell."""
    script = pair(StreamScript(SEVER)).opens().ended().removed("w-1").watches(start="").shows("w-0").made("other", owner="w")
    return stuck(script.removed("other"))


def released_by_resumption() -> StreamScript:
    script = StreamScript(HoldStream(resource="pods", release="resume")).hold()
    return pair(script).closes().ended(how="clean").watches(start="100").shows("w-0").shows("w-1")


def lost_thrice() -> StreamScript:
    script = pair(severed().watches(WIDGETS).ended(WIDGETS).watches(WIDGETS).ended(WIDGETS), replicas=1)
    return stuck(script.step(2, "scale").applied("w", spec=2), seconds=3.0)


def cut_initial_list() -> StreamScript:
    slow = SlowStart(resource="pods", then="closes")
    return stuck(pair(StreamScript(slow).opens().ended(how="clean").watches(), replicas=1))


def hidden_too() -> StreamScript:
    script = StreamScript(SEVER, HideOwnWrite(resource="configmaps")).opens().ended(WIDGETS).watches(WIDGETS).fires(1)
    return stuck(pair(script, replicas=1))


def blind() -> StreamScript:
    """It needs nothing that it is not shown any more."""
    script = pair(StreamScript(SEVER)).opens().ended().step(2, "touch").applied("w", spec=2)
    return script.updates("w-0", "pods", subresource="")


CASES: dict[str, tuple[StreamScript, str]] = {
    "never watches again": (
        never_watches_again(),
        f"FAIL: it never watched {WIDGETS} again after that watch was lost, and widget/w was changed: {ONE_POD}",
    ),
    "watches from now on and misses a deletion": (
        watches_from_now_on(),
        f"FAIL: it watched pods again after the loss, and never saw that pod/w-1 was deleted: {ONE_POD}",
    ),
    "does not get over it": (
        stuck(pair(severed().watches(WIDGETS), replicas=1)),
        f"FAIL: after its watch of {WIDGETS} was lost: {ONE_POD}",
    ),
    "does not get over an initial list that was cut": (cut_initial_list(), f"FAIL: after its watch of pods was lost: {ONE_POD}"),
    "resumes after clean": (pair(severed(how="clean").watches(WIDGETS)), "PASS"),
    "resumes after truncated": (pair(severed(how="truncated").watches(WIDGETS)), "PASS"),
    "resumes after reset": (pair(severed(how="reset").watches(WIDGETS)), "PASS"),
    "lists and watches": (pair(severed().lists(WIDGETS).watches(WIDGETS)), "PASS"),
    "a release by resumption is a loss as well": (released_by_resumption(), "PASS"),
    "a patient client may yet come back": (
        lost_thrice(),
        f"{UNSURE} it had 3.1 s to catch up, and may need 6.4 s after what was done to it",
    ),
    "another fault may explain the end": (hidden_too(), f"{UNSURE} HideOwnWrite fired, too, and may explain that"),
    # --- nothing is known without a loss, and something to see afterwards
    "a new life has survived nothing": (
        pair(severed().restarted().watches(WIDGETS)),
        f"NOT_EXERCISED: after the loss of its watch of {WIDGETS} there was nothing that it needed to see there",
    ),
    "nothing happened there": (pair(StreamScript(SEVER)).opens().ended("configmaps"), "NOT_EXERCISED"),
    "it needed nothing that happened there": (blind(), "NOT_EXERCISED"),
    "empty": (StreamScript(SEVER), NOT_CUT),
    "not fired": (pair(StreamScript(SEVER)), NOT_CUT),
    "by upstream": (pair(StreamScript(SEVER).ended(fault=None).watches()), NOT_CUT),
    "by the client": (pair(StreamScript(SEVER).ended(how="client").watches()), NOT_CUT),
    "expired": (pair(StreamScript(SEVER).ended(how="expired").lists().watches()), NOT_CUT),
    "bookkeeping": (pair(StreamScript(SeverStream(resource="*")).watches("events").ended("events")), NOT_CUT),
    "never settled": (pair(severed()).adds(Ended), "INCONCLUSIVE: the trial has no settling phase"),
}


def judge(script: StreamScript) -> Verdict:
    return verdict_of(survives_stream_loss.REQUIREMENT, Trial(script.ends(), two_references()))


@pytest.mark.parametrize(("script", "verdict"), CASES.values(), ids=CASES)
def test_verdict(script: StreamScript, verdict: str) -> None:
    assert told(judge(script), verdict) == verdict


def test_the_loss_and_what_was_missed_are_witnesses() -> None:
    script = never_watches_again()

    (finding,) = judge(script).findings
    assert [type(script.entries[index]).__name__ for index in finding.witnesses] == ["Closed", "Committed", "Released", "Settled"]
