"""survives-restart: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import survives_restart
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Continued, Stopped
from staleproof.core.fault import Kill, Pause
from staleproof.core.history import History

from ..life_script import PAST, RESTART, AnyScript, LifeScript
from ..script import HOLD, WIDGETS, Script, reference


def three(script: AnyScript) -> AnyScript:
    """The workload: a widget that wants three pods, then a touch."""
    return script.step(1, "apply").applied("w", spec=3).creates("w-a", "w-b", "w-c").idle(1).step(2, "touch").applied("w")


def judge(script: Script, *references: History) -> Verdict:
    return verdict_of(
        survives_restart.REQUIREMENT,
        Trial(script.ends(), references or (three(reference(1)).idle(2).ends(), three(reference(2)).idle(2).ends())),
    )


def begun() -> LifeScript:
    script = LifeScript(RESTART, PAST, HOLD)
    return script.step(1, "apply").applied("w", spec=3).creates("w-a", "w-b", "w-c").idle(1)


def restarted() -> LifeScript:
    return begun().dies().lives_again().step(2, "touch").applied("w")


# --- guilty ----------------------------------------------------------------------------------------------------------------------


def test_one_that_makes_everything_again_because_it_lists_no_children_is_guilty() -> None:
    script = begun().dies().restarted().step(2, "touch").applied("w").creates("w-d", "w-e", "w-f").idle(2)
    verdict = judge(script)

    assert [finding.because for finding in verdict.findings] == [
        f"restarted, the controller made pod/ns/w-{name} the {nth} live pod of widget/w; "
        "fault-free runs never had more than 3 by then"
        for name, nth in (("d", "4th"), ("e", "5th"), ("f", "6th"))
    ]
    assert verdict.findings[0].though == "though it had not been shown the 3 that it had created in an earlier life"


def test_one_that_is_shown_an_old_list_of_children_and_makes_them_again_is_guilty() -> None:
    assert judge(begun().dies().lives_again(past={"pods": {}}).creates("w-d")).outcome is Outcome.FAIL


def test_one_that_keeps_the_names_of_its_children_in_memory_is_guilty_when_the_second_ones_stay() -> None:
    verdict = judge(restarted().creates("w-d").idle(2))

    assert [finding.though for finding in verdict.findings] == [
        "though it had been shown the 3 that it had created in an earlier life"
    ]


def test_one_that_takes_what_it_finds_for_orphans_is_guilty() -> None:
    verdict = judge(restarted().deletes("w-a", "w-b").creates("w-d", "w-e").idle(2))

    assert [finding.because for finding in verdict.findings] == [
        "restarted, the controller deleted pod/ns/w-a: 2 live pods of widget/w left, fault-free runs kept 3",
        "restarted, the controller deleted pod/ns/w-b: 1 live pod of widget/w left, fault-free runs kept 3",
    ]


def test_one_that_does_not_go_on_where_it_was_killed_is_guilty() -> None:
    script = LifeScript(Kill(resource="pods")).step(1, "apply").applied("w", spec=3).creates("w-a").loses_the_answer()
    verdict = judge(script.dies().lives_again().creates("w-b").idle(1).step(2, "touch").applied("w").idle(2).released().passes(10))

    assert [finding.because for finding in verdict.findings] == [
        "after it was restarted: 2 pods of widget/w, fault-free runs ended with 3"
    ]


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_one_that_finds_everything_done_passes() -> None:
    assert judge(restarted().idle(2)).outcome is Outcome.PASS


def test_one_that_goes_on_where_it_was_killed_passes() -> None:
    script = LifeScript(Kill(resource="pods")).step(1, "apply").applied("w", spec=3).creates("w-a", "w-b").loses_the_answer()
    script.dies().lives_again().creates("w-c").idle(1).step(2, "touch").applied("w").idle(2)

    assert judge(script).outcome is Outcome.PASS


def test_deterministic_names_may_be_asked_for_again() -> None:
    def named(script: Script) -> Script:
        return (
            script.step(1, "apply").applied("w", spec=2).creates("w-0", "w-1", generated="").idle(1).step(2, "touch").applied("w")
        )

    script = LifeScript(RESTART, PAST).step(1, "apply").applied("w", spec=2).creates("w-0", "w-1", generated="").idle(1)
    script.dies().lives_again(past={"pods": {}}).refused("create", "w-0", "AlreadyExists").refused("create", "w-1", "AlreadyExists")
    script.step(2, "touch").applied("w")

    assert judge(script, named(reference(1)).ends(), named(reference(2)).ends()).outcome is Outcome.PASS


def test_replacing_what_was_lost_while_it_was_down_is_its_work() -> None:
    assert judge(begun().dies().removed("w-a").lives_again().step(2, "touch").applied("w").creates("w-d")).outcome is Outcome.PASS


def test_a_roll_out_in_another_order_is_no_repetition() -> None:
    """For a moment there is one too many among children that it has been shown."""
    assert judge(restarted().creates("w-d").deletes("w-a").idle(2)).outcome is not Outcome.FAIL


def test_an_unseen_create_of_the_same_life_has_nothing_to_do_with_the_restart() -> None:
    def scaled(script: Script) -> Script:
        return three(script).applied("w", spec=5).creates("w-d", "w-e").idle(2)

    script = restarted().hold(fault=2).applied("w", spec=5).creates("w-d", "w-e").applied("w").creates("w-f").deletes("w-f")
    script.let_go(fault=2).idle(2)

    assert judge(script, scaled(reference(1)).ends(), scaled(reference(2)).ends()).outcome is not Outcome.FAIL


def test_a_scaling_down_that_goes_on_after_the_restart_is_wanted() -> None:
    def down(script: Script, name: str) -> Script:
        return three(script).applied("w", spec=1).deletes("w-c", name).idle(2)

    script = begun().step(2, "touch").applied("w").applied("w", spec=1).deletes("w-c").dies().lives_again().deletes("w-b").idle(2)

    assert judge(script, down(reference(1), "w-b").ends(), down(reference(2), "w-a").ends()).outcome is Outcome.PASS


def test_a_paused_process_is_no_new_life() -> None:
    script = three(LifeScript(Pause())).adds(Stopped, life=1, paused=True, fault=0).adds(Continued, life=1).fires()

    assert judge(script.idle(2)).outcome is Outcome.NOT_EXERCISED


def test_an_end_that_other_faults_may_have_spoilt_is_not_blamed_on_the_restart() -> None:
    script = LifeScript(RESTART, HOLD).step(1, "apply").applied("w", spec=3).hold(fault=1).creates("w-a").fires(1)
    verdict = judge(
        script.let_go(fault=1).dies().lives_again().step(2, "touch").applied("w").creates("w-b").idle(2).released().passes(10)
    )

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "Hold fired, too, and may explain that" in verdict.why


def test_one_that_has_written_nothing_yet_may_wait_to_be_elected() -> None:
    script = LifeScript(Kill(resource="pods")).step(1, "apply").applied("w", spec=3).creates("w-a").loses_the_answer()
    verdict = judge(script.dies().lives_again().idle(1).step(2, "touch").applied("w").idle(2).released().passes(10))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "may still wait to be elected" in verdict.why


def test_an_excess_under_another_workload_proves_nothing() -> None:
    """In the references the widget was deleted and made again; here the second apply met the dying one."""

    def again(script: Script) -> Script:
        three(script).deletes("w-a", "w-b", "w-c").removed("w", WIDGETS)
        return script.applied("w", spec=1).creates("w-d").idle(2)

    script = begun().dies().restarted().step(2, "touch").terminating("w", WIDGETS).applied("w", spec=1).creates("w-d").idle(2)
    verdict = judge(script, again(reference(1)).ends(), again(reference(2)).ends())

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the workload created" in verdict.why


def test_a_delete_that_comes_in_an_earlier_step_than_usual_is_no_undoing() -> None:
    """Its own timer ran out while the process was down."""

    def expired(script: Script) -> Script:
        return three(script).deletes("w-a").idle(2)

    script = begun().dies().passes(30).lives_again().deletes("w-a").idle(1).step(2, "touch").applied("w").idle(2)

    assert judge(script, expired(reference(1)).ends(), expired(reference(2)).ends()).outcome is Outcome.PASS


# --- nothing could be seen -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        LifeScript(RESTART),
        three(LifeScript(RESTART)).idle(2),
        LifeScript(RESTART).dies().lives_again(),
        begun().dies().restarted().step(2, "touch"),
    ],
    ids=["nothing happened", "no restart", "nothing done before", "no primary shown since"],
)
def test_nothing_is_proven_without_a_restart_behind_which_there_is_work(script: Script) -> None:
    assert judge(script).outcome is Outcome.NOT_EXERCISED


def test_the_owner_may_be_listed_as_nothing() -> None:
    assert judge(begun().dies().lives_again(past={WIDGETS: {}}).step(2, "touch")).outcome is Outcome.NOT_EXERCISED
