"""backs-off: which controllers it accuses, which it does not, and when it knows nothing."""

from collections.abc import Sequence
from functools import partial

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.ends import CONVERGES_AFTER_CATCH_UP
from staleproof.checks.rules.pace import BACKS_OFF
from staleproof.checks.verdict import Outcome
from staleproof.core.fault import Reject
from staleproof.core.history.entry import Ended, Stopped

from ...rule_cases import ONE_POD, verdicts, witnesses
from ...script import HOLD, Script, beside, two_references

REJECT = Reject(resource="pods", verb="create", times=None)
DOUBLING = [0.1 * 2**n for n in range(6)]
MAY_YET = "INCONCLUSIVE: it did not try the create of pods again, and may yet do so"


def rejected(gaps: Sequence[float], script: Script | None = None) -> Script:
    """Creates are rejected; the controller waits so long (and 0.2 s) after each attempt but the last, and then nothing comes."""
    script = script or Script(REJECT)
    script.opens().step(1, "apply").applied("w", spec=2).rejected()
    for gap in gaps:
        script.passes(gap).rejected()
    return script


def recovers(script: Script) -> Script:
    return script.closes().creates("w-0", "w-1").updates("w", status={"ready": 2})


def woken_often() -> Script:
    """It tries each time the widget changes, 60 times in all."""
    script = Script(REJECT).opens().step(1, "apply").applied("w", spec=2)
    for _ in range(60):
        script.passes(-0.3).applied("w", spec=2).rejected()
    return script


def woken_by_steps() -> Script:
    script = Script(REJECT).opens().step(1, "apply").applied("w", spec=2).rejected()
    return script.step(2, "touch").rejected().step(3, "scale").applied("w", spec=2).rejected()


def three_at_a_time() -> Script:
    script = Script(REJECT).opens().step(1, "apply").applied("w", spec=2)
    for _ in range(15):
        script.rejected().rejected().passes(-0.3).rejected().passes(0.3)
    return script


def makes(script: Script, *, at_once: bool) -> Script:
    """It makes eight pods, all at once or one after the other, each in the place of the last."""
    script.step(1, "apply").applied("w", spec=2)
    for number in range(8):
        script.creates(f"w-{number}")
        if number and not at_once:
            script.deletes(f"w-{number - 1}")
    return script.updates("w", status={"ready": 2}).idle(1).step(2, "touch")


def throttled() -> Script:
    """It tries 20 times a second, as its client lets it."""
    return rejected([-0.15] * 100).closes().updates("w", status={"ready": 2})


CASES = {
    "hammers, and converges": (
        recovers(rejected([-0.15] * 100)),
        "FAIL: its create of pods was rejected 101 times in 5.3 s, "
        "34 times in the first third of that time and 31 times in the last",
    ),
    "gives up": (
        rejected([0.0, 0.1, 0.3]).passes(5.0).closes().stuck(),
        "FAIL: after 4 rejected attempts within 1.1 s it did not try the create of pods again for 15.4 s: "
        "0 pods of widget/w, fault-free runs ended with 2",
    ),
    "does not get over it": (
        rejected(DOUBLING).closes().creates("w-0").updates("w", status={"ready": 1}).stuck(30.0),
        f"FAIL: after its create of pods had been rejected: {ONE_POD}",
    ),
    "waits longer each time": (recovers(rejected(DOUBLING)), "PASS"),
    # --- innocent, though it looks suspicious
    "tries once a second": (recovers(rejected([0.8] * 12)), "PASS"),
    "a first burst that dies down": (recovers(rejected([-0.15] * 40 + [1.0] * 4)), "PASS"),
    "a try for each thing that is shown": (recovers(woken_often()), "PASS"),
    "a modest rate for each of several objects": (recovers(three_at_a_time()), "PASS"),
    # --- it may yet try again
    "after one attempt its pace is unknown": (rejected([]).closes().stuck(60.0), MAY_YET),
    "only ever woken, by steps of the workload": (woken_by_steps().closes().stuck(100.0), MAY_YET),
    "its next wait may be long": (rejected([0.1, 0.4, 1.6]).closes().stuck(20.0), MAY_YET),
    "too short to tell": (rejected([0.1, 0.1]).closes().stuck(8.0), MAY_YET),
    # client-go's rate limiter has come to 41 s after 14 failures, however quickly they came: each change is a reason to try
    "a long wait after many failures": (rejected([0.0] * 13).closes().stuck(30.0), MAY_YET),
    "silenced by another fault": (rejected([0.0, 0.1], Script(REJECT, HOLD).fires(1)).closes().stuck(30.0), MAY_YET),
    "not silent": (rejected([0.0, 0.1]).closes().updates("w", status={"ready": 0}).stuck(30.0), MAY_YET),
    # --- nothing is known unless it had to try for a while
    "empty": (Script(REJECT), "NOT_EXERCISED: no request of the controller was rejected"),
    "nothing was rejected": (Script(REJECT).opens().pair(), "NOT_EXERCISED: no request of the controller was rejected"),
    "rejected for a moment": (recovers(rejected([0.1, 0.2])), "NOT_EXERCISED: it was rejected for 1.0 s only"),
    "needed no retry": (
        Script(REJECT).pair().opens().rejected("delete", "pods", "x").passes(5.0).closes(),
        "NOT_EXERCISED: it never tried again what was rejected, and did not need to",
    ),
    "its process was stopped": (
        recovers(rejected(DOUBLING)).adds(Stopped, life=1),
        "NOT_EXERCISED: the controller's process was stopped, so what it would have tried again is not known",
    ),
    "never settled": (rejected(DOUBLING).adds(Ended), "INCONCLUSIVE: the trial has no settling phase"),
}


OF_MANY = {
    "hammers, and its client slows it down": (beside(throttled(), partial(makes, at_once=False)), "FAIL"),
    "as quickly, for many at once": (beside(throttled(), partial(makes, at_once=True)), "INCONCLUSIVE"),
}

test_verdict = verdicts(BACKS_OFF, CASES, two_references())
test_of_many = verdicts(BACKS_OFF, OF_MANY)


def test_hammering_has_three_witnesses() -> None:
    assert len(witnesses(BACKS_OFF, beside(CASES["hammers, and converges"][0]))) == 3


def test_nor_does_the_end_prove_anything_after_many_failures() -> None:
    script, _ = CASES["a long wait after many failures"]

    assert verdict_of(CONVERGES_AFTER_CATCH_UP, beside(script)).outcome is Outcome.INCONCLUSIVE
