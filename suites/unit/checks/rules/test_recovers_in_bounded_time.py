"""recovers-in-bounded-time: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import recovers_in_bounded_time
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Ended
from staleproof.core.fault import AnyFault, HoldStream, LoseAnswer, Refuse, Reject, Skew
from staleproof.core.history import History
from staleproof.core.plan import Rest

from ..script import STEPS, WIDGETS
from ..stream_script import StreamScript, pair, two_references

HOLD = HoldStream(resource="pods")


def judge(script: StreamScript, *references: History) -> Verdict:
    return verdict_of(recovers_in_bounded_time.REQUIREMENT, Trial(script.ends(), references or two_references()))


def behind(*faults: AnyFault, seconds: float = 12.0) -> StreamScript:
    """It has made one of two children and waits for that to be shown; a rest goes by."""
    script = StreamScript(*(faults or (HOLD,)), steps=(*STEPS[:1], Rest(seconds=seconds)))
    script.step(1, "apply").hold().applied("w", spec=2).creates("w-0")
    return script.step(2, "rest").passes(seconds)


def done(script: StreamScript) -> StreamScript:
    return script.creates("w-1").updates("w", status={"ready": 2})


def test_a_controller_that_sleeps_on_is_guilty_though_it_converges() -> None:
    verdict = judge(done(behind().let_go().released().passes(8.0)))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].because == (
        "it first wrote 8.2 s after it had been shown everything, though fault-free runs never pause longer than 0.3 s; "
        "until then, 1 pod of widget/w, fault-free runs ended with 2"
    )


def test_so_is_one_whose_watch_is_opened_again_just_before_it_wakes() -> None:
    script = behind().let_go().released().passes(8.0).ended("pods", "clean", fault=None).watches().passes(0.3)

    assert judge(done(script)).findings[0].because.startswith("it first wrote 8.")


@pytest.mark.parametrize("release", ["events", "list"])
def test_so_is_one_that_does_not_wake_before_the_end(release: str) -> None:
    script = behind().let_go() if release == "events" else behind().relist()

    verdict = judge(script.released().passes(10.0).settled(ok=False))

    assert verdict.findings[0].because.startswith("it had not written 10.")


@pytest.mark.parametrize("release", ["events", "list", "resumption"])
def test_one_that_wakes_passes(release: str) -> None:
    script = behind()
    if release == "resumption":
        script.closes().ended(how="clean").passes(1.6).watches().shows("w-0")
    elif release == "list":
        script.relist()
    else:
        script.let_go()

    assert judge(done(script.released().passes(2.0))).outcome is Outcome.PASS


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_until_it_watches_again_it_has_not_caught_up() -> None:
    script = behind().closes().ended(how="expired").passes(20.0).lists().passes(20.0).watches()

    assert judge(done(script.released())).outcome is Outcome.PASS


def test_one_that_pauses_as_long_without_faults_is_innocent() -> None:
    def slow(number: int) -> History:
        script = StreamScript(namespace=f"ref-{number}").step(1, "apply").applied("w", spec=2).creates("w-0").passes(2.0)
        return done(script).ends()

    assert judge(done(behind().let_go().released().passes(8.0)), slow(1), slow(2)).outcome is Outcome.PASS


def test_what_is_shown_later_may_be_what_it_was_waiting_for() -> None:
    script = behind().let_go().passes(4.0).applied("w", spec=2).passes(4.0)

    assert judge(done(script)).outcome is Outcome.PASS


def test_a_write_that_is_refused_shows_that_it_is_awake() -> None:
    script = behind().let_go().refused("create", "w-1", "AlreadyExists").passes(8.0)

    assert judge(done(script)).outcome is Outcome.PASS


def test_one_that_had_done_everything_before_has_nothing_left_to_do() -> None:
    assert judge(pair(StreamScript(HOLD).hold()).passes(12.0).let_go()).outcome is Outcome.NOT_EXERCISED


def test_so_has_one_for_which_somebody_else_does_the_rest() -> None:
    script = behind().updates("w", status={"ready": 2}).let_go().made("w-1", metadata={"generateName": "w-"})

    assert judge(script.passes(9.0)).outcome is Outcome.NOT_EXERCISED


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (StreamScript(HOLD), "the controller never wrote anything"),
        (pair(StreamScript(HOLD)), "nothing was kept from the controller"),
        (done(behind(seconds=6.0).let_go()), "a hold of 6.9 s is too short to send a controller to sleep"),
        (
            behind(seconds=6.0).let_go().released().passes(10.0).settled(ok=False),
            "it never went on, and a hold of 6.9 s is too short to send a controller to sleep",
        ),
        (done(behind().let_go().step(1, "touch").passes(8.0)), "the workload went on after the hold"),
        (
            done(behind(HOLD, Skew(by_seconds={WIDGETS: 1.0})).opens(1).fires(1).let_go().released().closes(1)),
            "Skew went on after the hold",
        ),
        (done(behind().restarted()), "the controller's process was stopped or started meanwhile"),
        (done(behind().closes().ended(how="expired")), "it was not shown everything after the hold"),
    ],
    ids=["empty", "not fired", "short", "never", "poked", "another fault", "restarted", "never caught up"],
)
def test_nothing_is_proven_unless_it_had_to_wake_by_itself(script: StreamScript, why: str) -> None:
    verdict = judge(script)

    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, why)


def test_an_end_that_comes_too_soon_is_inconclusive() -> None:
    assert judge(behind().let_go().released().passes(1.0).settled(ok=False)).outcome is Outcome.INCONCLUSIVE


def test_so_is_a_trial_without_a_settling_phase() -> None:
    history = behind().adds(Ended).unfinished()

    assert verdict_of(recovers_in_bounded_time.REQUIREMENT, Trial(history, two_references())).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("other", [Reject(resource="pods"), LoseAnswer(resource="pods"), Refuse(resource="pods")])
def test_what_another_fault_made_it_wait_for_is_not_blamed_on_the_hold(other: AnyFault) -> None:
    verdict = judge(done(behind(HOLD, other).fires(1).let_go().released().passes(8.0)))

    assert verdict.outcome is Outcome.NOT_EXERCISED
    assert verdict.why == f"{other.tag} fired, too, and may have sent it to sleep or kept it waiting"
