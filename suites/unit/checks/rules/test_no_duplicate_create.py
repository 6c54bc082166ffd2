"""no-duplicate-create: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import no_duplicate_create
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Asked, Committed
from staleproof.core.history import History

from ..script import WIDGETS, Script, reference, trial


def three(script: Script) -> Script:
    """The workload: a widget that wants three pods, then a touch."""
    return script.step(1, "apply Widget/w").applied("w", spec=3).creates("w-a", "w-b", "w-c").idle(1).step(2, "touch").applied("w")


def judge(history: History, *references: History) -> Verdict:
    return verdict_of(
        no_duplicate_create.REQUIREMENT, Trial(history, references or (three(reference(1)).ends(), three(reference(2)).ends()))
    )


def held(script: Script) -> Script:
    """The first three pods are created, and hidden."""
    return script.step(1, "apply Widget/w").applied("w", spec=3).hold().creates("w-a", "w-b", "w-c").idle(1).step(2, "touch")


def test_a_controller_that_creates_again_what_it_has_not_seen_is_guilty() -> None:
    history = held(trial()).applied("w").creates("w-d", "w-e", "w-f").let_go().ends()

    verdict = judge(history)

    assert verdict.outcome is Outcome.FAIL
    assert [finding.because for finding in verdict.findings] == [
        f"pod/ns/w-{name} is the {nth} live pod of widget/w; fault-free runs never had more than 3"
        for name, nth in (("d", "4th"), ("e", "5th"), ("f", "6th"))
    ]
    assert verdict.findings[0].though == "though it had not been shown its own creates 102\N{EN DASH}104"
    last_two = [history.entries[index] for index in verdict.findings[0].witnesses[-2:]]
    assert [type(entry) for entry in last_two] == [Asked, Committed]


def test_its_own_status_update_is_enough_to_make_it_look_again() -> None:
    script = trial().step(1, "apply").applied("w", spec=3).hold().creates("w-a", "w-b", "w-c").updates("w", status=0)

    assert judge(script.creates("w-d").let_go().ends()).outcome is Outcome.FAIL


def test_one_that_waits_until_it_sees_its_own_writes_passes() -> None:
    assert judge(held(trial()).applied("w").let_go().ends()).outcome is Outcome.PASS


@pytest.mark.parametrize(
    "history",
    [
        trial().ends(),
        three(trial()).ends(),
        trial().step(1, "apply").applied("w", spec=3).hold().creates("w-a", "w-b", "w-c").let_go().ends(),
    ],
    ids=["nothing happened", "nothing was hidden", "it was not made to look again"],
)
def test_nothing_is_proven_unless_it_looked_again_while_its_creates_were_hidden(history: History) -> None:
    assert judge(history).outcome is Outcome.NOT_EXERCISED


def test_a_look_after_the_hold_has_ended_proves_nothing() -> None:
    script = (
        trial().step(1, "apply").applied("w", spec=3).hold().creates("w-a", "w-b", "w-c").let_go().step(2, "touch").applied("w")
    )

    assert judge(script.ends()).outcome is Outcome.NOT_EXERCISED


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_a_burst_in_one_reconciliation_is_fine_though_none_of_it_has_been_seen() -> None:
    script = trial().step(1, "apply").applied("w", spec=6).hold().creates(*(f"w-{n}" for n in range(6)))

    assert judge(script.let_go().ends()).outcome is not Outcome.FAIL


def test_an_excess_that_the_unseen_creates_do_not_explain_is_not_staleness() -> None:
    """A roll-out in another order than the references': three old pods were seen; the burst is cut in two by a chance event."""
    script = three(trial()).hold().creates("w-d").applied("w").creates("w-e").deletes("w-a", "w-b").let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_creates_after_the_hold_was_released_are_fine() -> None:
    script = held(trial()).applied("w").let_go().applied("w").creates("w-d")

    assert judge(script.ends()).outcome is Outcome.PASS


def test_creates_after_a_list_has_shown_the_first_ones_are_fine() -> None:
    script = held(trial()).applied("w").lists("pods").applied("w").creates("w-d").let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_a_hold_that_ends_with_a_list_has_shown_them() -> None:
    assert judge(held(trial()).applied("w").relist().applied("w").creates("w-d").ends()).outcome is Outcome.PASS


def test_a_list_from_the_past_has_not_shown_them() -> None:
    script = held(trial()).lists("pods", without=("w-a", "w-b", "w-c"), revision=100).applied("w").creates("w-d").let_go()

    assert judge(script.ends()).outcome is Outcome.FAIL


def test_live_reads_move_the_frontier() -> None:
    script = held(trial()).applied("w").gets("w-a").gets("w-b").gets("w-c").creates("w-d").let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_replacing_children_that_others_deleted_is_fine() -> None:
    script = held(trial()).removed("w-a").removed("w-b").applied("w").creates("w-d", "w-e").let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_children_on_their_way_out_are_not_live() -> None:
    script = held(trial()).terminating("w-a").applied("w").creates("w-d").let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_replacing_what_it_deleted_itself_is_fine() -> None:
    script = held(trial()).applied("w").deletes("w-a").creates("w-d").let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_scaling_up_and_down_is_measured_against_the_peak_of_the_same_workload() -> None:
    def scaled(script: Script) -> History:
        script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b").step(2, "scale").applied("w", spec=4)
        return script.creates("w-c", "w-d").step(3, "scale").applied("w", spec=1).deletes("w-d", "w-c", "w-b").ends()

    script = trial().step(1, "apply").applied("w", spec=2).hold().creates("w-a", "w-b").step(2, "scale").applied("w", spec=4)

    assert judge(script.creates("w-c", "w-d").let_go().ends(), scaled(reference(1)), scaled(reference(2))).outcome is Outcome.PASS


def test_deterministic_names_live_on_already_exists() -> None:
    def named(script: Script) -> Script:
        return script.step(1, "apply").applied("w", spec=2).creates("w-0", "w-1", generated="").step(2, "touch").applied("w")

    script = trial().step(1, "apply").applied("w", spec=2).hold().creates("w-0", "w-1", generated="").step(2, "touch").applied("w")
    script.refused("create", "w-0", "AlreadyExists").refused("create", "w-1", "AlreadyExists").let_go()

    assert judge(script.ends(), named(reference(1)).ends(), named(reference(2)).ends()).outcome is Outcome.PASS


def test_the_references_counts_are_a_range() -> None:
    four = reference(2).step(1, "apply").applied("w", spec=3).creates("w-a", "w-b", "w-c").applied("w").creates("w-d").ends()

    assert (
        judge(held(trial()).applied("w").creates("w-d").let_go().ends(), three(reference(1)).ends(), four).outcome is Outcome.PASS
    )


def test_children_of_a_second_owner_incarnation_are_counted_apart() -> None:
    def recreated(script: Script, *, hidden: bool) -> History:
        script.step(1, "apply").applied("w", spec=3)
        if hidden:
            script.hold()
        script.creates("w-a", "w-b", "w-c").step(2, "recreate").removed("w", WIDGETS).applied("w", spec=3).creates(
            "w-d", "w-e", "w-f"
        )
        return (script.let_go() if hidden else script).ends()

    references = recreated(reference(1), hidden=False), recreated(reference(2), hidden=False)

    assert judge(recreated(trial(), hidden=True), *references).outcome is not Outcome.FAIL


def test_children_of_generated_children_are_told_apart_by_what_they_descend_from() -> None:
    def nested(script: Script, name: str, *, hidden: bool) -> History:
        script.step(1, "apply").applied("w", spec=3).made(name, "replicasets.apps")
        if hidden:
            script.hold()
        script.creates("w-a", "w-b", "w-c", owner=name, generated=f"{name}-").step(2, "touch").applied("w")
        return (script.let_go() if hidden else script).ends()

    references = nested(reference(1), "w-x1", hidden=False), nested(reference(2), "w-y2", hidden=False)

    assert judge(nested(trial(), "w-z3", hidden=True), *references).outcome is Outcome.PASS


def test_a_role_that_no_reference_had_is_nobodys_duplicate() -> None:
    script = held(trial()).applied("w").creates("w-repair-1", resource="configmaps", generated="w-repair-")
    script.hold("configmaps").applied("w").creates("w-repair-2", resource="configmaps", generated="w-repair-").let_go("configmaps")

    assert judge(script.let_go().ends()).outcome is Outcome.PASS


def test_writes_elsewhere_are_none_of_its_business() -> None:
    script = held(trial()).applied("w").asks("create", "pods", namespace="kube-system").let_go()

    assert judge(script.ends()).outcome is Outcome.PASS


def test_after_a_restart_what_its_predecessor_did_is_unseen_again() -> None:
    script = three(trial()).restarted().applied("w").creates("w-d")

    assert judge(script.ends()).outcome is Outcome.FAIL
    assert judge(three(trial()).restarted().lists("pods").applied("w").creates("w-d").ends()).outcome is not Outcome.FAIL


def test_ten_findings_are_enough() -> None:
    script = held(trial()).applied("w").creates(*(f"w-{n}" for n in range(3)))
    for more in range(10):
        script.applied("w").creates(*(f"w-{more}-{n}" for n in range(3)))

    assert len(judge(script.let_go().ends()).findings) == 10
