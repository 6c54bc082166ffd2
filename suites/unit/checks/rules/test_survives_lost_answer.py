"""survives-lost-answer: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import survives_lost_answer
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Answered
from staleproof.core.fault import Kill
from staleproof.core.history import History

from ..life_script import AnyScript, LifeScript, losing
from ..script import HOLD, WIDGETS, Script, reference


def three(script: AnyScript) -> AnyScript:
    return script.step(1, "apply").applied("w", spec=3).creates("w-a", "w-b", "w-c").idle(1).step(2, "touch").applied("w")


def judge(script: Script, *references: History) -> Verdict:
    return verdict_of(
        survives_lost_answer.REQUIREMENT,
        Trial(script.ends(), references or (three(reference(1)).idle(2).ends(), three(reference(2)).idle(2).ends())),
    )


def lost() -> LifeScript:
    """The answer to the third create never arrives."""
    script = LifeScript(losing(), HOLD).step(1, "apply").applied("w", spec=3)
    return script.creates("w-a", "w-b", "w-c").loses_the_answer()


# --- guilty ----------------------------------------------------------------------------------------------------------------------


def test_one_that_creates_again_at_once_is_guilty_though_the_first_one_is_on_its_way() -> None:
    verdict = judge(lost().creates("w-d").idle(1).step(2, "touch").applied("w"))

    assert [finding.because for finding in verdict.findings] == [
        "pod/ns/w-d is the 4th live pod of widget/w, made after the answer to an earlier create was lost; "
        "fault-free runs never had more than 3 by then"
    ]
    assert verdict.findings[0].though == "though w-c may have been created"


def test_also_when_the_first_of_a_burst_was_lost() -> None:
    script = (
        LifeScript(losing()).step(1, "apply").applied("w", spec=3).creates("w-a").loses_the_answer().creates("w-b", "w-c", "w-d")
    )

    assert judge(script).outcome is Outcome.FAIL


def test_one_that_decides_anew_before_it_has_seen_what_it_did_is_guilty() -> None:
    script = LifeScript(losing(), HOLD).step(1, "apply").applied("w", spec=3).hold(fault=1)
    script.creates("w-a", "w-b", "w-c").loses_the_answer().applied("w").creates("w-d").let_go(fault=1)

    assert judge(script).outcome is Outcome.FAIL


def down(script: Script, *victims: str) -> Script:
    return three(script).applied("w", spec=2).deletes(*victims).idle(2)


def test_one_that_deletes_another_because_it_never_heard_of_the_first_is_guilty() -> None:
    script = LifeScript(losing("delete"))
    three(script).applied("w", spec=2).deletes("w-c").loses_the_answer().deletes("w-b").idle(2)
    verdict = judge(script, down(reference(1), "w-c").ends(), down(reference(2), "w-a").ends())

    assert [finding.because for finding in verdict.findings] == [
        "the controller deleted pod/ns/w-b after the answer to an earlier delete was lost: "
        "1 live pod of widget/w left, fault-free runs kept 2"
    ]
    assert verdict.findings[0].though == "though w-c may have been deleted"


def test_one_that_gives_up_is_guilty() -> None:
    script = LifeScript(losing()).step(1, "apply").applied("w", spec=3).creates("w-a").loses_the_answer().idle(1)
    verdict = judge(script.step(2, "touch").applied("w").released().passes(10))

    assert [finding.because for finding in verdict.findings] == [
        "after the answer to its create of pods was lost: 1 pod of widget/w, fault-free runs ended with 3"
    ]


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_one_that_looks_before_it_goes_on_passes() -> None:
    assert judge(lost().idle(1).step(2, "touch").applied("w")).outcome is Outcome.PASS


def test_the_rest_of_a_burst_is_no_repetition() -> None:
    script = LifeScript(losing()).step(1, "apply").applied("w", spec=3).creates("w-a").loses_the_answer().creates("w-b", "w-c")

    assert judge(script.idle(1)).outcome is Outcome.PASS


def test_deterministic_names_may_be_asked_for_again() -> None:
    def named(script: Script) -> Script:
        return script.step(1, "apply").applied("w", spec=2).creates("w-0", "w-1", generated="").idle(1)

    script = LifeScript(losing()).step(1, "apply").applied("w", spec=2).creates("w-0", "w-1", generated="").loses_the_answer()
    script.refused("create", "w-1", "AlreadyExists").idle(1)

    assert judge(script, named(reference(1)).ends(), named(reference(2)).ends()).outcome is Outcome.PASS


def test_a_delete_that_is_repeated_finds_nothing() -> None:
    script = LifeScript(losing("delete"))
    three(script).applied("w", spec=2).deletes("w-c").loses_the_answer().refused("delete", "w-c", "NotFound").idle(2)

    assert judge(script, down(reference(1), "w-c").ends(), down(reference(2), "w-c").ends()).outcome is Outcome.PASS


def test_replacing_what_somebody_else_deleted_is_its_work() -> None:
    assert judge(lost().removed("w-a").creates("w-d").idle(1)).outcome is Outcome.PASS


def test_an_excess_among_children_that_it_has_seen_since_has_another_reason() -> None:
    script = lost().idle(1).step(2, "touch").applied("w").creates("w-d").deletes("w-a")

    assert judge(script).outcome is not Outcome.FAIL


def test_an_excess_that_the_lost_create_does_not_explain_has_another_reason() -> None:
    script = lost().made("w-x").made("w-y").creates("w-d").deletes("w-d").removed("w-x").removed("w-y").idle(1)

    assert judge(script).outcome is not Outcome.FAIL


def test_another_life_would_not_have_heard_it_anyway() -> None:
    script = lost().dies(1).lives_again(past={"pods": {}}).creates("w-d")

    assert judge(script).outcome is not Outcome.FAIL


def test_a_conflict_with_itself_is_no_harm() -> None:
    script = three(LifeScript(losing("update"))).updates("w", status={"replicas": 3}).loses_the_answer()
    script.refused("update", "w", "Conflict", resource=WIDGETS).idle(2)
    references = [three(reference(number)).updates("w", status={"replicas": 3}).idle(2).ends() for number in (1, 2)]

    assert judge(script, *references).outcome is not Outcome.FAIL


def test_an_end_that_other_faults_may_have_spoilt_is_not_blamed_on_the_answer() -> None:
    script = LifeScript(losing(), HOLD).step(1, "apply").applied("w", spec=3).creates("w-a").loses_the_answer().fires(1).idle(1)
    verdict = judge(script.released().passes(10))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "Hold fired, too, and may explain that" in verdict.why


def test_an_excess_under_another_workload_proves_nothing() -> None:
    def again(script: Script) -> Script:
        three(script).deletes("w-a", "w-b", "w-c").removed("w", WIDGETS)
        return script.applied("w", spec=1).creates("w-d").idle(2)

    verdict = judge(lost().creates("w-d").idle(1), again(reference(1)).ends(), again(reference(2)).ends())

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the workload created" in verdict.why


# --- nothing could be seen -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        LifeScript(losing()),
        three(LifeScript(losing())).idle(2),
        LifeScript(Kill(resource="pods")).step(1, "apply").applied("w", spec=3).creates("w-a").loses_the_answer(),
    ],
    ids=["nothing happened", "no answer was lost", "it was killed over it"],
)
def test_nothing_is_proven_unless_an_answer_was_lost(script: Script) -> None:
    assert judge(script).outcome is Outcome.NOT_EXERCISED


def test_a_broken_connection_of_which_nobody_knows_is_no_lost_answer() -> None:
    script = three(LifeScript(losing())).asks("create", "pods")
    script.entries[-1] = Answered(at=script.entries[-1].at, request=script.entries[-1].request, outcome="unknown")  # type: ignore[union-attr]

    assert judge(script.idle(2)).outcome is Outcome.NOT_EXERCISED
