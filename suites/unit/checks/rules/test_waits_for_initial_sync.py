"""waits-for-initial-sync: whom it accuses, whom it does not, and when it knows nothing."""

import pytest

from staleproof.checks.judge import verdict_of
from staleproof.checks.rules import waits_for_initial_sync
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.entry import Opened
from staleproof.core.history import History

from ..life_script import RESTART, SLOW_PODS, SLOW_WIDGETS, AnyScript, LifeScript
from ..script import WIDGETS, Script, reference


def three(script: AnyScript) -> AnyScript:
    return script.step(1, "apply").applied("w", spec=3).creates("w-a", "w-b", "w-c").idle(1).step(2, "touch").applied("w")


def judge(script: Script, *references: History) -> Verdict:
    return verdict_of(
        waits_for_initial_sync.REQUIREMENT,
        Trial(script.ends(), references or (three(reference(1)).idle(2).ends(), three(reference(2)).idle(2).ends())),
    )


def slow(resource: str) -> LifeScript:
    """It has done everything, is killed, and this list does not arrive."""
    script = LifeScript(RESTART, SLOW_PODS, SLOW_WIDGETS)
    three(script).idle(2).opens(1).opens(2)
    return script.dies().lives_again(slow=(resource,)).fires(1).fires(2)


def in_time(script: LifeScript, resource: str) -> LifeScript:
    return script.first_list_arrives(resource).closes(1).closes(2)


# --- guilty ----------------------------------------------------------------------------------------------------------------------


def test_one_that_creates_before_its_children_were_listed_is_guilty() -> None:
    verdict = judge(in_time(slow("pods").creates("w-d"), "pods"))

    assert [finding.because for finding in verdict.findings] == [
        "the controller created pod/ns/w-d before its first list of pods was complete: "
        "the 4th live pod of widget/w, fault-free runs never had more than 3 by then"
    ]
    assert verdict.findings[0].though == "though pods had not been listed yet"


def test_one_that_deletes_what_has_no_owner_before_the_owners_were_listed_is_guilty() -> None:
    verdict = judge(in_time(slow(WIDGETS).deletes("w-a"), WIDGETS))

    assert [finding.because for finding in verdict.findings] == [
        f"the controller deleted pod/ns/w-a before its first list of {WIDGETS} was complete: "
        "2 live pods of widget/w left, fault-free runs kept 3"
    ]
    assert verdict.findings[0].though == "though widget/w had not been listed yet"


def test_the_initial_events_of_a_watch_list_are_a_list() -> None:
    script = LifeScript(RESTART, SLOW_PODS)
    three(script).idle(2).opens(1).dies().lives_again(slow=("pods",)).fires(1)
    script.adds(Opened, stream=21, client="controller", resource="pods", watch_list=True, bookmarks=True).creates("w-d")

    assert judge(script.initial_end(21).closes(1)).outcome is Outcome.FAIL


# --- innocent, though it looks suspicious ----------------------------------------------------------------------------------------


def test_one_that_waits_passes() -> None:
    assert judge(in_time(slow("pods"), "pods").idle(2)).outcome is Outcome.PASS
    assert judge(in_time(slow(WIDGETS), WIDGETS).idle(2)).outcome is Outcome.PASS


def test_one_that_has_listed_live_what_it_needs_may_write() -> None:
    assert judge(in_time(slow("pods").lists("pods", selector="app=w").creates("w-d"), "pods")).outcome is not Outcome.FAIL


def test_another_controller_in_the_same_process_waits_for_other_lists() -> None:
    """The first list of config maps is slow, which nobody needs in order to make pods."""
    script = LifeScript(RESTART, SLOW_PODS)
    three(script).idle(2).opens(1).dies().removed("w-a").lives_again(slow=("configmaps",)).fires(1).creates("w-d")

    assert judge(script.first_list_arrives("configmaps").closes(1)).outcome is not Outcome.FAIL


def test_deterministic_names_may_be_asked_for_before_they_were_listed() -> None:
    script = slow("pods").refused("create", "w-0", "AlreadyExists")

    assert judge(in_time(script, "pods")).outcome is Outcome.PASS


def test_making_what_is_really_missing_does_no_harm() -> None:
    script = LifeScript(RESTART, SLOW_PODS)
    three(script).idle(2).opens(1).dies().removed("w-a").lives_again(slow=("pods",)).fires(1).creates("w-d")

    assert judge(script.first_list_arrives("pods").closes(1)).outcome is not Outcome.FAIL


def test_an_excess_after_the_list_is_for_another_requirement() -> None:
    assert judge(in_time(slow("pods"), "pods").creates("w-d")).outcome is Outcome.PASS


def test_leases_and_what_it_makes_at_every_start_do_not_count() -> None:
    script = slow("pods").creates("lock", resource="leases.coordination.k8s.io", generated="")
    script.creates("settings", resource="configmaps", generated="")

    assert judge(in_time(script, "pods")).outcome is Outcome.PASS


def test_the_streams_that_were_open_before_the_trial_had_been_listed() -> None:
    assert judge(three(LifeScript(SLOW_PODS)).opens(0).creates("w-d").closes(0)).outcome is Outcome.NOT_EXERCISED


def test_the_children_of_an_owner_that_is_gone_may_go_before_the_owners_were_listed() -> None:
    script = LifeScript(RESTART, SLOW_PODS, SLOW_WIDGETS)
    three(script).idle(2).removed("w", WIDGETS).opens(2).dies().lives_again(slow=(WIDGETS,)).fires(2).deletes("w-a")

    assert judge(script.first_list_arrives(WIDGETS).closes(2)).outcome is not Outcome.FAIL


# --- nothing could be seen -------------------------------------------------------------------------------------------------------


def quick() -> LifeScript:
    script = LifeScript(RESTART)
    three(script).idle(2)
    return script.dies().lives_again()


def unhindered() -> LifeScript:
    """The list is under way when another is complete, as it is at every start, and no fault has to do with it."""
    script = LifeScript(RESTART, SLOW_PODS)
    three(script).idle(2).opens(1).fires(1)
    return script.dies().lives_again(slow=("pods",)).first_list_arrives("pods").closes(1)


def empty() -> LifeScript:
    script = LifeScript(RESTART, SLOW_PODS)
    script.step(1, "apply").opens(1).dies().lives_again(slow=("pods",)).fires(1)
    return script.first_list_arrives("pods").closes(1)


@pytest.mark.parametrize(
    "script",
    [LifeScript(RESTART), quick(), unhindered(), empty()],
    ids=["nothing happened", "no slow list", "no fault made it slow", "nothing to repeat"],
)
def test_nothing_is_proven_unless_a_list_was_slow_and_there_was_work_behind_it(script: Script) -> None:
    assert judge(script).outcome is Outcome.NOT_EXERCISED
