"""Attempts that a fault rejected, by what they were about."""

from staleproof.checks.facts.retries import Rejections, Target, rejections
from staleproof.checks.trial import Trial
from staleproof.core.entry import Opened, Refused
from staleproof.core.fault import Reject

from ..script import WIDGETS
from ..stream_script import StreamScript

REJECT, FEW = Reject(resource="*", times=None), Reject(resource="*", times=2)


def found(script: StreamScript) -> list[Rejections]:
    return rejections(Trial(script.unfinished(), ()), len(script.entries))


def test_attempts_are_grouped_by_what_they_are_about() -> None:
    script = StreamScript(REJECT).opens().rejected().rejected("update", WIDGETS, "w").rejected()

    assert [(group.target, len(group.rejected)) for group in found(script)] == [
        (Target("create", "pods"), 2),
        (Target("update", WIDGETS, "w"), 1),
    ]


def test_they_last_until_the_fault_closes_or_has_rejected_its_last() -> None:
    whole = found(StreamScript(REJECT).opens().rejected().passes(3.0).closes().passes(5.0).released())[0]
    few = found(StreamScript(FEW).opens().rejected().rejected().passes(3.0).closes())[0]

    assert whole.until == 8
    assert few.until == few.rejected[-1]


def test_the_next_try_of_the_kind_is_a_later_one() -> None:
    retried = found(StreamScript(REJECT).applied("w").opens().rejected().closes().creates("w-a"))[0]
    other = found(StreamScript(REJECT).applied("w").opens().rejected().closes().updates("w", status=1))[0]

    assert retried.later is not None
    assert other.later is None


def test_a_watch_is_tried_again_too() -> None:
    script = StreamScript(REJECT).opens().fires().adds(Refused, client="controller", resource="pods", code=500, fault=0)
    group = found(script.watches())[0]

    assert group.target.words == "watch of pods"
    assert group.later is not None
    assert isinstance(script.entries[group.later], Opened)


def test_what_others_did_and_bookkeeping_are_left_out() -> None:
    script = StreamScript(REJECT).applied("w").opens().fires().refused("update", "w", "Conflict", resource=WIDGETS)
    script.rejected("update", "leases.coordination.k8s.io", "l").creates("w-a")

    assert found(script) == []


def test_targets_in_words() -> None:
    assert Target("update", WIDGETS, "w", "status").words == f"update of the status of {WIDGETS}/w"
    assert Target("create", "pods").words == "create of pods"
