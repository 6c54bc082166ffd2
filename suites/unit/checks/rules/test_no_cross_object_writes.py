"""no-cross-object-writes: whom it accuses, whom it does not, and when it knows nothing."""

from typing import Any

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import no_cross_object_writes
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Competed
from staleproof.core.history import History

from ..script import WIDGETS, Script, reference, trial


def done(script: Script) -> History:
    return script.applied("theirs", "configmaps").applied("w", spec=1).creates("w-a").updates("w", status=1).ends()


def judge(history: History, *references: History) -> Verdict:
    return verdict_of(no_cross_object_writes.REQUIREMENT, Trial(history, references or (done(reference(1)), done(reference(2)))))


def held(script: Script, **spec: Any) -> Script:  # noqa: ANN401  # JSON
    script.applied("theirs", "configmaps").applied("w", spec=1, **spec)
    return script.hold().creates("w-a").updates("w", status=1)


def because(script: Script) -> list[str]:
    verdict = judge(script.let_go().ends())
    assert verdict.outcome is Outcome.FAIL
    return [finding.because for finding in verdict.findings]


def test_one_that_keeps_to_its_own_passes() -> None:
    assert judge(held(trial()).deletes("w-a").updates("w", status=2).let_go().ends()).outcome is Outcome.PASS


def test_one_that_writes_to_what_belongs_to_others_is_guilty() -> None:
    assert because(held(trial()).updates("theirs", "configmaps", subresource="", data=1)) == [
        "the controller wrote to configmap/ns/theirs, which the workload neither owns nor mentions; no fault-free run did"
    ]


def test_so_is_one_that_makes_or_deletes_what_no_reference_had() -> None:
    assert because(held(trial()).creates("nudge", resource="configmaps", owner="", generated=""))[0].startswith(
        "the controller created configmap/ns/nudge, which"
    )
    assert because(held(trial()).deletes("theirs", resource="configmaps"))[0].startswith(
        "the controller deleted configmap/ns/theirs"
    )
    assert because(held(trial()).deletes_all("configmaps"))[0].startswith("the controller deleted configmap/ns/theirs")


def test_an_object_is_told_once() -> None:
    script = held(trial()).updates("theirs", "configmaps", subresource="", data=1)

    assert len(because(script.updates("theirs", "configmaps", subresource="", data=2))) == 1


@pytest.mark.parametrize(
    ("history", "why"),
    [
        (trial().ends(), "the controller never wrote anything"),
        (
            done(trial()),
            "no fault touched the controller, so it had no reason to do anything unusual",
        ),
        (
            done(trial().applied("x", "configmaps").updates("x", "configmaps", subresource="", data=1)),
            "no fault touched the controller, so it had no reason to do anything unusual",
        ),
    ],
    ids=["nothing happened", "no fault", "no fault, whatever it did"],
)
def test_nothing_is_proven_without_a_fault(history: History, why: str) -> None:
    verdict = judge(history)

    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, why)


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_what_it_does_in_the_references_is_what_it_is_asked_to() -> None:
    def managing(script: Script) -> History:
        return script.applied("w", spec=1).creates("settings", resource="configmaps", owner="", generated="").ends()

    script = held(trial()).creates("settings-2", resource="configmaps", owner="", generated="").let_go()

    assert judge(script.ends(), managing(reference(1)), done(reference(2))).outcome is Outcome.PASS


def test_what_it_did_before_any_fault_is_its_way() -> None:
    script = trial().applied("theirs", "configmaps").updates("theirs", "configmaps", subresource="", data=1)

    assert judge(script.applied("w", spec=1).hold().creates("w-a").let_go().ends()).outcome is Outcome.PASS


def test_grandchildren_are_its_own() -> None:
    script = held(trial()).made("rs", "replicasets.apps").made("rs-a", owner="rs").deletes("rs-a")
    script.updates("rs", "replicasets.apps", subresource="", spec=2).let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_children_of_an_owner_that_is_gone_are_its_own() -> None:
    assert judge(held(trial()).removed("w", WIDGETS).deletes("w-a").let_go().ends()).outcome is Outcome.PASS


def test_to_adopt_and_to_release_is_to_manage() -> None:
    script = held(trial()).applied("orphan", "pods")
    reference_to_w = script._objects["pods", "w-a"]["metadata"]["ownerReferences"]
    metadata = script._objects["pods", "orphan"]["metadata"]
    script.updates("orphan", "pods", subresource="", metadata=metadata | {"ownerReferences": reference_to_w})

    assert judge(script.updates("orphan", "pods", subresource="", metadata=metadata).let_go().ends()).outcome is Outcome.PASS


def test_what_the_workload_mentions_it_is_asked_to_manage() -> None:
    script = held(trial(), settings={"from": ["configmaps/theirs"]})

    assert judge(script.updates("theirs", "configmaps", subresource="", data=1).let_go().ends()).outcome is Outcome.PASS


def test_bookkeeping_and_refused_writes_touch_nothing() -> None:
    script = (
        held(trial())
        .asks("update", "leases.coordination.k8s.io", "lock")
        .refused("update", "theirs", "Conflict", resource="configmaps")
    )

    assert judge(script.let_go().ends()).outcome is Outcome.PASS


def test_what_a_competing_write_made_in_its_place_it_may_take_over() -> None:
    script = held(trial()).applied("w-settings", "configmaps")
    uid = script.uid("w-settings", "configmaps")
    script.adds(Competed, request=9, resource="configmaps", name="w-settings", uid=uid, fault=0)

    assert judge(script.updates("w-settings", "configmaps", subresource="", data=1).let_go().ends()).outcome is Outcome.PASS
