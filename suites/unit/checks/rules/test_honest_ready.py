"""honest-ready: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import honest_ready
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.history import History

from ..report_script import ReportScript, pair, trial


def began(script: ReportScript) -> ReportScript:
    return script.step(1, "apply").wants(2).creates("w-a", "w-b").says(1, ready=1).idle(1)


def scaled(script: ReportScript) -> History:
    """The workload: two pods, then three."""
    return began(script).step(2, "scale").wants(3).creates("w-c").says(2, ready=2).idle(2).ends()


def judge(history: History, *references: History) -> Verdict:
    return verdict_of(honest_ready.REQUIREMENT, Trial(history, references or pair(scaled)))


def held(script: ReportScript) -> ReportScript:
    """Its own pods are hidden when a third is wanted."""
    return script.step(1, "apply").wants(2).hold().creates("w-a", "w-b").says(1, ready=1).idle(1).step(2, "scale").wants(3)


def test_one_that_says_so_for_a_generation_it_has_done_nothing_for_is_guilty() -> None:
    verdict = judge(held(trial()).says(2, ready=2).idle(2).let_go().creates("w-c").ends())

    assert verdict.outcome is Outcome.FAIL
    assert [finding.because for finding in verdict.findings] == [
        "widget/ns/w said Ready for generation 2 with never more than 2 live pods since; fault-free runs had 3 by then"
    ]
    assert verdict.findings[0].though == "though it had done nothing for that generation, and news of pods was kept from it"


def test_the_generation_of_the_whole_status_will_do() -> None:
    def scaled_whole(script: ReportScript) -> History:
        began(script).step(2, "scale").wants(3).creates("w-c")
        return script.updates("w", status={"observedGeneration": 2, "conditions": [{"type": "Available", "status": "True"}]}).ends()

    script = held(trial()).updates("w", status={"observedGeneration": 2, "conditions": [{"type": "Available", "status": "True"}]})

    assert (
        "said Available for generation 2" in judge(script.let_go().creates("w-c").ends(), *pair(scaled_whole)).findings[0].because
    )


def test_one_that_waits_until_it_has_seen_them_passes() -> None:
    assert judge(held(trial()).let_go().creates("w-c").says(2, ready=2).ends()).outcome is Outcome.PASS
    assert judge(held(trial()).says(2).let_go().creates("w-c").says(2, ready=2).ends()).outcome is Outcome.PASS


def test_one_that_never_says_so_again_passes() -> None:
    assert judge(held(trial()).let_go().creates("w-c").ends()).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("history", "references", "why"),
    [
        (
            held(trial()).says(2).let_go().creates("w-c").ends(),
            pair(lambda script: script.wants(2).creates("w-a").says(1).ends()),
            "the controller reports neither Ready nor Available for a generation",
        ),
        (
            scaled(trial()),
            pair(scaled),
            "there was no new generation to act on while its children, or it, were hidden from the controller",
        ),
        (
            began(trial()).hold().step(2, "touch").applied("w").let_go().ends(),
            pair(scaled),
            "there was no new generation to act on while its children, or it, were hidden from the controller",
        ),
    ],
    ids=["it never says so", "nothing was hidden", "no new generation"],
)
def test_nothing_is_proven_without_a_new_generation_under_a_hold(
    history: History, references: tuple[History, ...], why: str
) -> None:
    verdict = judge(history, *references)

    assert (verdict.outcome, verdict.why) == (Outcome.NOT_EXERCISED, why)


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_what_it_created_itself_is_there_although_it_has_not_been_shown() -> None:
    assert judge(held(trial()).creates("w-c").says(2, ready=2).let_go().ends()).outcome is Outcome.PASS


def test_children_that_had_become_so_unseen_are_the_truth() -> None:
    assert judge(held(trial()).made("w-x").says(2, ready=2).let_go().ends()).outcome is not Outcome.FAIL


def test_one_that_acted_may_have_its_own_idea_of_ready() -> None:
    script = held(trial()).refused("create", "w-c", "Forbidden").says(2, ready=2).let_go().creates("w-c")

    assert judge(script.ends()).outcome is not Outcome.FAIL


def test_references_that_said_so_with_fewer_set_the_measure() -> None:
    def eager(script: ReportScript) -> History:
        return began(script).step(2, "scale").wants(3).says(2, ready=2).creates("w-c").ends()

    assert judge(held(trial()).says(2, ready=2).let_go().creates("w-c").ends(), *pair(eager)).outcome is not Outcome.FAIL
    assert (
        judge(held(trial()).says(2, ready=2).let_go().creates("w-c").ends(), scaled(trial()), eager(trial())).outcome
        is not Outcome.FAIL
    )


def test_without_anything_hidden_it_is_not_staleness() -> None:
    script = began(trial()).step(2, "scale").wants(3).says(2, ready=2).creates("w-c")

    assert judge(script.ends()).outcome is not Outcome.FAIL


def test_scaling_down_leaves_more_than_enough() -> None:
    def shrunk(script: ReportScript) -> History:
        return began(script).step(2, "scale").wants(1).deletes("w-b").says(2, ready=2).ends()

    script = began(trial()).hold().made("x").step(2, "scale").wants(1).says(2, ready=2).let_go().deletes("w-b")

    assert judge(script.ends(), *pair(shrunk)).outcome is not Outcome.FAIL


def test_what_it_said_before_and_carries_along_is_not_said_again() -> None:
    assert judge(held(trial()).updates("w", status={"conditions": []}).let_go().creates("w-c").ends()).outcome is not Outcome.FAIL


def test_what_another_says_is_not_the_controllers_word() -> None:
    status = {"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 2}]}

    assert judge(held(trial()).applied("w", status=status).let_go().creates("w-c").ends()).outcome is not Outcome.FAIL


def test_only_the_workloads_own_objects_are_judged() -> None:
    status = {"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}]}

    def nested(script: ReportScript) -> ReportScript:
        return began(script).step(2, "rs").made("rs", "replicasets.apps", metadata={"generation": 1})

    def owned(script: ReportScript) -> History:
        nested(script).gets("rs", "replicasets.apps").creates("rs-a", owner="rs")
        return script.updates("rs", "replicasets.apps", status=status).ends()

    script = nested(trial()).hold().made("x").updates("rs", "replicasets.apps", status=status).let_go()

    assert judge(script.ends(), *pair(owned)).outcome is not Outcome.FAIL


def test_references_in_which_others_made_the_children_set_no_measure() -> None:
    def helped(script: ReportScript) -> History:
        return began(script).step(2, "scale").wants(3).made("w-c").says(2, ready=2).ends()

    assert judge(held(trial()).says(2, ready=2).let_go().ends(), *pair(helped)).outcome is not Outcome.FAIL
