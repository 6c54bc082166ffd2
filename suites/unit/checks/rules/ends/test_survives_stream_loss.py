"""survives-stream-loss: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.rules.ends import SURVIVES_STREAM_LOSS
from staleproof.core.fault import AnyFault, HideOwnWrite, HoldStream, SeverStream, SlowStart
from staleproof.core.history.entry import Ended

from ...rule_cases import ONE_POD, UNSURE, verdicts, witnesses
from ...script import SEVER, WIDGETS, Script, beside, two_references

SETS = "replicasets.apps"
RESUME = HoldStream(resource="pods", release="resume")
NOT_CUT = "NOT_EXERCISED: no watch of the controller was cut by a fault"


def severed(*more_faults: AnyFault, how: str = "reset", times: int = 1) -> Script:
    script = Script(SEVER, *more_faults).opens().ended(WIDGETS, how)
    for _ in range(times - 1):
        script.watches(WIDGETS).ended(WIDGETS, how)
    return script


def reading() -> Script:
    """It watches by a label, and reads what has another."""
    script = Script(SEVER).pair(1).applied("x", SETS).watches(SETS, selector="app=x").gets("x", SETS)
    script.opens().ended(SETS).labelled("x", SETS, to="y", shown_as="").watches(SETS, selector="app=x")
    return script.bookmark(SETS).step(2, "scale").applied("w", spec=2).stuck()


def missing() -> Script:
    script = Script(SEVER).pair().opens().ended().removed("w-1").watches(start="").shows("w-0")
    return script.made("other", owner="w")


CASES = {
    "never watches again": (
        Script(SEVER).pair(1).opens().ended(WIDGETS, "clean").step(2, "scale").applied("w", spec=2).stuck(),
        f"FAIL: it never watched {WIDGETS} again after that watch was lost, and widget/w was changed: {ONE_POD}",
    ),
    "watches from now on, which does not tell what was deleted before": (
        missing().removed("other").stuck(),
        f"FAIL: it watched pods again after the loss, and never saw that pod/w-1 was deleted: {ONE_POD}",
    ),
    "does not get over it": (severed().watches(WIDGETS).pair(1).stuck(), f"FAIL: after its watch of {WIDGETS} was lost: {ONE_POD}"),
    "does not get over an initial list that was cut": (
        Script(SlowStart(resource="pods", then="closes")).opens().ended(how="clean").watches().pair(1).stuck(),
        f"FAIL: after its watch of pods was lost: {ONE_POD}",
    ),
    "resumes after clean": (severed(how="clean").watches(WIDGETS).pair(), "PASS"),
    "resumes after truncated": (severed(how="truncated").watches(WIDGETS).pair(), "PASS"),
    "resumes after reset": (severed(how="reset").watches(WIDGETS).pair(), "PASS"),
    "lists and watches": (severed().lists(WIDGETS).watches(WIDGETS).pair(), "PASS"),
    "a release by resumption is a loss as well": (
        Script(RESUME).hold().pair().closes().ended(how="clean").watches(start="100").shows("w-0").shows("w-1"),
        "PASS",
    ),
    "what it has only read is in none of its watches": (reading(), f"FAIL: after its watch of {SETS} was lost: {ONE_POD}"),
    "a patient client may yet come back": (
        severed(times=3).pair(1).step(2, "scale").applied("w", spec=2).stuck(3.0),
        f"{UNSURE} it had 3.1 s to catch up, and may need 6.4 s after what was done to it",
    ),
    "another fault may explain the end": (
        severed(HideOwnWrite(resource="configmaps")).watches(WIDGETS).fires(1).pair(1).stuck(),
        f"{UNSURE} HideOwnWrite fired, too, and may explain that",
    ),
    # --- nothing is known without a loss, and something to see afterwards
    "a new life has survived nothing": (
        severed().restarted().watches(WIDGETS).pair(),
        f"NOT_EXERCISED: after the loss of its watch of {WIDGETS} there was nothing that it needed to see there",
    ),
    "nothing happened there": (Script(SEVER).pair().opens().ended("configmaps"), "NOT_EXERCISED"),
    "it needed nothing that happened there": (
        Script(SEVER).pair().opens().ended().step(2, "touch").applied("w", spec=2).updates("w-0", "pods", subresource=""),
        "NOT_EXERCISED",
    ),
    "empty": (Script(SEVER), NOT_CUT),
    "not fired": (Script(SEVER).pair(), NOT_CUT),
    "by upstream": (Script(SEVER).ended(fault=None).watches().pair(), NOT_CUT),
    "by the client": (Script(SEVER).ended(how="client").watches().pair(), NOT_CUT),
    "expired": (Script(SEVER).ended(how="expired").lists().watches().pair(), NOT_CUT),
    "bookkeeping": (Script(SeverStream(resource="*")).watches("events").ended("events").pair(), NOT_CUT),
    "never settled": (severed().pair().adds(Ended), "INCONCLUSIVE: the trial has no settling phase"),
}


test_verdict = verdicts(SURVIVES_STREAM_LOSS, CASES, two_references())


def test_the_loss_and_what_was_missed_are_witnesses() -> None:
    script, _ = CASES["never watches again"]

    assert witnesses(SURVIVES_STREAM_LOSS, beside(script)) == ["Closed", "Committed", "Released", "Settled"]
