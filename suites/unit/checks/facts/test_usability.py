"""Whether a trial, and the references beside it, can prove anything."""

from dataclasses import replace

import pytest

from staleproof.checks.facts.usability import reference_trouble, trouble, unfired
from staleproof.checks.trial import Trial
from staleproof.core.fault import (
    AnyFault,
    Compete,
    DropFrame,
    Expire,
    HeldState,
    PastSnapshot,
    Reject,
    RepeatFrame,
    Restart,
    Window,
)
from staleproof.core.history.entry import Broke, Delivered, Exited, FaultMissed, FaultRefused
from staleproof.core.history.history import History, HistoryRole
from staleproof.core.plan.but_for import final_only, slept, woken
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Patch, Rest, Step

from ..draft import STEPS
from ..script import HOLD, WIDGETS, Script, trial

UNRELIABLE = (
    "the self-check failed, which is a bug of staleproof, not of the controller: "
    "Reliable: stream 1 of pods: 102 was committed and never left, 103 did"
)


def lost_event(*hostile: AnyFault) -> Script:
    """The controller was never shown w-a, and was shown what came behind it."""
    script = Script(*(hostile or (HOLD,)), contract="hostile" if hostile else "legal").applied("w").creates("w-a", "w-b")
    script.entries = [e for e in script.entries if not (isinstance(e, Delivered) and e.name == "w-a")]
    return script


TROUBLES: dict[str, tuple[History, str]] = {
    "none": (trial().ends(), ""),
    "not recorded to its end": (trial().unfinished(), "the trial was not recorded to its end"),
    "broken harness": (trial().adds(Broke, where="truth", why="gap").ends(), "the harness broke (truth): gap"),
    "controller exited": (
        trial().adds(Exited, life=1, code=137).ends(),
        "the controller exited with code 137 during the trial",
    ),
    "controller exited, and the harness broke": (
        trial().adds(Exited, life=1, code=137).adds(Broke, where="truth", why="gap").ends(),
        "the harness broke (truth): gap",
    ),
    "controller lost its lease": (trial().adds(Exited, life=1, code=1, log=("leader election lost",)).ends(), ""),
    "a stream that was no watch": (lost_event().ends(), UNRELIABLE),
    "more than one": (lost_event().lists(without=("w-b",)).ends(), f"{UNRELIABLE}, and 1 more"),
    "a hostile fault is there for that": (lost_event(DropFrame(resource="pods")).ends(), ""),
    "a hostile fault that does something else": (lost_event(RepeatFrame(resource="pods")).ends(), UNRELIABLE),
}


@pytest.mark.parametrize(("history", "why"), TROUBLES.values(), ids=TROUBLES)
def test_what_makes_a_trial_worthless(history: History, why: str) -> None:
    assert trouble(Trial(history)) == why


def test_faults_that_did_nothing_are_named_with_the_reason_if_there_is_one() -> None:
    script = Script(HOLD, HOLD).hold().applied("w").creates("w-a").let_go()
    assert unfired(Trial(script.ends())) == "planned faults never fired: Hold of pods"

    script = Script(HOLD, PastSnapshot(), HOLD).hold().applied("w").creates("w-a").let_go()
    script.adds(FaultRefused, fault=1, on="list pods", row="25", why="the read does not ask for resourceVersion 0")
    script.adds(FaultMissed, fault=2, why="no event of pods came while it was open")
    assert unfired(Trial(script.ends())) == (
        "planned faults never fired: PastSnapshot of *: refused on list pods, legality row 25 (an old answer to a consistent "
        "read): the read does not ask for resourceVersion 0; Hold of pods: no event of pods came while it was open"
    )


KEEPS = Reject(resource=WIDGETS, verb="write", times=None, window=Window(1, 2), holds=HeldState("terminating", 2))
NEVER_FIRED = f"planned faults never fired: Reject of {WIDGETS}"


def dying() -> Script:
    return Script(KEEPS).step(1, "delete").applied("w")


HELD: dict[str, tuple[Script, str]] = {
    "the primary is terminating": (dying().terminating("w", WIDGETS).step(2, "rest"), ""),
    "later": (dying().step(2, "rest").terminating("w", WIDGETS), NEVER_FIRED),
    "it has gone": (dying().terminating("w", WIDGETS).removed("w", WIDGETS).step(2, "rest"), NEVER_FIRED),
    "a child is terminating": (dying().made("w-a").terminating("w-a").step(2, "rest"), NEVER_FIRED),
    "there was no such step": (dying().terminating("w", WIDGETS), NEVER_FIRED),
}


@pytest.mark.parametrize(("script", "why"), HELD.values(), ids=HELD)
def test_a_fault_that_only_holds_a_state_need_not_fire_where_the_state_came_about(script: Script, why: str) -> None:
    """The sample's own finalizer keeps the primary, for example, and there is nothing to reject."""
    assert unfired(Trial(script.ends())) == why


def work(number: int, *, steps: tuple[Step, ...] = STEPS, faults: tuple[AnyFault, ...] = ()) -> Script:
    script = Script(*faults, namespace=f"ref-{number}", steps=steps)
    return script.step(1, "apply").applied("w").creates("w-a", "w-b")


def unlike_a_watch(number: int) -> History:
    history = work(number).ends()
    return replace(history, entries=tuple(e for e in history.entries if not (isinstance(e, Delivered) and "w-a" in e.name)))


def planned(plan: Plan | None, role: HistoryRole) -> History:
    """A reference that was run with this plan."""
    script = work(3)
    script.plan, script.role = plan or script.plan, role
    return script.ends()


RESTARTED = Script(Restart(window=Window(2)))
GOOD = work(1).ends()
OTHER = "reference 2 is not a fault-free run of the same workload"
REFERENCES: dict[str, tuple[tuple[History, ...], str]] = {
    "good": ((GOOD, work(2).ends()), ""),
    "none": ((), "it needs at least 2 fault-free references of the same workload, found 0"),
    "one": ((GOOD,), "it needs at least 2 fault-free references of the same workload, found 1"),
    "did not settle": (
        (GOOD, work(2).released().settled(ok=False, why="after 10 s: 2 pods of widget/w").ends()),
        "reference 2 did not settle although there was no fault (after 10 s: 2 pods of widget/w)",
    ),
    "did not settle, and did not say why": (
        (GOOD, work(2).released().settled(ok=False).ends()),
        "reference 2 did not settle although there was no fault (no reason given)",
    ),
    "incomplete": ((GOOD, work(2).unfinished()), "reference 2 was not recorded to its end"),
    "exited": (
        (work(1).adds(Exited, life=1, code=1).ends(), work(2).ends()),
        "reference 1 proves nothing: the controller exited with code 1 during the trial",
    ),
    "lost its lease": (
        (GOOD, work(2).adds(Exited, life=1, code=1, log=("leader election lost",)).ends()),
        "reference 2 proves nothing: the controller exited with code 1 during the trial",
    ),
    "another workload": ((GOOD, work(2, steps=(Rest(seconds=1.0),)).ends()), OTHER),
    "with faults": ((GOOD, work(2, faults=(HOLD,)).ends()), OTHER),
    "a stream that was no watch": ((GOOD, unlike_a_watch(2)), f"reference 2 proves nothing: {UNRELIABLE}"),
}


BUT_FOR: dict[str, tuple[History, str]] = {
    "the same plan without harm": (planned(woken(RESTARTED.plan), "woken"), ""),
    "only its last state": (planned(final_only(RESTARTED.plan), "final"), ""),
    "as slow as the trial": (planned(RESTARTED.plan.reference, "paced"), ""),
    "woken otherwise": (
        planned(woken(Script(Restart(window=Window(1, 2)), Expire(resource="pods", window=Window(2))).plan), "woken"),
        "reference 3 is not a run of the same plan with the faults' harmless twins",
    ),
    "not woken": (planned(None, "woken"), "reference 3 is not a run of the same plan with the faults' harmless twins"),
    "as slow as the trial, and with its faults": (
        planned(RESTARTED.plan, "paced"),
        "reference 3 is not a fault-free run of the same workload",
    ),
    "more than the last state": (
        planned(RESTARTED.plan.reference, "final"),
        "reference 3 is not a fault-free run of the workload's last state",
    ),
}


@pytest.mark.parametrize(("third", "why"), BUT_FOR.values(), ids=BUT_FOR)
def test_what_a_trial_is_compared_with_besides(third: History, why: str) -> None:
    assert reference_trouble(Trial(RESTARTED.ends(), (GOOD, work(2).ends(), third))) == why


@pytest.mark.parametrize(
    ("sleeps", "why"),
    [
        (True, ""),
        (False, "reference 3 is not a fault-free run of the workload as it looks where a fault kept something back"),
    ],
)
def test_it_may_be_compared_with_a_run_that_slept_while_the_fault_lasted(*, sleeps: bool, why: str) -> None:
    steps = (STEPS[0], Rest(seconds=1.0), Rest(seconds=2.0), *STEPS[1:])
    missed = Script(Restart(window=Window(2, 4)), steps=steps)
    third = planned(slept(missed.plan, ())[0] if sleeps else missed.plan, "slept")
    assert reference_trouble(Trial(missed.ends(), (work(1, steps=steps).ends(), work(2, steps=steps).ends(), third))) == why


def test_it_may_be_compared_with_a_run_that_saw_a_competitors_edit_with_the_step_or_behind_it() -> None:
    steps = (STEPS[0], Rest(seconds=1.0), *STEPS[1:])
    edited = Script(Compete(resource=WIDGETS, edit={"spec": {"replicas": 2}}, window=Window(2)), steps=steps)
    edit = Patch(target=Target("example.com/v1", "Widget", "w"), patch={"spec": {"replicas": 2}})
    seen = slept(edited.plan, [f"{WIDGETS}/w"])[-2:]
    assert [each.steps for each in seen] == [(STEPS[0], edit, STEPS[1]), (*edited.plan.reference.steps[:2], edit, STEPS[1])]
    for third in (planned(each, "slept") for each in seen):
        assert reference_trouble(Trial(edited.ends(), (work(1, steps=steps).ends(), work(2, steps=steps).ends(), third))) == ""


def test_none_of_that_takes_the_place_of_a_reference() -> None:
    final = planned(final_only(RESTARTED.plan), "final")
    assert "found 1" in reference_trouble(Trial(RESTARTED.ends(), (GOOD, final)))


@pytest.mark.parametrize(("references", "why"), REFERENCES.values(), ids=REFERENCES)
def test_what_keeps_references_from_being_compared_with(references: tuple[History, ...], why: str) -> None:
    assert reference_trouble(Trial(trial().ends(), references)) == why
