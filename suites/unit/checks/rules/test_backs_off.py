"""backs-off: whom it accuses, whom it does not, and when it knows nothing."""

from collections.abc import Sequence

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import backs_off, converges_after_catch_up
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Ended, Stopped
from staleproof.core.fault import HoldStream, Reject

from ..stream_script import StreamScript, pair, two_references

REJECT = Reject(resource="pods", verb="create", times=None)
DOUBLING = [0.1 * 2**n for n in range(6)]


def judge(script: StreamScript) -> Verdict:
    return verdict_of(backs_off.REQUIREMENT, Trial(script.ends(), two_references()))


def stuck(script: StreamScript, *, seconds: float) -> StreamScript:
    return script.released().passes(seconds).settled(ok=False, why="still wrong")


def rejected(gaps: Sequence[float], script: StreamScript | None = None) -> StreamScript:
    """Creates are rejected; the controller waits so long (and 0.2 s) after each attempt but the last, and then nothing comes."""
    script = script or StreamScript(REJECT)
    script.opens().step(1, "apply").applied("w", spec=2).rejected()
    for gap in gaps:
        script.passes(gap).rejected()
    return script


def recovers(script: StreamScript) -> StreamScript:
    return script.closes().creates("w-0", "w-1").updates("w", status={"ready": 2})


def fast(script: StreamScript, attempts: int) -> StreamScript:
    """Twenty attempts a second."""
    script.opens().step(1, "apply").applied("w", spec=2).rejected()
    for _ in range(attempts):
        script.passes(-0.15).rejected()
    return script


def test_a_controller_that_hammers_is_guilty_though_it_converges() -> None:
    verdict = judge(recovers(fast(StreamScript(REJECT), 100)))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].because == (
        "its create of pods was rejected 101 times in 5.3 s, 34 times in the first third of that time and 31 times in the last"
    )
    assert len(verdict.findings[0].witnesses) == 3


def test_so_is_one_that_gives_up() -> None:
    verdict = judge(stuck(rejected([0.0, 0.1, 0.3]).passes(5.0).closes(), seconds=10.0))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].because == (
        "after 4 rejected attempts within 1.1 s it did not try the create of pods again for 15.4 s: "
        "0 pods of widget/w, fault-free runs ended with 2"
    )


def test_so_is_one_that_does_not_get_over_it() -> None:
    script = rejected(DOUBLING).closes().creates("w-0").updates("w", status={"ready": 1})

    assert judge(stuck(script, seconds=30.0)).findings[0].because == (
        "after its create of pods had been rejected: 1 pod of widget/w, fault-free runs ended with 2"
    )


def test_one_that_waits_longer_each_time_passes() -> None:
    assert judge(recovers(rejected(DOUBLING))).outcome is Outcome.PASS


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_once_a_second_is_no_hammering() -> None:
    assert judge(recovers(rejected([0.8] * 12))).outcome is Outcome.PASS


def test_nor_is_a_long_wait_after_many_failures() -> None:
    """client-go's rate limiter has come to 41 s after 14 failures, however quickly they came: each change is a reason to try."""
    script = stuck(rejected([0.0] * 13).closes(), seconds=30.0)

    assert judge(script).outcome is Outcome.INCONCLUSIVE
    evidence = Trial(script.ends(), two_references())
    assert converges_after_catch_up.check(evidence).outcome is Outcome.INCONCLUSIVE


def test_nor_is_a_first_burst_that_dies_down() -> None:
    script = fast(StreamScript(REJECT), 40)
    for _ in range(4):
        script.passes(1.0).rejected()

    assert judge(recovers(script)).outcome is Outcome.PASS


def test_nor_is_a_try_for_each_thing_that_is_shown() -> None:
    script = StreamScript(REJECT).opens().step(1, "apply").applied("w", spec=2)
    for _ in range(60):
        script.passes(-0.3).applied("w", spec=2).rejected()

    assert judge(recovers(script)).outcome is Outcome.PASS


def test_nor_is_a_modest_rate_for_each_of_several_objects() -> None:
    script = StreamScript(REJECT).opens().step(1, "apply").applied("w", spec=2)
    for _ in range(15):
        script.rejected().rejected().passes(-0.3).rejected().passes(0.3)

    assert judge(recovers(script)).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("gaps", "seconds"),
    [([], 60.0), ([0.1, 0.4, 1.6], 20.0), ([0.1, 0.1], 8.0)],
    ids=["after one attempt nobody knows its pace", "its next wait may be long", "too short to tell"],
)
def test_one_that_may_yet_try_again_has_not_given_up(gaps: Sequence[float], seconds: float) -> None:
    verdict = judge(stuck(rejected(gaps).closes(), seconds=seconds))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.why == "it did not try the create of pods again, and may yet do so"


def test_one_that_has_other_reasons_to_be_silent_has_not_given_up() -> None:
    held = StreamScript(REJECT, HoldStream(resource="pods")).fires(1)
    wrote = rejected([0.0, 0.1]).closes().updates("w", status={"ready": 0})

    assert judge(stuck(rejected([0.0, 0.1], held).closes(), seconds=30.0)).outcome is Outcome.INCONCLUSIVE
    assert judge(stuck(wrote, seconds=30.0)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "script",
    [
        StreamScript(REJECT),
        pair(StreamScript(REJECT).opens()),
        recovers(rejected([0.1, 0.2])),
        pair(StreamScript(REJECT)).opens().rejected("delete", "pods", "x").passes(5.0).closes(),
        recovers(rejected(DOUBLING)).adds(Stopped, life=1),
    ],
    ids=["empty", "nothing was rejected", "rejected for a moment", "it needed no retry", "its process was stopped"],
)
def test_nothing_is_proven_unless_it_had_to_try_for_a_while(script: StreamScript) -> None:
    assert judge(script).outcome is Outcome.NOT_EXERCISED


def test_without_a_settling_phase_it_is_inconclusive() -> None:
    history = rejected(DOUBLING).adds(Ended).unfinished()

    assert verdict_of(backs_off.REQUIREMENT, Trial(history, two_references())).outcome is Outcome.INCONCLUSIVE
