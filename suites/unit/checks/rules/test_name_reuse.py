"""name-reuse: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import name_reuse
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.fault import HoldStream
from staleproof.core.history import History

from ..life_script import RESTART, AnyScript, LifeScript
from ..script import WIDGETS, Script, reference

HELD = HoldStream(resource=WIDGETS)


def two(script: AnyScript, *names: str) -> AnyScript:
    return script.creates(*names, generated="")


def recreated(script: Script) -> Script:
    """The workload: a widget with two pods is deleted, its pods are collected, and another one takes its name."""
    two(script.step(1, "apply").applied("w", spec=2), "w-0", "w-1").idle(1)
    script.step(2, "delete").removed("w", WIDGETS).removed("w-0").removed("w-1").idle(2)
    return two(script.step(3, "apply").applied("w", spec=2), "w-2", "w-3").idle(3)


def judge(script: Script, *references: History) -> Verdict:
    return verdict_of(
        name_reuse.REQUIREMENT, Trial(script.ends(), references or (recreated(reference(1)).ends(), recreated(reference(2)).ends()))
    )


def unseen() -> LifeScript:
    """All that happens to the widget after the first step is hidden."""
    script = LifeScript(HELD, RESTART)
    two(script.step(1, "apply").applied("w", spec=2), "w-0", "w-1").idle(1).hold(WIDGETS)
    script.step(2, "delete").removed("w", WIDGETS).removed("w-0").removed("w-1").idle(2)
    script.step(3, "apply").applied("w", spec=2)
    return script


# --- guilty ----------------------------------------------------------------------------------------------------------------------


def test_one_that_cleans_up_by_name_after_the_new_one_has_come_is_guilty() -> None:
    verdict = judge(two(unseen().let_go(WIDGETS), "w-2", "w-3").deletes("w-2").idle(3))

    assert [finding.because for finding in verdict.findings] == [
        "the controller deleted pod/ns/w-2, a child of the recreated widget/w: fault-free runs kept it"
    ]
    assert verdict.findings[0].though == "though it had been shown that widget/w had been recreated"


def test_one_that_deletes_the_children_of_an_owner_it_has_not_been_shown_is_guilty() -> None:
    verdict = judge(unseen().made("w-2").made("w-3").deletes("w-2").let_go(WIDGETS).idle(3))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].though == "though it had not been shown that widget/w had been recreated"


def stale(script: LifeScript, *names: str) -> LifeScript:
    """Children whose owner reference has the uid of the first widget."""
    first = {"kind": "Widget", "name": "w", "uid": script.uids[WIDGETS, "w"], "controller": True}
    for name in names:
        script.creates(name, generated="", metadata={"ownerReferences": [first]})
    return script


def test_one_that_goes_on_making_children_for_the_first_one_is_guilty() -> None:
    verdict = judge(stale(unseen().let_go(WIDGETS).idle(3), "w-2", "w-3").idle(3))

    assert [finding.because for finding in verdict.findings] == [
        f"the controller created pod/ns/{name} for the widget/w that had been recreated since" for name in ("w-2", "w-3")
    ]
    assert verdict.findings[0].though == "though it had been shown that widget/w is another one now (uid ns-uid-4)"


def test_one_whose_new_widget_ends_with_the_children_of_the_first_is_guilty() -> None:
    verdict = judge(stale(unseen().let_go(WIDGETS), "w-2", "w-3").idle(3).released().passes(60))

    assert [finding.because for finding in verdict.findings] == [
        "0 pods belong to the recreated widget/w and 2 to the one before it; fault-free runs ended with 2 and 0"
    ]


def test_across_a_restart_too() -> None:
    script = LifeScript(RESTART)
    two(script.step(1, "apply").applied("w", spec=2), "w-0", "w-1").idle(1).dies()
    script.step(2, "delete").removed("w", WIDGETS).removed("w-0").removed("w-1").idle(2).step(3, "apply").applied("w", spec=2)
    stale(script.lives_again(), "w-2", "w-3").idle(3).released()

    assert judge(script.passes(60)).outcome is Outcome.FAIL


def test_one_that_takes_the_new_one_for_done_is_guilty() -> None:
    verdict = judge(unseen().let_go(WIDGETS).idle(3).released().passes(60))

    done = "the controller was shown that widget/w had been recreated, and did nothing for it"
    assert [finding.because for finding in verdict.findings] == [f"{done}: 0 pods of widget/w, fault-free runs ended with 1"]


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_one_that_had_too_little_time_for_the_new_one_is_not_accused() -> None:
    assert judge(stale(unseen().let_go(WIDGETS), "w-2", "w-3").idle(3)).outcome is Outcome.INCONCLUSIVE


def test_one_that_makes_children_for_the_new_one_passes() -> None:
    assert judge(two(unseen().let_go(WIDGETS), "w-2", "w-3").idle(3)).outcome is Outcome.PASS


def test_one_that_replaces_the_pods_of_the_first_one_as_long_as_it_knows_no_better_passes() -> None:
    script = stale(unseen(), "w-8", "w-9").let_go(WIDGETS).removed("w-8").removed("w-9")

    assert judge(two(script, "w-2", "w-3").idle(3)).outcome is Outcome.PASS


def test_what_was_under_way_when_it_was_shown_is_excused() -> None:
    script = stale(unseen().let_go(WIDGETS), "w-8").removed("w-8")

    assert judge(two(script, "w-2", "w-3").idle(3)).outcome is Outcome.PASS


def test_collecting_the_children_of_the_first_one_is_right() -> None:
    def kept(script: Script) -> Script:
        two(script.step(1, "apply").applied("w", spec=2), "w-0", "w-1").idle(1).step(2, "delete").removed("w", WIDGETS).idle(2)
        return two(script.step(3, "apply").applied("w", spec=2), "w-2", "w-3").deletes("w-0", "w-1").idle(3)

    script = LifeScript(HELD)
    two(script.step(1, "apply").applied("w", spec=2), "w-0", "w-1").idle(1).hold(WIDGETS)
    script.step(2, "delete").removed("w", WIDGETS).idle(2).step(3, "apply").applied("w", spec=2).let_go(WIDGETS)
    two(script, "w-2", "w-3").deletes("w-0", "w-1").idle(3)

    assert judge(script, kept(reference(1)).ends(), kept(reference(2)).ends()).outcome is Outcome.PASS


def test_what_nobody_collects_proves_nothing() -> None:
    """There is no garbage collector: in fault-free runs the pods of the first one stay, too."""

    def kept(script: Script) -> Script:
        two(script.step(1, "apply").applied("w", spec=2), "w-0", "w-1").idle(1).step(2, "delete").removed("w", WIDGETS).idle(2)
        return two(script.step(3, "apply").applied("w", spec=2), "w-2", "w-3").idle(3)

    script = LifeScript(HELD)
    two(script.step(1, "apply").applied("w", spec=2), "w-0", "w-1").idle(1).hold(WIDGETS)
    script.step(2, "delete").removed("w", WIDGETS).idle(2).step(3, "apply").applied("w", spec=2).let_go(WIDGETS)
    references = kept(reference(1)).ends(), kept(reference(2)).ends()

    assert judge(two(script, "w-2", "w-3").idle(3), *references).outcome is Outcome.PASS


def test_a_new_one_without_children_may_have_another_reason() -> None:
    verdict = judge(unseen().let_go(WIDGETS).idle(3))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "may have another reason" in verdict.why


def test_a_new_one_that_is_deleted_again_has_no_children_to_keep() -> None:
    script = two(unseen().let_go(WIDGETS), "w-2", "w-3").idle(3).terminating("w", WIDGETS).deletes("w-2", "w-3")

    assert judge(script).outcome is not Outcome.FAIL


# --- nothing could be seen -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        LifeScript(HELD),
        two(LifeScript(HELD).step(1, "apply").applied("w", spec=2), "w-0", "w-1").idle(1),
        recreated(LifeScript(HELD)),
    ],
    ids=["nothing happened", "nothing was recreated", "nothing was late"],
)
def test_nothing_is_proven_unless_it_was_late_to_learn_of_it(script: Script) -> None:
    assert judge(script).outcome is Outcome.NOT_EXERCISED


def test_nothing_is_proven_where_the_new_one_has_no_children_without_faults() -> None:
    def bare(script: Script) -> Script:
        two(script.step(1, "apply").applied("w", spec=2), "w-0", "w-1").idle(1).step(2, "delete").removed("w", WIDGETS).idle(2)
        return script.step(3, "apply").applied("w", spec=2).idle(3)

    assert judge(unseen().let_go(WIDGETS), bare(reference(1)).ends(), bare(reference(2)).ends()).outcome is Outcome.NOT_EXERCISED
