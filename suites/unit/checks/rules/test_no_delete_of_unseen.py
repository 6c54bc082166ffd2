"""no-delete-of-unseen: whom it accuses, whom it does not, and when it knows nothing. No references are needed."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import no_delete_of_unseen
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Withheld
from staleproof.core.history import History

from ..script import HOLD, PAST, RESTART, WIDGETS, Script, losing, trial


def judge(history: History) -> Verdict:
    return verdict_of(no_delete_of_unseen.REQUIREMENT, Trial(history, ()))


def named(script: Script) -> Script:
    return script.step(1, "apply Widget/w").applied("w", spec=2).creates("w-0", "w-1", generated="").idle(1)


def recreated(script: Script) -> Script:
    """Somebody else puts another object under the name of a child, unseen."""
    return named(script).step(2, "recreate").hold().removed("w-1").made("w-1")


def test_a_controller_that_deletes_by_name_what_took_that_name_unseen_is_guilty() -> None:
    verdict = judge(recreated(trial()).step(3, "scale").applied("w", spec=1).deletes("w-1").let_go().ends())

    assert verdict.outcome is Outcome.FAIL
    assert [finding.because for finding in verdict.findings] == [
        "the controller deleted pod/ns/w-1 (uid ns-uid-4), an incarnation that it had never been shown"
    ]
    assert verdict.findings[0].though == "though it had not been shown that incarnation (resourceVersion 105)"


def test_one_that_names_the_incarnation_it_means_passes() -> None:
    script = recreated(trial()).step(3, "scale").applied("w", spec=1).refused("delete", "w-1", "Conflict", uid="ns-uid-3")

    assert judge(script.let_go().deletes("w-1").ends()).outcome is Outcome.PASS


def test_one_that_looks_before_it_deletes_passes() -> None:
    script = recreated(trial()).step(3, "scale").applied("w", spec=1).gets("w-1").deletes("w-1").let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_a_child_of_an_owner_that_was_replaced_unseen_is_not_the_controllers_to_delete() -> None:
    script = named(trial()).step(2, "recreate").hold(WIDGETS).removed("w", WIDGETS).applied("w", spec=2).made("w-2")

    verdict = judge(script.deletes("w-2").let_go(WIDGETS).ends())

    assert [finding.because for finding in verdict.findings] == [
        "the controller deleted pod/ns/w-2, a child of the 2nd widget/w, an incarnation that it had never been shown"
    ]
    assert verdict.findings[0].though == "though it had not been shown its owner, widget/w of resourceVersion 105"


def swept(script: Script, *, past: bool, names: int) -> Script:
    """The primary is replaced; a controller that starts on the past deletes a child of the new one, naming its incarnation."""
    script.step(1, "apply").applied("w", spec=2).creates("w-0", "w-1", generated="").idle(1)
    script.step(2, "recreate").removed("w", WIDGETS).applied("w", spec=2).creates("w-2", "w-3", generated="").idle(2)
    script.step(3, "touch").dies()
    script.lives_again(past={WIDGETS: {"w": 101}} if past else None)
    return script.deletes(*("w-2", "w-3")[:names], precondition=True).idle(3)


def test_to_know_a_child_is_not_to_know_its_owner() -> None:
    """A sweeper of orphans lists children as they are now, and the primaries of before."""
    fault_free = tuple(swept(Script(), past=False, names=0).ends() for _ in range(2))

    guilty = verdict_of(no_delete_of_unseen.REQUIREMENT, Trial(swept(Script(RESTART, PAST), past=True, names=1).ends(), fault_free))
    assert [finding.because for finding in guilty.findings] == [
        "the controller deleted pod/ns/w-2, a child of the 2nd widget/w, an incarnation that it had never been shown"
    ]
    knowing = verdict_of(
        no_delete_of_unseen.REQUIREMENT, Trial(swept(Script(RESTART, PAST), past=False, names=1).ends(), fault_free)
    )
    assert knowing.outcome is not Outcome.FAIL


def test_who_does_what_fault_free_runs_do_may_not_know_the_owner() -> None:
    fault_free = tuple(swept(Script(), past=False, names=1).ends() for _ in range(2))

    verdict = verdict_of(
        no_delete_of_unseen.REQUIREMENT, Trial(swept(Script(RESTART, PAST), past=True, names=1).ends(), fault_free)
    )
    assert verdict.outcome is not Outcome.FAIL


def test_the_children_of_an_owner_that_is_gone_may_go() -> None:
    script = named(trial()).step(2, "recreate").hold(WIDGETS).removed("w", WIDGETS).applied("w", spec=2).made("w-2")
    script.removed("w", WIDGETS).deletes("w-2").let_go(WIDGETS)

    assert judge(script.ends()).outcome is not Outcome.FAIL


@pytest.mark.parametrize(
    "history",
    [
        trial().ends(),
        named(trial()).deletes("w-1").ends(),
        recreated(trial()).let_go().ends(),
        recreated(trial()).step(3, "scale").applied("w", spec=1).deletes("w-0").let_go().ends(),
        recreated(trial()).let_go().step(3, "scale").applied("w", spec=1).deletes("w-1").ends(),
        recreated(trial()).asks("delete", "pods", "w-1", namespace="elsewhere").let_go().ends(),
    ],
    ids=["nothing happened", "nothing hidden", "nothing deleted", "another name", "after the release", "elsewhere"],
)
def test_nothing_is_proven_unless_it_deletes_by_a_name_that_was_taken_unseen(history: History) -> None:
    assert judge(history).outcome is Outcome.NOT_EXERCISED


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_what_it_created_itself_it_knows_though_it_has_not_seen_it() -> None:
    script = trial().step(1, "apply").hold().applied("w", spec=2).creates("w-0", "w-1", generated="").deletes("w-1").let_go()

    assert judge(script.ends()).outcome is Outcome.NOT_EXERCISED


def test_what_it_does_not_watch_it_may_delete_by_name() -> None:
    script = trial().step(1, "apply").applied("w").made("w-rs", "replicasets.apps").deletes("w-rs", resource="replicasets.apps")

    assert judge(script.ends()).outcome is Outcome.NOT_EXERCISED


def test_an_owner_that_it_does_not_watch_does_not_matter() -> None:
    script = trial().step(1, "apply").applied("w").made("rs", "replicasets.apps").made("rs-1", owner="rs").deletes("rs-1")

    assert judge(script.ends()).outcome is Outcome.NOT_EXERCISED


def test_a_precondition_on_the_right_uid_shows_that_it_has_learnt_of_it_somehow() -> None:
    script = recreated(trial()).deletes("w-1", precondition=True).let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_a_list_in_the_middle_has_shown_it() -> None:
    assert judge(recreated(trial()).lists("pods").deletes("w-1").let_go().ends()).outcome is Outcome.NOT_EXERCISED
    assert judge(recreated(trial()).relist().deletes("w-1").ends()).outcome is Outcome.NOT_EXERCISED


def test_a_deletecollection_names_nobody() -> None:
    assert judge(recreated(trial()).deletes_all().let_go().ends()).outcome is Outcome.NOT_EXERCISED


def test_an_old_view_is_evidence_also_when_nothing_was_withheld() -> None:
    """The stream was cut: the controller still believes in the old incarnation."""
    script = recreated(trial())
    script.entries = [entry for entry in script.entries if not isinstance(entry, Withheld)]

    assert judge(script.deletes("w-1").let_go().ends()).outcome is Outcome.FAIL


def test_a_new_life_knows_only_what_it_was_shown() -> None:
    script = named(trial()).restarted().lists("pods", without=("w-1",)).hold().deletes("w-1")

    assert judge(script.let_go().ends()).outcome is Outcome.NOT_EXERCISED


def test_what_was_kept_from_an_earlier_life_is_forgotten_with_it() -> None:
    """Nothing says that the view of the new life is old: it may delete by name what it does not watch."""
    script = recreated(trial()).let_go().restarted().deletes("w-1")

    assert judge(script.ends()).outcome is Outcome.NOT_EXERCISED


def test_what_it_made_itself_and_never_heard_of_is_no_stranger() -> None:
    script = Script(losing(), HOLD).step(1, "apply").applied("w", spec=1).hold(fault=1).creates("w-0", generated="")
    script.loses_the_answer().refused("create", "w-0", "AlreadyExists").step(2, "scale").applied("w", spec=0).deletes("w-0")

    assert judge(script.let_go(fault=1).ends()).outcome is Outcome.NOT_EXERCISED
