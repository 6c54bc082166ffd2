"""converges-after-catch-up: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import converges_after_catch_up
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Ended
from staleproof.core.history import History

from ..script import WIDGETS, Script, reference, trial


def two(script: Script, *, ready: int = 2) -> Script:
    return script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b").updates("w", status={"ready": ready})


def held(script: Script, *names: str) -> Script:
    return script.step(1, "apply").hold().applied("w", spec=2).creates(*names).let_go()


def late(script: Script) -> History:
    """The end, after a time that any controller can do with."""
    return script.released().passes(60).ends()


def judge(history: History, *references: History) -> Verdict:
    return verdict_of(
        converges_after_catch_up.REQUIREMENT, Trial(history, references or (two(reference(1)).ends(), two(reference(2)).ends()))
    )


def test_children_left_over_are_a_finding() -> None:
    verdict = judge(late(held(trial(), "w-a", "w-b", "w-c").updates("w", status={"ready": 2})))

    assert verdict.outcome is Outcome.FAIL
    assert [finding.because for finding in verdict.findings] == [
        "60.1 s after it could catch up: 3 pods of widget/w, fault-free runs ended with 2"
    ]


def test_so_are_children_that_are_missing_and_a_field_with_another_value() -> None:
    missing = judge(late(held(trial(), "w-a").updates("w", status={"ready": 2})))
    wrong = judge(late(held(trial(), "w-a", "w-b").updates("w", status={"ready": 0})))

    assert missing.findings[0].because.endswith("1 pod of widget/w, fault-free runs ended with 2")
    assert wrong.findings[0].because.endswith("widget/w: status.ready is 0, fault-free runs ended with 2")


def test_the_state_of_the_references_passes() -> None:
    assert judge(held(trial(), "w-a", "w-b").updates("w", status={"ready": 2}).ends()).outcome is Outcome.PASS


def test_reaching_it_before_the_deadline_is_enough_whatever_comes_later() -> None:
    script = held(trial(), "w-a", "w-b").updates("w", status={"ready": 2}).released().settled().resynced().creates("w-c")

    assert judge(script.ends()).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("history", "outcome"),
    [
        (trial().ends(), Outcome.NOT_EXERCISED),
        (two(trial()).ends(), Outcome.NOT_EXERCISED),
        (trial().hold().applied("w").made("w-a").let_go().ends(), Outcome.NOT_EXERCISED),
        (two(trial()).adds(Ended).unfinished(), Outcome.INCONCLUSIVE),
    ],
    ids=["empty", "no fault fired", "the controller never wrote", "no settling phase"],
)
def test_nothing_is_proven_without_something_to_catch_up_with(history: History, outcome: Outcome) -> None:
    assert judge(history).outcome is outcome


def test_counts_that_differ_between_references_are_a_range() -> None:
    three = two(reference(2)).creates("w-c").ends()
    script = held(trial(), "w-a", "w-b", "w-c").updates("w", status={"ready": 2})

    assert judge(script.ends(), two(reference(1)).ends(), three).outcome is Outcome.PASS


def test_outside_such_a_range_it_is_inconclusive_and_says_which_count() -> None:
    three = two(reference(2)).creates("w-c").ends()
    script = held(trial(), "w-a", "w-b", "w-c", "w-d").updates("w", status={"ready": 2})

    verdict = judge(script.ends(), two(reference(1)).ends(), three)

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.why == "the references do not agree: 4 pods of widget/w, fault-free runs ended with 2 to 3"


def test_a_number_that_the_references_do_not_agree_on_is_inconclusive_and_says_which_field() -> None:
    references = two(reference(1), ready=1).ends(), two(reference(2), ready=2).ends()
    script = held(trial(), "w-a", "w-b").updates("w", status={"ready": 7})

    verdict = judge(script.ends(), *references)

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.why == "the references do not agree: widget/w: status.ready is 7, fault-free runs ended with 1 or 2"


def test_a_certain_difference_counts_whatever_else_is_unstable() -> None:
    references = two(reference(1), ready=1).ends(), two(reference(2), ready=2).ends()

    assert judge(late(held(trial(), "w-a").updates("w", status={"ready": 7})), *references).outcome is Outcome.FAIL


def test_an_object_of_its_own_is_missing_or_there() -> None:
    with_map = [two(reference(n)).creates("w-map", resource="configmaps", owner="", generated="").ends() for n in (1, 2)]
    script = held(trial(), "w-a", "w-b").updates("w", status={"ready": 2})

    missing = judge(late(script), *with_map)
    script = (
        held(trial(), "w-a", "w-b").updates("w", status={"ready": 2}).creates("x", resource="configmaps", owner="", generated="")
    )
    there = judge(late(script))

    assert missing.findings[0].because.endswith(": configmap/w-map is missing, fault-free runs ended with it")
    assert there.findings[0].because.endswith(": configmap/x is there, fault-free runs ended without it")


def test_a_deleted_primary_stays_deleted() -> None:
    def gone(script: Script) -> Script:
        return script.step(2, "delete").removed("w", WIDGETS).deletes("w-a", "w-b")

    references = gone(two(reference(1))).ends(), gone(two(reference(2))).ends()
    script = held(trial(), "w-a", "w-b").removed("w", WIDGETS)

    leak = judge(late(script), *references)

    assert leak.findings[0].because.endswith("2 pods of Widget that is gone, fault-free runs ended with 0")


def test_an_apply_that_meets_the_dying_object_makes_another_end_no_wonder() -> None:
    """The user deletes and applies again; in the trial a finalizer still keeps the first one, and the apply changes that."""

    def again(script: Script) -> Script:
        return two(script).step(2, "delete").removed("w", WIDGETS).deletes("w-a", "w-b").step(3, "apply").applied("w", spec=0)

    script = held(trial(), "w-a", "w-b").step(2, "delete").terminating("w", WIDGETS).step(3, "apply").applied("w", spec=0)
    verdict = judge(
        late(script.deletes("w-a", "w-b").removed("w", WIDGETS)), again(reference(1)).ends(), again(reference(2)).ends()
    )

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"the workload created {WIDGETS}/w 1 times and 2 times in fault-free runs" in verdict.why


def test_a_deadline_that_is_shorter_than_any_client_may_need_proves_nothing() -> None:
    verdict = judge(held(trial(), "w-a").passes(1).ends())

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "it had 0.1 s to catch up, and may need " in verdict.why


def test_nor_does_one_that_a_restarted_controller_may_need_to_be_elected() -> None:
    script = held(trial(), "w-a").restarted().released().passes(15)

    assert "may still wait to be elected" in judge(script.ends()).why
    script = held(trial(), "w-a").restarted().released().passes(25)
    assert judge(script.ends()).outcome is Outcome.FAIL
