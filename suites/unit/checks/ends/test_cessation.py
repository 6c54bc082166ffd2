"""Whether the controller stopped working altogether, and whether it is to blame."""

import pytest

from staleproof.checks.ends.cessation import cessation
from staleproof.checks.judge import judge, outlived
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome
from staleproof.core.fault import AnyFault, Expire, SeverStream
from staleproof.core.history.entry import Broke, Exited, Probed, Started

from ..script import Script, beside, reference, two_references

EXPIRE, SEVER = Expire(resource="pods"), SeverStream(resource="pods")
NOTHING = "it did nothing about a new object within 10 s, as it does without faults"


def expired(*, made: int = 2, aims: tuple[str, ...] = ()) -> Script:
    script = Script(EXPIRE, aims=aims).step(1, "apply").opens().applied("w", spec=2).ended(how="expired").lists().watches()
    script.creates(*[f"w-{number}" for number in range(made)])
    return script.updates("w", status={"ready": 2}) if made else script


def dead(script: Script, *log: str, times: int = 1) -> Script:
    for _ in range(times):
        script.adds(Exited, life=1, code=2, log=log)
    return script


def probed(script: Script, *, works: bool = False, seconds: float = 20.0) -> Script:
    return script.stuck(seconds).adds(Probed, works=works, waited=10.0)


CASES: dict[str, tuple[Script, str]] = {
    "at work": (expired(), ""),
    "it works for others": (probed(expired(made=1), works=True), ""),
    "it died": (
        dead(expired(made=1), "panic: oh no", "goroutine 1").stuck(),
        "its process exited by itself (code 2), and without faults it never does: panic: oh no",
    ),
    "it died again and again": (
        dead(expired(made=1), times=3).stuck(),
        "its process exited by itself 3 times (code 2), a crash loop, and without faults it never does",
    ),
    "it died before any fault": (
        dead(Script(EXPIRE).pair(1)).stuck(),
        "its process exited by itself (code 2), and without faults it never does, but no fault had touched the controller",
    ),
    "it stopped half-way": (probed(expired(made=1)), f"it stopped working: when all was over {NOTHING}"),
    "it never wrote": (probed(expired(made=0)), f"it never wrote anything, and when all was over {NOTHING}"),
    "it stopped when the end was right": (probed(expired()), f"it stopped working: when all was over {NOTHING}"),
    "it may only need more time": (
        probed(expired(made=1), seconds=0.5),
        f"it stopped working: when all was over {NOTHING}, "
        "but it had 0.7 s to connect again, and may need 1.6 s after what was done to it",
    ),
    "the harness broke": (probed(expired(made=1)).adds(Broke, where="proxy", why="x"), ""),
}


@pytest.mark.parametrize(("script", "words"), CASES.values(), ids=CASES)
def test_how_it_stopped(script: Script, words: str) -> None:
    found = cessation(beside(script))
    assert ("" if found is None else ", but ".join(filter(None, (found.because, found.doubt)))) == words


def test_nothing_is_known_without_good_references() -> None:
    """Not even that it never exits without faults: it does."""
    exits = dead(reference(2).pair()).ends()
    for references in ((), (reference(1).pair().ends(), exits)):
        trial = Trial(dead(expired(made=1)).stuck().ends(), references)
        assert cessation(trial) is None
        assert {verdict.outcome for verdict in judge(trial.history, references)} == {Outcome.INCONCLUSIVE}


@pytest.mark.parametrize(
    ("script", "kinds"),
    [
        (dead(expired(made=1)), ["FaultFired", "Exited"]),
        (probed(expired(made=1)), ["FaultFired", "Released", "Settled", "Probed"]),
    ],
)
def test_witnesses_are_the_fault_and_the_end(script: Script, kinds: list[str]) -> None:
    trial = beside(script)
    found = cessation(trial)
    assert found is not None
    assert [type(trial.entries[index]).__name__ for index in found.witnesses] == kinds


def failed(script: Script) -> set[str]:
    return {verdict.requirement for verdict in judge(script.ends(), two_references()) if verdict.outcome is Outcome.FAIL}


@pytest.mark.parametrize("stop", [dead, probed])
def test_a_controller_that_stops_fails_what_is_about_that_fault_and_about_the_end(stop: object) -> None:
    assert callable(stop)
    assert failed(stop(expired(made=1, aims=("survives-expiry",)))) == {"survives-expiry", "converges-after-catch-up"}


def test_a_controller_that_died_passes_nothing() -> None:
    outcomes = {verdict.outcome for verdict in judge(dead(expired()).ends(), two_references())}
    assert outcomes == {Outcome.FAIL, Outcome.NOT_EXERCISED}


def test_one_that_came_back_to_work_died_for_a_moment() -> None:
    script = dead(expired(aims=("survives-expiry",)))
    script.adds(Started, life=2)
    verdicts = [each for each in judge(script.ends(), two_references()) if each.outcome is Outcome.FAIL]
    assert [(each.requirement, each.findings[0].severity) for each in verdicts] == [("survives-expiry", "transient")]
    again = dead(expired(aims=("survives-expiry",)), times=3)
    again.adds(Started, life=2)
    assert "converges-after-catch-up" in failed(again), "in a crash loop"
    lacking = dead(expired(made=1, aims=("survives-expiry",)))
    lacking.adds(Started, life=2)
    assert "converges-after-catch-up" in failed(lacking), "its end is not right, whatever the settling said"


def fires(*faults: AnyFault, aims: tuple[str, ...] = ()) -> Trial:
    script = Script(*faults, aims=aims)
    for number in range(len(faults)):
        script.fires(number)
    return Trial(script.ends())


def test_it_is_about_the_faults_that_fired_and_that_the_plan_aims_at() -> None:
    both = {"survives-expiry", "survives-stream-loss", "tolerates-coalescing", "converges-after-catch-up"}
    assert outlived(fires(EXPIRE, SEVER)) == both
    assert outlived(fires(EXPIRE, SEVER, aims=("survives-expiry", "settles"))) == {"survives-expiry", "converges-after-catch-up"}
    assert outlived(fires(EXPIRE, SEVER, aims=("settles",))) == both
    assert outlived(fires()) == {"converges-after-catch-up"}


def test_a_doubt_makes_it_inconclusive() -> None:
    found = {verdict.requirement: verdict for verdict in judge(probed(expired(made=1), seconds=0.5).ends(), two_references())}
    assert found["survives-expiry"].outcome is Outcome.INCONCLUSIVE
    assert "may need" in found["survives-expiry"].why
