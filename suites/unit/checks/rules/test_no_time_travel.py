"""no-time-travel: whom it accuses, whom it does not, and when it knows nothing."""

import msgspec
import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import no_time_travel
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Item
from staleproof.core.history import History

from ..life_script import PAST, RESTART, LifeScript
from ..script import HOLD, WIDGETS, Script, reference

OLD = {WIDGETS: {"w": 101}}
"""A list of the widgets from before the scaling."""


def scaled(script: Script) -> Script:
    """The workload: two pods, then four."""
    script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b").idle(1)
    return script.step(2, "scale").applied("w", spec=4).creates("w-c", "w-d").idle(2)


def judge(script: Script, *references: History) -> Verdict:
    return verdict_of(
        no_time_travel.REQUIREMENT, Trial(script.ends(), references or (scaled(reference(1)).ends(), scaled(reference(2)).ends()))
    )


def returned() -> LifeScript:
    """It has done everything, is killed, and is shown the widget of before."""
    script = LifeScript(RESTART, PAST)
    scaled(script)
    return script.dies().lives_again(past=OLD)


# --- guilty ----------------------------------------------------------------------------------------------------------------------


def test_one_that_deletes_on_an_older_view_what_it_made_for_a_newer_one_is_guilty() -> None:
    verdict = judge(returned().deletes("w-c", "w-d"))

    assert verdict.outcome is Outcome.FAIL
    assert [finding.because for finding in verdict.findings] == [
        f"the controller deleted pod/ns/w-{name} on an older view of widget/w: {left} of widget/w left, fault-free runs kept 4"
        for name, left in (("c", "3 live pods"), ("d", "2 live pods"))
    ]
    assert verdict.findings[0].though == (
        "though it had been shown widget/w only up to resourceVersion 101 since it started, and had acted on 104"
    )


def test_whichever_it_picks() -> None:
    assert judge(returned().deletes("w-a")).outcome is Outcome.FAIL


def test_one_that_does_not_find_the_owner_in_an_old_list_and_deletes_its_children_is_guilty() -> None:
    script = LifeScript(RESTART, PAST)
    scaled(script)
    verdict = judge(script.dies().lives_again(past={WIDGETS: {}}).deletes("w-a"))

    assert verdict.outcome is Outcome.FAIL
    assert "not at all" in verdict.findings[0].though


def recreated(script: Script) -> Script:
    script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b", generated="").idle(1)
    script.step(2, "delete").removed("w", WIDGETS).removed("w-a").removed("w-b").idle(2)
    return script.step(3, "apply").applied("w", spec=2).creates("w-c", "w-d", generated="").idle(3)


def test_one_that_takes_the_children_of_a_new_incarnation_for_those_of_an_old_one_is_guilty() -> None:
    script = LifeScript(RESTART, PAST)
    recreated(script)
    script.dies().lives_again(past=OLD).deletes("w-c")

    assert judge(script, recreated(reference(1)).ends(), recreated(reference(2)).ends()).outcome is Outcome.FAIL


def written(script: Script) -> Script:
    """The workload: a child that says what the widget says."""
    script.step(1, "apply").applied("w", spec=2).creates("w-c", resource="configmaps", generated="", data={"n": 2}).idle(1)
    return script.step(2, "change").applied("w", spec=4).updates("w-c", "configmaps", subresource="", data={"n": 4}).idle(2)


def test_one_that_writes_older_content_back_is_guilty() -> None:
    script = LifeScript(RESTART, PAST)
    written(script)
    script.dies().lives_again(past=OLD).updates("w-c", "configmaps", subresource="", data={"n": 2})
    verdict = judge(script, written(reference(1)).ends(), written(reference(2)).ends())

    assert [finding.because for finding in verdict.findings] == [
        "the controller set data.n of configmap/ns/w-c back from 4 to 2 on an older view of widget/w"
    ]


def listed_again(script: LifeScript) -> LifeScript:
    """Its stream ends, and it lists what another API server has at hand: the widget of before."""
    script.page(WIDGETS, (Item("ns", "w", script.uids[WIDGETS, "w"], 101),), revision=101)
    script.entries[-1] = msgspec.structs.replace(script.entries[-1], fault=0)
    return script.fires()


def test_one_that_goes_back_by_a_list_without_being_restarted_is_guilty() -> None:
    script = LifeScript(PAST)
    written(script)
    listed_again(script).updates("w-c", "configmaps", subresource="", data={"n": 2})
    verdict = judge(script, written(reference(1)).ends(), written(reference(2)).ends())

    assert [finding.because for finding in verdict.findings] == [
        "the controller set data.n of configmap/ns/w-c back from 4 to 2 on an older view of widget/w"
    ]


def test_one_that_has_looked_since_is_on_the_newest_view() -> None:
    script = LifeScript(PAST)
    written(script)
    listed_again(script).gets("w", WIDGETS).updates("w-c", "configmaps", subresource="", data={"n": 2})

    assert judge(script, written(reference(1)).ends(), written(reference(2)).ends()).outcome is not Outcome.FAIL


def changed(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec={"n": 2}).idle(1).step(2, "change").applied("w", spec={"n": 4})


def test_one_that_overwrites_what_the_user_has_changed_meanwhile_is_guilty() -> None:
    script = LifeScript(HOLD).step(1, "apply").applied("w", spec={"n": 2}).idle(1).hold(WIDGETS)
    script.step(2, "change").applied("w", spec={"n": 4}).updates("w", subresource="", spec={"n": 2}, mine=True).let_go(WIDGETS)
    verdict = judge(script, changed(reference(1)).ends(), changed(reference(2)).ends())

    assert [finding.because for finding in verdict.findings] == ["the controller set spec.n of widget/ns/w back from 4 to 2"]
    assert verdict.findings[0].though == "though it had been shown it only up to resourceVersion 101, and 102 had changed that"


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_one_that_waits_until_it_knows_better_passes() -> None:
    assert judge(returned().idle(2).applied("w", note=1)).outcome is Outcome.PASS


def test_one_that_reads_its_primary_live_before_it_deletes_passes() -> None:
    assert judge(returned().gets("w", WIDGETS).deletes("w-c")).outcome is not Outcome.FAIL


def test_one_that_is_refused_because_of_its_precondition_passes() -> None:
    script = LifeScript(HOLD).step(1, "apply").applied("w", spec={"n": 2}).idle(1).hold(WIDGETS)
    script.step(2, "change").applied("w", spec={"n": 4}).asks("update", WIDGETS, "w").let_go(WIDGETS)

    assert judge(script, changed(reference(1)).ends(), changed(reference(2)).ends()).outcome is Outcome.PASS


def down(script: Script) -> Script:
    script.step(1, "apply").applied("w", spec=4).creates("w-a", "w-b", "w-c", "w-d").idle(1)
    return script.step(2, "scale").applied("w", spec=2)


def test_a_scaling_down_that_was_wanted_and_comes_on_an_old_view_is_not_undoing() -> None:
    """The restarted controller is shown the widget without its own last status; what is wanted is the same."""
    script = LifeScript(RESTART, PAST)
    down(script).deletes("w-d")
    script.updates("w", status={"replicas": 3})
    script.dies().lives_again(past={WIDGETS: {"w": 106}}).deletes("w-c").idle(2)
    references = tuple(down(reference(number)).deletes("w-d", "w-c").idle(2).ends() for number in (1, 2))

    assert judge(script, *references).outcome is not Outcome.FAIL


def test_children_of_a_primary_that_is_being_deleted_may_go() -> None:
    script = LifeScript(RESTART, PAST)
    scaled(script)
    script.step(3, "delete").terminating("w", WIDGETS).dies().lives_again(past=OLD).deletes("w-a", "w-b", "w-c", "w-d")

    assert judge(script).outcome is not Outcome.FAIL


def test_replacing_what_it_has_created_too_much_undoes_nothing() -> None:
    script = LifeScript(RESTART, PAST)
    scaled(script)
    script.creates("w-e", "w-f").dies().lives_again(past=OLD).deletes("w-e", "w-f")

    assert judge(script).outcome is Outcome.PASS


def test_scaling_up_and_down_by_the_user_is_no_undoing() -> None:
    def waves(script: Script) -> Script:
        return written(script).step(3, "change").applied("w", spec=2).updates("w-c", "configmaps", subresource="", data={"n": 2})

    script = LifeScript(RESTART, PAST)
    waves(script)

    assert judge(script, waves(reference(1)).ends(), waves(reference(2)).ends()).outcome is not Outcome.FAIL


def test_repairing_what_somebody_else_has_changed_is_no_undoing() -> None:
    script = LifeScript(RESTART, PAST)
    written(script)
    script.applied("w-c", "configmaps", data={"n": 7}).dies().lives_again()
    script.updates("w-c", "configmaps", subresource="", data={"n": 4})

    assert judge(script, written(reference(1)).ends(), written(reference(2)).ends()).outcome is not Outcome.FAIL


def test_a_status_that_goes_back_is_for_another_requirement() -> None:
    script = returned().updates("w", status={"replicas": 4}).updates("w", status={"replicas": 2})

    assert judge(script).outcome is not Outcome.FAIL


def test_what_was_true_when_it_asked_cannot_be_held_against_it() -> None:
    """The change of the primary is committed while its write is under way."""
    script = LifeScript(HOLD).step(1, "apply").applied("w", spec={"n": 2}).idle(1).hold(WIDGETS)
    script.updates("w", subresource="", spec={"n": 4}).updates("w", subresource="", spec={"n": 2}).let_go(WIDGETS)

    assert judge(script, changed(reference(1)).ends(), changed(reference(2)).ends()).outcome is not Outcome.FAIL


# --- nothing could be seen -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        LifeScript(HOLD),
        scaled(LifeScript(HOLD)),
        scaled(LifeScript(RESTART)).restarted().lists(WIDGETS).lists("pods").idle(2),
        LifeScript(HOLD).step(1, "apply").applied("w", spec=2).hold(WIDGETS).step(2, "scale").applied("w", spec=4).let_go(WIDGETS),
    ],
    ids=["nothing happened", "no fault", "a restart with fresh lists", "nothing was done for the newer one"],
)
def test_nothing_is_proven_unless_it_saw_less_than_had_been_done(script: Script) -> None:
    assert judge(script).outcome is Outcome.NOT_EXERCISED


def test_the_story_ends_with_the_write() -> None:
    script = returned().deletes("w-c")
    finding = judge(script).findings[0]

    assert [type(script.entries[index]).__name__ for index in finding.witnesses][-2:] == ["Asked", "Committed"]
