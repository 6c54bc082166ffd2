"""no-blind-retry: which conflicts it tells of, which it does not, and when it knows nothing."""

import msgspec
import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import no_blind_retry
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Answered, Competed
from staleproof.core.history import History

from ..report_script import ReportScript, pair, trial
from ..script import WIDGETS


def done(script: ReportScript) -> History:
    return script.step(1, "apply").wants(1).creates("w-a").says(1).idle(1).ends()


def judge(history: History, *references: History) -> Verdict:
    return verdict_of(no_blind_retry.REQUIREMENT, Trial(history, references or pair(done)))


def held(script: ReportScript) -> ReportScript:
    """Its own status update is hidden, and it is made to look again."""
    return script.step(1, "apply").wants(1).creates("w-a").hold(WIDGETS).says(1).idle(1).step(2, "child").made("w-x")


def test_a_conflict_with_itself_is_told() -> None:
    verdict = judge(held(trial()).says_blindly().let_go(WIDGETS).ends())

    assert verdict.outcome is Outcome.FAIL
    assert [finding.because for finding in verdict.findings] == [
        "1 update of the status of widget/ns/w was refused with 409 Conflict because of the controller's own writes; "
        "fault-free runs had none"
    ]
    assert verdict.findings[0].though == "though it had not been shown its own writes 103"


def test_all_of_them_are_one_finding() -> None:
    verdict = judge(held(trial()).says_blindly().says_blindly().says_blindly().let_go(WIDGETS).ends())

    assert [finding.because[:36] for finding in verdict.findings] == ["3 updates of the status of widget/ns"]


def test_one_that_knows_what_it_wrote_passes() -> None:
    assert judge(held(trial()).let_go(WIDGETS).says(1, replicas=1).ends()).outcome is Outcome.PASS
    assert judge(held(trial()).says(1, replicas=1).let_go(WIDGETS).ends()).outcome is Outcome.PASS


@pytest.mark.parametrize(
    "history",
    [
        trial().ends(),
        done(trial()),
        trial().wants(1).hold(WIDGETS).says(1).let_go(WIDGETS).ends(),
        trial().step(1, "apply").wants(1).hold().creates("w-a").step(2, "touch").applied("w").let_go().ends(),
    ],
    ids=["nothing happened", "nothing was hidden", "it was not made to look again", "a create was hidden"],
)
def test_nothing_is_proven_unless_it_looked_again_while_an_update_was_hidden(history: History) -> None:
    verdict = judge(history)

    assert (verdict.outcome, verdict.why) == (
        Outcome.NOT_EXERCISED,
        "the controller was never made to look again while an own update was hidden from it",
    )


# --- no conflict with itself -----------------------------------------------------------------------------------------------------


def test_what_happens_in_the_references_is_not_staleness() -> None:
    def clumsy(script: ReportScript) -> History:
        return held(script).says_blindly().let_go(WIDGETS).ends()

    assert judge(held(trial()).says_blindly().let_go(WIDGETS).ends(), *pair(clumsy)).outcome is Outcome.PASS
    twice = judge(held(trial()).says_blindly().says_blindly().let_go(WIDGETS).ends(), *pair(clumsy))
    assert twice.findings[0].because.endswith("fault-free runs had at most 1")


def test_a_conflict_with_somebody_else_is_nobodys_fault() -> None:
    assert judge(held(trial()).applied("w", spec=9).says_blindly().let_go(WIDGETS).ends()).outcome is Outcome.PASS
    assert judge(held(trial()).says_blindly().applied("w", spec=9).let_go(WIDGETS).ends()).outcome is Outcome.PASS


def test_a_rival_that_a_fault_sent_is_somebody_else() -> None:
    script = held(trial()).says_blindly()
    request = script._request
    script.adds(Competed, request=request, resource=WIDGETS, name="w", fault=0)

    assert judge(script.let_go(WIDGETS).ends()).outcome is Outcome.PASS


def test_already_exists_is_how_deterministic_names_live() -> None:
    script = held(trial()).refused("create", "w-a", "AlreadyExists").says_blindly(reason="AlreadyExists")

    assert judge(script.let_go(WIDGETS).ends()).outcome is Outcome.PASS


def test_patches_and_deletes_conflict_for_other_reasons() -> None:
    script = held(trial()).refused("patch", "w", "Conflict", resource=WIDGETS).refused("delete", "w", "Conflict", resource=WIDGETS)

    assert judge(script.let_go(WIDGETS).ends()).outcome is Outcome.PASS


def test_what_it_had_been_shown_live_was_seen() -> None:
    assert judge(held(trial()).gets("w", WIDGETS).says_blindly().let_go(WIDGETS).ends()).outcome is Outcome.PASS


def test_a_write_whose_answer_was_lost_may_be_repeated() -> None:
    script = trial().step(1, "apply").wants(1).creates("w-a").hold(WIDGETS).says(1)
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], outcome="unknown", executed=True)

    assert judge(script.step(2, "rest").says_blindly().let_go(WIDGETS).ends()).outcome is not Outcome.FAIL


def test_a_new_life_does_not_know_what_the_last_one_wrote() -> None:
    script = held(trial()).restarted()
    widget = script._item(script._objects[WIDGETS, "w"])
    script.page(WIDGETS, (type(widget)(widget.namespace, widget.name, widget.uid, 101),), revision=101)

    assert judge(script.says_blindly().ends()).outcome is not Outcome.FAIL


def test_two_writes_at_once_race() -> None:
    script = held(trial()).let_go(WIDGETS).hold(WIDGETS)
    script._ask("update", WIDGETS, "w", subresource="status")
    first = script._request
    script.applied("w", status={"replicas": 2})
    commit = script.newest()
    script._ask("update", WIDGETS, "w", subresource="status")
    second, uid = script._request, script.uid("w", WIDGETS)
    script.adds(Answered, request=first, outcome="ok", code=200, name="w", uid=uid, revision=commit)
    script.adds(Answered, request=second, outcome="fail", code=409, reason="Conflict", name="w")

    assert judge(script.let_go(WIDGETS).ends()).outcome is Outcome.PASS


def test_what_somebody_else_wrote_long_after_is_no_excuse() -> None:
    assert judge(held(trial()).says_blindly().rests(6).applied("w").let_go(WIDGETS).ends()).outcome is Outcome.FAIL


def test_conflicts_about_objects_unknown_here_are_left_alone() -> None:
    assert judge(held(trial()).says_blindly("other").let_go(WIDGETS).ends()).outcome is Outcome.PASS
    assert judge(held(trial()).says_blindly("lock", "leases.coordination.k8s.io").let_go(WIDGETS).ends()).outcome is Outcome.PASS
