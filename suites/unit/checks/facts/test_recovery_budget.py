"""What was done to the controller, and how long it may need after that."""

from staleproof.checks.facts.recovery_budget import (
    EXPIRED,
    LOST,
    awaits_election,
    ended_streams,
    fired,
    patience,
    retry_wait,
    spans,
    tags_of,
)
from staleproof.checks.trial import Trial
from staleproof.core.entry import FaultFired, Refused, Settled, Started
from staleproof.core.fault import Expire, HoldStream, SeverStream

from ..life_script import RESTART, LifeScript
from ..script import WIDGETS
from ..stream_script import StreamScript

SEVER, HOLD, EXPIRE = SeverStream(resource="pods"), HoldStream(resource="pods"), Expire(resource="pods")


def evidence(script: StreamScript) -> Trial:
    return Trial(script.ends(), ())


def allowed(script: StreamScript) -> float:
    history = script.ends()
    settled = next(i for i, entry in enumerate(history.entries) if isinstance(entry, Settled))
    return patience(Trial(history, ()), settled)[0]


def test_only_faults_that_fired_have_done_anything() -> None:
    found = fired(evidence(StreamScript(SEVER, HOLD).opens(0).opens(1).ended(fault=0)))

    assert found == {0: SEVER}
    assert tags_of([SEVER, SEVER, HOLD]) == "Sever, Hold"


def test_a_fault_that_never_closed_closed_with_the_release() -> None:
    script = StreamScript(SEVER, HOLD).opens(0).closes(0).opens(1).released()
    found = spans(evidence(script))

    assert found[0] == (4, 5)
    assert found[1] == (6, 7)


def test_streams_by_how_they_ended() -> None:
    script = StreamScript(SEVER, EXPIRE).ended("pods", "clean").ended(WIDGETS, "expired", fault=1).ended("configmaps", "client")
    found = evidence(script)

    assert [resource for _, resource in ended_streams(found, LOST, 99)] == ["pods"]
    assert [resource for _, resource in ended_streams(found, EXPIRED, 99)] == [WIDGETS]
    assert list(ended_streams(found, LOST, 4)) == []


def test_bookkeeping_is_nobodys_stream() -> None:
    script = StreamScript(SEVER).watches("leases.coordination.k8s.io").ended("leases.coordination.k8s.io")

    assert list(ended_streams(evidence(script), LOST, 99)) == []


def test_a_client_waits_longer_each_time() -> None:
    once = StreamScript(SEVER).ended().watches()
    twice = StreamScript(SEVER).ended().watches().ended().watches()
    refused = StreamScript(SEVER).ended().adds(Refused, client="controller", resource="pods", code=503, fault=0)
    often = StreamScript(SEVER)
    for _ in range(20):
        often.ended().watches()

    assert allowed(StreamScript(SEVER)) == 0.0
    assert [round(allowed(script), 1) for script in (once, twice, refused, often)] == [1.6, 3.2, 3.2, 60.0]


def test_a_new_life_does_not_wait_for_what_the_last_one_met() -> None:
    assert allowed(StreamScript(SEVER).ended().restarted()) == 0.0


def test_after_an_outage_twice_its_length() -> None:
    script = StreamScript(HOLD).opens().fires().passes(5.0).closes()
    late = StreamScript(SEVER).opens().ended().watches().passes(5.0).closes()

    assert round(allowed(script), 1) == 10.4
    assert round(allowed(late), 1) == 1.6  # its stream was cut, and that was all


def test_it_counts_from_the_last_end_of_a_stream() -> None:
    history = StreamScript(SEVER).released().passes(3.0).ended().settled().ends()
    settled = next(i for i, entry in enumerate(history.entries) if isinstance(entry, Settled))
    _, since = patience(Trial(history, ()), settled)

    assert history.entries[since].at > 3.0
    assert not isinstance(history.entries[since], FaultFired)


def test_a_life_that_has_written_nothing_may_wait_to_be_elected_for_a_while() -> None:
    def awaits(script: LifeScript, seconds: float) -> str:
        history = script.released().passes(seconds).ends()
        settled = next(i for i, entry in enumerate(history.entries) if isinstance(entry, Settled))
        return awaits_election(Trial(history, ()), settled)

    def again() -> LifeScript:
        return LifeScript(RESTART).applied("w").creates("w-a").dies().lives_again()

    assert awaits(again(), 15).endswith(" s after its last start it may still wait to be elected")
    assert awaits(again(), 25) == ""
    script = LifeScript(RESTART).applied("w").creates("w-a").dies().adds(Started, life=2)
    assert awaits(script, 100).endswith(" s after its last start it had not asked for anything yet")
    assert awaits(again().creates("w-b"), 15) == ""
    assert awaits(LifeScript(RESTART).applied("w"), 15) == ""


def test_what_a_rate_limiter_makes_of_failures() -> None:
    assert [retry_wait(n) for n in (0, 1, 2, 14, 18, 19, 500)] == [0.0, 0.005, 0.01, 40.96, 655.36, 1000.0, 1000.0]


def failing(script: StreamScript, times: int) -> StreamScript:
    for _ in range(times):
        script.refused("update", "w", "Conflict", resource=WIDGETS)
    return script


def test_a_rate_limiter_counts_what_failed_for_whatever_reason() -> None:
    mixed = failing(StreamScript(SEVER), 6).rejected().rejected()

    assert [round(allowed(failing(StreamScript(SEVER), n)), 3) for n in (0, 1, 14)] == [0.0, 0.005, 40.96]
    assert round(allowed(mixed), 2) == 0.64
    assert allowed(failing(StreamScript(SEVER), 14).restarted()) == 0.0
    assert allowed(StreamScript(SEVER).gets("gone").gets("gone")) == 0.0


def test_what_it_is_shown_is_a_reason_to_try_sooner_and_to_fail_again() -> None:
    shown = failing(failing(StreamScript(SEVER), 10).released(), 3).passes(2.0).applied("w")
    once_more = failing(failing(StreamScript(SEVER), 13).released().passes(20.0), 1)

    assert 20.48 + 2 < allowed(shown) < 20.48 + 3
    assert 40.96 + 20 < allowed(once_more) < 40.96 + 21


def test_who_has_been_shown_everything_and_fails_twice_is_not_waiting() -> None:
    script = failing(failing(StreamScript(SEVER), 3).released().passes(1.0), 20)

    assert round(allowed(script), 2) == 0.02
