"""no-excess-delete: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import no_excess_delete
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.history import History

from ..script import WIDGETS, Script, reference, trial


def three(script: Script, *, generated: str = "w-") -> Script:
    return script.step(1, "apply Widget/w").applied("w", spec=3).creates("w-a", "w-b", "w-c", generated=generated).idle(1)


def scaled(script: Script) -> History:
    """The workload: three pods, then one."""
    return three(script).step(2, "scale").applied("w", spec=1).deletes("w-c", "w-b").ends()


def judge(history: History, *references: History) -> Verdict:
    return verdict_of(no_excess_delete.REQUIREMENT, Trial(history, references or (scaled(reference(1)), scaled(reference(2)))))


def held(script: Script) -> Script:
    """Two of the three are deleted, and that is hidden."""
    return three(script).step(2, "scale").hold().applied("w", spec=1).deletes("w-c", "w-b").idle(2).step(3, "touch").applied("w")


def test_a_controller_that_deletes_more_because_its_deletes_are_hidden_is_guilty() -> None:
    verdict = judge(held(trial()).deletes("w-a").let_go().ends())

    assert verdict.outcome is Outcome.FAIL
    assert [finding.because for finding in verdict.findings] == [
        "deleting pod/ns/w-a left 0 live pods of widget/w; fault-free runs never went below 1"
    ]
    assert verdict.findings[0].though == "though it had not been shown its own deletes of w-c, w-b"


def test_deletes_that_take_their_time_are_deletes() -> None:
    script = three(trial()).step(2, "scale").hold().applied("w", spec=1).deletes("w-c", "w-b", grace=True).applied("w")

    assert judge(script.deletes("w-a", grace=True).let_go().ends()).outcome is Outcome.FAIL


def test_one_that_repeats_the_same_deletes_passes() -> None:
    assert judge(held(trial()).refused("delete", "w-c", "NotFound").let_go().ends()).outcome is Outcome.PASS


def test_with_stable_names_it_is_the_name_that_the_references_kept() -> None:
    def named(script: Script) -> History:
        return three(script, generated="").step(2, "scale").applied("w", spec=1).deletes("w-c", "w-b").ends()

    script = three(trial(), generated="").step(2, "scale").hold().applied("w", spec=1).deletes("w-c", "w-b").applied("w")
    references = named(reference(1)), named(reference(2))

    verdict = judge(script.deletes("w-a").let_go().ends(), *references)

    assert [finding.because for finding in verdict.findings] == ["pod/ns/w-a was deleted; fault-free runs never were without it"]
    script = three(trial(), generated="").step(2, "scale").hold().applied("w", spec=1).deletes("w-c", "w-b").applied("w")
    assert judge(script.let_go().ends(), *references).outcome is Outcome.PASS


@pytest.mark.parametrize(
    "history",
    [
        trial().ends(),
        scaled(trial()),
        three(trial()).step(2, "scale").hold().applied("w", spec=1).deletes("w-c", "w-b").let_go().ends(),
    ],
    ids=["nothing happened", "nothing was hidden", "it was not made to look again"],
)
def test_nothing_is_proven_unless_it_looked_again_while_its_deletes_were_hidden(history: History) -> None:
    assert judge(history).outcome is Outcome.NOT_EXERCISED


def test_where_the_references_left_nothing_nothing_can_be_too_few() -> None:
    def emptied(script: Script) -> History:
        return three(script).step(2, "scale").applied("w", spec=0).deletes("w-c", "w-b", "w-a").ends()

    script = three(trial()).step(2, "scale").hold().applied("w", spec=0).deletes("w-c", "w-b").applied("w").deletes("w-a").let_go()

    assert judge(script.ends(), emptied(reference(1)), emptied(reference(2))).outcome is Outcome.NOT_EXERCISED


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_a_burst_in_one_reconciliation_is_fine_though_none_of_it_has_been_seen() -> None:
    script = three(trial()).step(2, "scale").hold().applied("w", spec=0).deletes("w-c", "w-b", "w-a").let_go()

    assert judge(script.ends()).outcome is not Outcome.FAIL


def test_deletes_after_the_hold_was_released_are_fine() -> None:
    assert judge(held(trial()).let_go().applied("w").deletes("w-a").ends()).outcome is Outcome.PASS


def test_deletes_after_a_list_without_the_first_ones_are_fine() -> None:
    assert judge(held(trial()).lists("pods").applied("w").deletes("w-a").let_go().ends()).outcome is Outcome.PASS
    assert judge(held(trial()).relist().applied("w").deletes("w-a").ends()).outcome is Outcome.PASS


def test_live_reads_that_find_nothing_move_the_frontier() -> None:
    script = held(trial()).gets("w-c").gets("w-b").applied("w").deletes("w-a").let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_what_others_had_deleted_before_is_not_the_controllers_delete() -> None:
    script = held(trial()).terminating("w-a").deletes("w-a").let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_what_others_deleted_meanwhile_is_not_the_controllers_delete() -> None:
    assert judge(held(trial()).removed("w-a").let_go().ends()).outcome is Outcome.PASS


def test_a_controller_that_was_kept_from_creating_has_not_deleted_too_many() -> None:
    def grown(script: Script) -> History:
        script.step(1, "apply").applied("w", spec=4).creates("w-a", "w-b", "w-c", "w-d").step(2, "scale").applied("w", spec=3)
        return script.deletes("w-d").ends()

    script = trial().step(1, "apply").hold().applied("w", spec=4).creates("w-a", "w-b").step(2, "replace").applied("w")
    script.deletes("w-a").applied("w").deletes("w-b").let_go().creates("w-c", "w-d", "w-e")

    assert judge(script.ends(), grown(reference(1)), grown(reference(2))).outcome is not Outcome.FAIL


def test_a_deletecollection_names_nobody() -> None:
    assert judge(held(trial()).deletes_all().let_go().ends()).outcome is Outcome.PASS


def test_deletes_in_different_scalings_up_and_down_are_measured_against_the_same_workload() -> None:
    def waves(script: Script) -> History:
        return (
            three(script)
            .step(2, "scale")
            .applied("w", spec=1)
            .deletes("w-c", "w-b")
            .step(3, "scale")
            .applied("w", spec=2)
            .creates("w-d")
            .ends()
        )

    script = held(trial()).applied("w", spec=2).creates("w-d").let_go()

    assert judge(script.ends(), waves(reference(1)), waves(reference(2))).outcome is Outcome.PASS


def test_the_references_counts_are_a_range() -> None:
    none_left = three(reference(2)).step(2, "scale").applied("w", spec=1).deletes("w-c", "w-b", "w-a").creates("w-d").ends()

    assert judge(held(trial()).deletes("w-a").let_go().ends(), scaled(reference(1)), none_left).outcome is not Outcome.FAIL


def test_children_of_a_second_owner_incarnation_are_counted_apart() -> None:
    def recreated(script: Script, *, hidden: bool) -> History:
        three(script).step(2, "recreate").removed("w", WIDGETS).applied("w", spec=1)
        if hidden:
            script.hold()
        script.creates("w-d").deletes("w-c", "w-b").applied("w").deletes("w-a")
        return (script.let_go() if hidden else script).ends()

    references = recreated(reference(1), hidden=False), recreated(reference(2), hidden=False)

    assert judge(recreated(trial(), hidden=True), *references).outcome is not Outcome.FAIL
