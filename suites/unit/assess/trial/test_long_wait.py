"""Whether one run has to wait long before a controller is called stuck."""

import pytest

from staleproof.assess.trial.long_wait import is_another, stuck, waited, waited_seconds
from staleproof.checks.judge import judge
from staleproof.checks.trial import Trial
from staleproof.core.history.history import History

from ...checks.script import HOLD, RESTART, SEVER, Script, beside
from ...judged import result


def history_of(script: Script) -> History:
    trial = beside(script)
    return type(trial.history)(trial.history.header, trial.history.entries, tuple(each.history for each in trial.references))


def one_of_two(times: int = 1) -> Script:
    return Script(SEVER).opens().flaps(times).pair(1)


def causes(history: History) -> frozenset[str]:
    return stuck(history, judge(history))


def test_what_is_missing_at_the_end_may_heal() -> None:
    (cause,) = causes(history_of(one_of_two().stuck()))
    assert cause == "states missed, , pods"


def test_a_doubt_whether_it_had_the_time_is_answered_by_waiting() -> None:
    """It had a second, and may need three: no controller is accused yet, and this one would be if nothing came."""
    hasty = history_of(one_of_two(times=2).stuck(1.0))
    assert not any(verdict.findings for verdict in judge(hasty))
    assert causes(hasty)


def test_a_good_end_is_not_waited_for() -> None:
    assert causes(history_of(Script(SEVER).opens().flaps().pair().closes().released().settled())) == frozenset()


def test_harm_that_was_done_does_not_heal() -> None:
    assert causes(result("naive-hidden-creates").history) == frozenset()


@pytest.mark.parametrize("seconds", [10.0, 25.0])
def test_a_trial_waited_as_long_as_it_took_to_settle(seconds: float) -> None:
    assert waited_seconds(history_of(one_of_two().stuck(seconds))) == pytest.approx(seconds, abs=0.5)


def test_what_another_trial_waited_in_vain_counts_and_is_reported() -> None:
    known = waited(history_of(one_of_two().stuck()), 180.9)
    assert waited_seconds(known) == 180.9
    reasons = [finding.because for verdict in judge(known) for finding in verdict.findings]
    assert reasons
    assert all(each.endswith("; stuck for at least 180 s") for each in reasons)


def test_a_controller_that_was_waited_for_has_had_its_time() -> None:
    known = waited(history_of(one_of_two(times=2).stuck(1.0)), 180.0)
    assert any(verdict.findings for verdict in judge(known))


def test_what_is_missing_after_the_wait_may_be_something_else() -> None:
    first = beside(one_of_two().stuck())
    assert not is_another(first, beside(one_of_two().stuck(60.0)))
    assert is_another(first, beside(Script(SEVER).opens().flaps().pair(5).stuck(60.0)))


def test_what_is_gone_after_the_wait_may_be_gone_in_any_case() -> None:
    def ended(script: Script) -> Script:
        return script.creates("w-job", resource="jobs.batch", generated="")

    def both(script: Script) -> Script:
        return ended(script.pair(2))

    first = beside(ended(one_of_two()).stuck(), both)
    gone = ended(one_of_two()).removed("w-job", "jobs.batch").stuck(60.0)
    assert is_another(first, beside(gone, both)), "though what was missing before is missing still"


def test_more_may_be_gone_of_what_was_missing_before() -> None:
    def job(script: Script, name: str) -> Script:
        return script.creates(name, resource="jobs.batch")

    def both(script: Script) -> Script:
        return job(job(script.step(1, "apply").applied("w", spec=2), "w-0"), "w-1").idle(1)

    def one(script: Script) -> Script:
        return job(script.step(1, "apply").applied("w", spec=2), "w-0").idle(1)

    gone = one(Script(SEVER)).removed("w-0", "jobs.batch").stuck(60.0)
    assert is_another(beside(one(Script(SEVER)).stuck(), both), beside(gone, both))


def test_the_cause_is_that_of_the_fault() -> None:
    held = history_of(Script(HOLD).hold().pair(1).let_go().stuck(30.0))
    restarted = history_of(Script(RESTART).opens().pair(1).restarted().stuck(30.0))
    assert causes(held).isdisjoint(causes(restarted))


def test_a_trial_without_an_end_is_not_waited_for() -> None:
    history = History(Trial(result("naive-hidden-creates").history).history.header, ())
    assert stuck(history, ()) == frozenset()
    assert waited_seconds(history) == 0.0
