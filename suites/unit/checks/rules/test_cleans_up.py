"""cleans-up: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import cleans_up
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import FaultFired
from staleproof.core.history import History

from ..life_script import LifeScript, losing
from ..script import HOLD, WIDGETS, Script, reference, trial

FINALIZERS = ["example.com/clean-up"]


def made(script: Script) -> Script:
    """A widget with a finalizer, a pod, and a configmap that nobody owns."""
    script.step(1, "apply").applied("w", metadata={"finalizers": FINALIZERS}, spec=1).creates("w-a")
    return script.creates("settings", resource="configmaps", owner="", generated="").idle(1)


def let_go(script: Script) -> Script:
    """The finalizer is removed, and so the widget is gone."""
    script.updates("w", subresource="", metadata=script._objects[WIDGETS, "w"]["metadata"] | {"finalizers": []})
    return script.removed("w", WIDGETS)


def cleaned(script: Script) -> History:
    """The workload: the widget is deleted."""
    made(script).step(2, "delete").terminating("w", WIDGETS).deletes("w-a").deletes("settings", resource="configmaps")
    return let_go(script).idle(2).ends()


def judge(history: History, *references: History) -> Verdict:
    return verdict_of(cleans_up.REQUIREMENT, Trial(history, references or (cleaned(reference(1)), cleaned(reference(2)))))


def held(script: Script) -> Script:
    """The pod is hidden from the controller when the widget is deleted."""
    script.step(1, "apply").applied("w", metadata={"finalizers": FINALIZERS}, spec=1).hold().creates("w-a")
    script.creates("settings", resource="configmaps", owner="", generated="").idle(1)
    return script.step(2, "delete").terminating("w", WIDGETS)


def after_a_while(script: Script) -> History:
    """The end, after a time that any controller can do with."""
    script.released()
    for _ in range(100):
        script.idle(2)
    return script.ends()


def because(verdict: Verdict) -> list[str]:
    assert verdict.outcome is Outcome.FAIL
    return [finding.because for finding in verdict.findings]


def test_one_that_cleans_up_what_it_has_not_been_shown_passes() -> None:
    script = held(trial()).deletes("w-a").deletes("settings", resource="configmaps")

    assert judge(let_go(script).let_go().ends()).outcome is Outcome.PASS


def test_one_that_forgets_what_it_has_not_been_shown_is_guilty() -> None:
    verdict = judge(after_a_while(let_go(held(trial()).deletes("settings", resource="configmaps")).let_go()))

    assert because(verdict) == ["pod/ns/w-a was left over when widget/w was deleted; fault-free runs left none"]
    assert verdict.findings[0].though == "though it had not been shown w-a (resourceVersion 102)"


def test_all_of_a_role_are_one_finding() -> None:
    verdict = judge(after_a_while(let_go(held(trial()).creates("w-b").deletes("settings", resource="configmaps")).let_go()))

    assert because(verdict) == ["pod/ns/w-a, pod/ns/w-b were left over when widget/w was deleted; fault-free runs left none"]
    assert verdict.findings[0].though == "though it had not been shown w-a, w-b (resourceVersion 102\N{EN DASH}105)"


def test_one_that_may_still_come_back_to_it_is_not_accused() -> None:
    script = held(trial()).deletes("settings", resource="configmaps")
    verdict = judge(let_go(script).let_go().ends())

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.why.startswith("pod/ns/w-a is left over, but it had 0.1 s to catch up, and may need ")


def test_so_is_one_that_leaves_what_nobody_owns() -> None:
    verdict = judge(after_a_while(let_go(held(trial()).deletes("w-a")).let_go()))

    assert because(verdict) == ["configmap/ns/settings, which nobody owns, was left over; fault-free runs left none"]
    assert verdict.findings[0].though == ""


def test_so_is_one_that_never_lets_go() -> None:
    script = held(trial()).deletes("w-a").deletes("settings", resource="configmaps").let_go()

    assert because(judge(after_a_while(script))) == [
        "widget/ns/w was deleted and is still there 10.1 s after it could catch up, held by example.com/clean-up; "
        "fault-free runs left none"
    ]


def test_children_of_an_earlier_incarnation_are_left_over_although_a_new_one_is_there() -> None:
    def recreated(script: Script) -> History:
        made(script).step(2, "delete").terminating("w", WIDGETS).deletes("w-a").deletes("settings", resource="configmaps")
        return let_go(script).applied("w", spec=1).creates("w-b").ends()

    references = recreated(reference(1)), recreated(reference(2))
    script = held(trial()).deletes("settings", resource="configmaps")
    script = let_go(script).applied("w", spec=1).let_go().creates("w-b")

    assert because(judge(after_a_while(script), *references)) == [
        "pod/ns/w-a was left over when widget/w was deleted; fault-free runs left none"
    ]


@pytest.mark.parametrize(
    ("history", "why"),
    [
        (trial().ends(), "nothing of the workload was deleted"),
        (made(trial()).hold().updates("w", status=1).creates("w-b").let_go().ends(), "nothing of the workload was deleted"),
        (cleaned(trial()), "no fault touched the controller, so there was nothing that could disturb the deletion"),
        (
            trial().adds(FaultFired, fault=0, on="x").applied("w").removed("w", WIDGETS).ends(),
            "the controller never wrote anything",
        ),
    ],
    ids=["nothing happened", "nothing was deleted", "no fault", "idle"],
)
def test_nothing_is_proven_without_a_deletion_under_a_fault(history: History, why: str) -> None:
    verdict = judge(history)

    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, why)


def test_a_fault_that_was_over_before_the_deletion_proves_nothing() -> None:
    script = trial().step(1, "apply").applied("w", metadata={"finalizers": FINALIZERS}, spec=1).hold().creates("w-a").let_go()
    script.terminating("w", WIDGETS).deletes("w-a")

    verdict = judge(let_go(script).ends())

    assert (verdict.outcome, verdict.why) == (
        Outcome.NOT_EXERCISED,
        "nothing was done to the controller during or after the deletion",
    )


def test_a_restart_after_the_deletion_is_a_disturbance() -> None:
    script = trial().adds(FaultFired, fault=0, on="x").step(1, "apply").applied("w", metadata={"finalizers": FINALIZERS}, spec=1)
    script.creates("w-a").terminating("w", WIDGETS).restarted().lists("pods").deletes("w-a")

    assert judge(let_go(script).ends()).outcome is Outcome.PASS


def test_without_a_settling_phase_nothing_is_known() -> None:
    assert judge(held(trial()).unfinished()).outcome is Outcome.INCONCLUSIVE


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_what_the_references_leave_to_the_garbage_collector_may_be_left() -> None:
    def left(script: Script) -> History:
        return let_go(made(script).step(2, "delete").terminating("w", WIDGETS).deletes("settings", resource="configmaps")).ends()

    script = let_go(held(trial()).deletes("settings", resource="configmaps")).let_go()

    assert judge(script.ends(), left(reference(1)), left(reference(2))).outcome is Outcome.PASS
    script = let_go(held(trial()).creates("w-b").deletes("settings", resource="configmaps")).let_go()
    mixed = judge(after_a_while(script), left(reference(1)), cleaned(reference(2)))
    assert mixed.outcome is Outcome.INCONCLUSIVE
    assert mixed.why == "pod/ns/w-b is left over, but the references do not agree how much is left"


def test_how_many_are_left_to_the_garbage_collector_does_not_matter() -> None:
    def left(script: Script) -> History:
        return let_go(made(script).step(2, "delete").terminating("w", WIDGETS).deletes("settings", resource="configmaps")).ends()

    script = let_go(held(trial()).creates("w-b").deletes("settings", resource="configmaps")).let_go()

    assert judge(after_a_while(script), left(reference(1)), left(reference(2))).outcome is not Outcome.FAIL


def test_a_pod_in_its_grace_period_is_on_its_way() -> None:
    script = held(trial()).deletes("w-a", grace=True).deletes("settings", resource="configmaps")

    assert judge(let_go(script).let_go().ends()).outcome is Outcome.PASS


def test_what_is_cleaned_up_late_is_cleaned_up() -> None:
    script = let_go(held(trial()).deletes("settings", resource="configmaps")).let_go().released().settled().deletes("w-a")

    assert judge(script.ends()).outcome is Outcome.PASS


def test_what_is_made_after_the_end_was_right_is_for_another_requirement() -> None:
    script = let_go(held(trial()).deletes("w-a").deletes("settings", resource="configmaps")).let_go().released().settled()

    assert judge(script.creates("settings", resource="configmaps", owner="", generated="").ends()).outcome is Outcome.PASS


def test_objects_of_others_are_not_the_controllers_to_clean_up() -> None:
    script = held(trial()).deletes("w-a").deletes("settings", resource="configmaps").applied("theirs", "configmaps")

    assert judge(let_go(script).let_go().ends()).outcome is Outcome.PASS


def test_nor_what_others_made_in_its_place() -> None:
    script = held(trial()).deletes("w-a").deletes("settings", resource="configmaps").applied("settings", "configmaps")

    assert judge(let_go(script).let_go().ends()).outcome is Outcome.PASS


def test_what_it_keeps_in_the_references_it_may_keep() -> None:
    def kept(script: Script) -> History:
        return let_go(made(script).step(2, "delete").terminating("w", WIDGETS).deletes("w-a")).ends()

    script = let_go(held(trial()).deletes("w-a")).let_go()

    assert judge(script.ends(), kept(reference(1)), kept(reference(2))).outcome is Outcome.PASS


def dying(script: Script) -> Script:
    """The widget is applied again while its finalizer still keeps it: that changes the dying one."""
    return script.step(3, "apply").applied("w", spec=3)


def renewed(script: Script) -> History:
    """Fault-free, the first one is gone by then, and another one is made."""
    made(script).step(2, "delete").terminating("w", WIDGETS).deletes("w-a").deletes("settings", resource="configmaps")
    return let_go(script).step(3, "apply").applied("w", spec=3).ends()


def test_what_is_left_of_another_workload_proves_nothing() -> None:
    script = dying(held(trial())).deletes("settings", resource="configmaps")
    verdict = judge(after_a_while(let_go(script).let_go()), renewed(reference(1)), renewed(reference(2)))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the workload created" in verdict.why


def test_but_a_deletion_that_is_never_finished_does() -> None:
    script = dying(held(trial()).deletes("w-a").deletes("settings", resource="configmaps")).let_go()
    verdict = judge(after_a_while(script), renewed(reference(1)), renewed(reference(2)))

    assert because(verdict)[0].startswith("widget/ns/w was deleted and is still there")


def test_what_it_never_heard_that_it_had_made_is_for_another_requirement() -> None:
    def settings(script: Script, *names: str) -> Script:
        for name in names:
            script.creates(name, resource="configmaps", owner="", generated="settings-")
        return script

    def gone(script: Script) -> History:
        settings(made(script), "settings-a").step(2, "delete").terminating("w", WIDGETS).deletes("w-a")
        return let_go(script.deletes("settings", "settings-a", resource="configmaps")).ends()

    script = LifeScript(losing(), HOLD)
    settings(made(script), "settings-a")
    settings(script.loses_the_answer(), "settings-b").step(2, "delete").terminating("w", WIDGETS).deletes("w-a")
    let_go(script.deletes("settings", "settings-b", resource="configmaps"))

    assert judge(after_a_while(script), gone(reference(1)), gone(reference(2))).outcome is Outcome.PASS


def test_what_is_made_for_a_widget_that_is_gone_is_told_as_such() -> None:
    script = held(trial()).deletes("w-a").deletes("settings", resource="configmaps")
    owner = {"kind": "Widget", "name": "w", "uid": script.uid("w", WIDGETS), "controller": True}
    let_go(script).let_go().creates("w-b", owner="", metadata={"ownerReferences": [owner]})
    verdict = judge(after_a_while(script))

    assert because(verdict) == ["pod/ns/w-b was created and left over after widget/w was deleted; fault-free runs left none"]
    assert verdict.findings[0].though == ""
