"""survives-expiry: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import survives_expiry
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Answered, Ended, Refused
from staleproof.core.fault import Coalesce, Expire, HoldStream, SeverStream

from ..script import WIDGETS
from ..stream_script import StreamScript, pair, two_references

EXPIRE = Expire(resource="pods")


def judge(script: StreamScript) -> Verdict:
    return verdict_of(survives_expiry.REQUIREMENT, Trial(script.ends(), two_references()))


def stuck(script: StreamScript, *, seconds: float = 10.0) -> StreamScript:
    return script.released().passes(seconds).settled(ok=False, why="still wrong")


def expired(resource: str = WIDGETS, how: str = "expired") -> StreamScript:
    return StreamScript(EXPIRE).opens().ended(resource, how)


def test_a_controller_that_never_lists_again_is_guilty() -> None:
    script = pair(StreamScript(EXPIRE), replicas=1).opens().ended(WIDGETS, "expired").step(2, "scale").applied("w", spec=2)

    verdict = judge(stuck(script))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].because == (
        f"it never listed {WIDGETS} again after 410 Expired, and widget/w was changed: "
        "1 pod of widget/w, fault-free runs ended with 2"
    )


def test_so_is_one_that_lists_and_does_not_look_at_what_it_got() -> None:
    script = pair(StreamScript(EXPIRE), replicas=1).opens().ended(WIDGETS, "gone").step(2, "scale").applied("w", spec=2)

    verdict = judge(stuck(script.lists(WIDGETS).watches(WIDGETS)))

    assert verdict.findings[0].because.startswith(f"after 410 Expired, and a list of {WIDGETS}: 1 pod of widget/w")


def test_so_is_one_that_keeps_what_has_vanished() -> None:
    script = pair(StreamScript(HoldStream(resource="pods", release="relist"))).hold().removed("w-1").relist()

    assert judge(stuck(script)).outcome is Outcome.FAIL


@pytest.mark.parametrize("how", ["expired", "gone"])
def test_one_that_lists_again_passes(how: str) -> None:
    assert judge(pair(expired(how=how).lists(WIDGETS).watches(WIDGETS))).outcome is Outcome.PASS


def test_so_does_one_that_is_given_the_state_by_its_watch() -> None:
    assert judge(pair(expired().watches(WIDGETS, watch_list=True).initial_end(4))).outcome is Outcome.PASS
    assert judge(pair(expired().watches(WIDGETS, start="0"))).outcome is Outcome.PASS


def test_410_may_also_answer_a_list_or_a_watch() -> None:
    listed = StreamScript(EXPIRE).opens().fires().asks("list", WIDGETS)
    listed.entries[-1] = Answered(at=1.0, request=1, outcome="fail", code=410, reason="Expired", fault=0, executed=False)
    watched = StreamScript(EXPIRE).opens().ended(WIDGETS, "gone")
    watched.adds(Refused, client="controller", resource=WIDGETS, start="1", code=410, fault=0)

    assert judge(pair(listed.lists(WIDGETS))).outcome is Outcome.PASS
    assert judge(pair(watched.lists(WIDGETS).watches(WIDGETS))).outcome is Outcome.PASS


def test_a_resync_is_answered_410_as_well() -> None:
    script = StreamScript(EXPIRE).ended(WIDGETS, "expired", fault=None).lists(WIDGETS).watches(WIDGETS)

    assert judge(pair(script)).outcome is Outcome.PASS


def test_a_new_life_has_survived_nothing() -> None:
    assert judge(pair(expired().restarted().watches(WIDGETS, start="0"))).outcome is Outcome.NOT_EXERCISED


def test_who_was_never_shown_a_state_in_between_may_have_another_trouble() -> None:
    script = pair(StreamScript(Coalesce(resource="pods")), replicas=1).opens().ended(WIDGETS, "gone")
    script.step(2, "scale").applied("w", spec=5).applied("w", spec=2).lists(WIDGETS).watches(WIDGETS)

    verdict = judge(stuck(script))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.why.endswith("it was never shown a state of widget/w in between (tolerates-coalescing)")


def test_it_is_inconclusive_when_another_fault_may_explain_the_end() -> None:
    script = StreamScript(EXPIRE, SeverStream(resource="pods")).opens().ended(WIDGETS, "gone").lists(WIDGETS).watches(WIDGETS)

    assert judge(stuck(pair(script.fires(1), replicas=1))).outcome is Outcome.INCONCLUSIVE


def test_it_is_inconclusive_when_a_client_may_yet_come_back() -> None:
    script = pair(StreamScript(EXPIRE), replicas=1).opens().ended(WIDGETS, "expired").step(2, "scale").applied("w", spec=2)

    assert judge(stuck(script, seconds=1.0)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "script",
    [
        StreamScript(EXPIRE),
        pair(StreamScript(EXPIRE)),
        pair(StreamScript(EXPIRE)).opens().ended("configmaps", "expired"),
        pair(StreamScript(EXPIRE).ended(WIDGETS, "reset").watches(WIDGETS)),
        pair(StreamScript(Expire(resource="*")).watches("events").ended("events", "expired")),
        expired().lists(WIDGETS).watches(WIDGETS).applied("w").made("w-0"),
    ],
    ids=["empty", "not fired", "nothing it needed", "another end", "bookkeeping", "never wrote"],
)
def test_nothing_is_proven_without_410_and_something_to_do(script: StreamScript) -> None:
    assert judge(script).outcome is Outcome.NOT_EXERCISED


def test_without_a_settling_phase_it_is_inconclusive() -> None:
    assert (
        verdict_of(survives_expiry.REQUIREMENT, Trial(expired().adds(Ended).unfinished(), two_references())).outcome
        is Outcome.INCONCLUSIVE
    )
