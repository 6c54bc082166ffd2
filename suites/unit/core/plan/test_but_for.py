"""What is left of a plan when its faults do no harm, and when only its last state is seen."""

from typing import Any

import pytest
from msgspec import structs

from staleproof.core.fault import (
    AnyFault,
    Coalesce,
    Compete,
    DelayStream,
    Expire,
    Hang,
    HideOwnWrite,
    HoldStream,
    Kill,
    LoseAnswer,
    PastSnapshot,
    Pause,
    Refuse,
    Reject,
    Restart,
    SeverStream,
    SlowAnswer,
    SlowStart,
    Window,
)
from staleproof.core.plan.but_for import final_only, slept, woken
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan, contradictions, decode, encode
from staleproof.core.plan.step import (
    Apply,
    Delete,
    Edit,
    Lull,
    Patch,
    PatchStatus,
    Recreate,
    Remove,
    Restore,
    Resync,
    Step,
    Together,
    Touch,
    parts,
)
from staleproof.core.plan.stored import detached

SAMPLE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Widget",
    "metadata": {"name": "w"},
    "spec": {"replicas": 1, "content": "a"},
}
PRIMARIES = ["widgets/w"]
TARGET = Target("v1", "Widget", "w")
APPEAR, GROW, TOUCH = Apply(object=SAMPLE), Patch(target=TARGET, patch={"spec": {"replicas": 3}}), Touch(target=TARGET)
STEPS: tuple[Step, ...] = (APPEAR, GROW, TOUCH)


def plan(*faults: AnyFault, steps: tuple[Step, ...] = STEPS) -> Plan:
    return Plan(scenario="mine", aims=("settles",), steps=steps, faults=faults)


def lull(number: int, *faults: AnyFault) -> tuple[tuple[Step, ...], tuple[AnyFault, ...]]:
    """The workload with a lull as the step of this number, and these faults."""
    return (*STEPS[: number - 1], Lull(), *STEPS[number - 1 :]), faults


def relist(at: int, resource: str = "pods") -> AnyFault:
    return Expire(resource=resource, window=Window(from_step=at))


def reconnect(at: int, resource: str = "pods") -> AnyFault:
    return SeverStream(resource=resource, window=Window(from_step=at))


def restart(at: int) -> AnyFault:
    return Restart(gently=True, window=Window(from_step=at))


WINDOW = Window(2, 3)
CASES: dict[str, tuple[tuple[AnyFault, ...], tuple[tuple[Step, ...], tuple[AnyFault, ...]]]] = {
    "a restart": ((Restart(window=WINDOW),), lull(2, restart(2))),
    "a restart of one of two programs": (
        (Restart(program="poller", window=WINDOW), Restart(window=WINDOW)),
        lull(2, Restart(gently=True, program="poller", window=Window(2)), restart(2)),
    ),
    "a 410 for one of two programs": (
        (Expire(resource="pods", program="poller", window=WINDOW),),
        lull(2, Expire(resource="pods", program="poller", window=Window(2))),
    ),
    "a restart on the past": ((PastSnapshot(as_of_step=1, window=WINDOW), Restart(window=WINDOW)), lull(2, restart(2))),
    "a process that is kept down": ((Restart(stays_down=True, window=WINDOW),), lull(3, restart(3))),
    "a kill at a write": ((Kill(resource="pods", window=WINDOW),), lull(3, restart(3))),
    "a kill at a write in the last step": ((Kill(resource="pods", window=Window(3)),), lull(4, restart(4))),
    "a first list that comes late": (
        (SlowStart(resource="pods", window=Window(3)), Restart(window=Window(3))),
        ((APPEAR, GROW, Lull(), TOUCH, Lull()), (restart(3), relist(5))),
    ),
    "a 410": ((Expire(resource="pods", window=WINDOW),), lull(2, relist(2))),
    "a 410 at an event": ((Expire(resource="pods", nth=1, window=WINDOW),), lull(3, relist(3))),
    "skipped states": ((Coalesce(resource="pods", window=WINDOW),), lull(3, relist(3))),
    "a hold that ends in a list": ((HoldStream(resource="pods", release="relist", window=WINDOW),), lull(3, relist(3))),
    "own writes hidden to the end, and a list": ((HideOwnWrite(resource="pods", release="relist"),), lull(4, relist(4))),
    "a hold that ends in a new watch": ((HoldStream(resource="pods", release="resume", window=WINDOW),), lull(3, reconnect(3))),
    "a lost watch": ((SeverStream(resource="pods", how="reset", window=WINDOW),), lull(2, reconnect(2))),
    "no client can connect": ((Refuse(window=WINDOW),), lull(3, reconnect(3, "*"))),
    "everything hangs": ((Hang(resource="pods", window=WINDOW),), lull(3, reconnect(3))),
    "one lull for two": (
        (Restart(window=WINDOW), Expire(resource="pods", window=WINDOW), Restart(window=WINDOW)),
        lull(2, restart(2), relist(2)),
    ),
    "another user's write": (
        (Compete(resource="pods", window=Window(3)),),
        ((*STEPS, Lull(touches=(TARGET,))), ()),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_woken_plan_makes_it_look_again_and_hides_nothing(case: str) -> None:
    faults, (steps, harmless) = CASES[case]
    found = woken(plan(*faults))
    assert found is not None
    assert (found.steps, found.faults) == (steps, harmless)
    assert found.reference.steps == STEPS, "the workload is the same"
    assert not contradictions(found)
    assert decode(encode(found)) == found


@pytest.mark.parametrize(
    "faults",
    [
        (),
        (HoldStream(resource="pods"), DelayStream(resource="pods", by_seconds=1.0)),
        (Reject(resource="pods"), LoseAnswer(resource="pods"), SlowAnswer(resource="pods", by_seconds=1.0), Pause()),
        (Restart(window=Window(1)), Expire(resource="pods", window=Window(1))),  # there is nothing to see yet
    ],
)
def test_what_wakes_no_controller_leaves_nothing_but_the_reference(faults: tuple[AnyFault, ...]) -> None:
    assert woken(plan(*faults)) is None


def test_a_resync_is_woken_as_well() -> None:
    found = woken(plan(Restart(window=Window(4)), steps=(APPEAR, Resync(resource="widgets"), GROW, TOUCH)))
    assert found is not None
    assert found.steps == (APPEAR, Lull(), GROW, Lull(), TOUCH)
    assert found.faults == (relist(2, "widgets"), restart(4))


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        (STEPS, {"replicas": 3, "content": "a"}),
        ((APPEAR, Patch(target=TARGET, patch={"spec": {"content": None}}), TOUCH), {"replicas": 1}),
        ((APPEAR, GROW, Delete(target=TARGET), APPEAR), {"replicas": 1, "content": "a"}),
    ],
)
def test_final_only_asks_for_the_last_state(steps: tuple[Step, ...], wanted: dict[str, object]) -> None:
    found = final_only(plan(Restart(), steps=steps))
    assert found is not None
    assert (found.steps, found.faults) == ((Apply(object=SAMPLE | {"spec": wanted}),), ())
    assert SAMPLE["spec"] == {"replicas": 1, "content": "a"}


def test_what_a_sample_says_is_nothing_is_said_in_the_last_state_too() -> None:
    """Where a field may be null, its default is not put there."""
    sample = {**SAMPLE, "spec": {"replicas": 1, "limit": None}}
    found = final_only(plan(steps=(Apply(object=sample), GROW)))
    assert found is not None
    assert found.steps == (Apply(object={**sample, "spec": {"replicas": 3, "limit": None}}),)


@pytest.mark.parametrize("steps", [(APPEAR,), (APPEAR, Delete(target=TARGET))])
def test_there_is_none_if_nothing_else_was_ever_wanted_or_nothing_is(steps: tuple[Step, ...]) -> None:
    assert final_only(plan(steps=steps)) is None


# --- what came and went ----------------------------------------------------------------------------------------------------------

MOVE, SHRINK = (Patch(target=TARGET, patch={"spec": spec}) for spec in ({"content": "b"}, {"replicas": 0}))
GROWN_AND_MOVED = Patch(target=TARGET, patch={"spec": {"replicas": 3, "content": "b"}})
BACK, GONE = Patch(target=TARGET, patch={"spec": {"replicas": 1}}), Delete(target=TARGET)
EDIT, RESET = Edit(resource="maps", patch={"data": {"a": "b"}}), PatchStatus(target=TARGET, patch={"status": {"size": None}})
MOVED = Apply(object=SAMPLE | {"spec": {"replicas": 1, "content": "b"}})


@pytest.mark.parametrize(
    ("window", "steps", "expected"),
    [
        (Window(1, 4), (APPEAR, MOVE, SHRINK, BACK, TOUCH), [(MOVED, TOUCH), (APPEAR, MOVE, TOUCH)]),  # nothing ever shrank
        (Window(2, 3), (APPEAR, MOVE, GROW, TOUCH), [(APPEAR, GROWN_AND_MOVED, TOUCH)]),
        (Window(2), (APPEAR, MOVE, GROW, TOUCH), [(APPEAR, GROWN_AND_MOVED), (APPEAR, MOVE, GROW)]),
        (Window(3), (APPEAR, MOVE, Resync(resource="pods"), GROW, TOUCH), [(APPEAR, MOVE, GROW)]),  # which is no step of the user's
        (
            Window(2, 4),
            (APPEAR, GONE, APPEAR, TOUCH),
            [(APPEAR, GONE, APPEAR)],
        ),  # it is another incarnation, whether or not it was seen
        (Window(2), (APPEAR, Remove(resource="pods"), TOUCH), [(APPEAR, Remove(resource="pods"))]),
        (Window(2, 3), (APPEAR, GROW, GONE), [(APPEAR, GONE)]),
        # what others wrote is there when it wakes up, and was there before it saw anything else
        (
            Window(2, 5),
            (APPEAR, MOVE, EDIT, GROW, RESET, TOUCH),
            [(APPEAR, EDIT, RESET, GROWN_AND_MOVED, TOUCH), (APPEAR, MOVE, EDIT, RESET, GROW, TOUCH)],
        ),
        (Window(1, 3), (APPEAR, EDIT, TOUCH), [(APPEAR, EDIT)]),
        (Window(1), (APPEAR, GROW, GONE), [(Lull(),), (APPEAR, GONE)]),  # a whole life
    ],
)
def test_slept_leaves_out_what_came_and_went_while_a_fault_lasted(
    window: Window, steps: tuple[Step, ...], expected: list[tuple[Step, ...]]
) -> None:
    of = plan(HoldStream(resource="pods", window=window), steps=steps)
    found = slept(of, PRIMARIES)
    assert [each.steps for each in found] == expected
    assert all(not each.faults and each.fresh and not contradictions(each) for each in found)


SETTINGS = Target("v1", "ConfigMap", "settings")
SET, OTHER, PAUSE = (
    Apply(object={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"v": "1"}}),
    Patch(target=SETTINGS, patch={"data": {"v": "2"}}),
    Patch(target=TARGET, patch={"spec": {"paused": True}}),
)


@pytest.mark.parametrize(
    ("resource", "steps", "late"),
    [
        ("widgets", (APPEAR, SET, PAUSE, OTHER), (APPEAR, SET, OTHER, PAUSE)),
        ("widgets", (APPEAR, SET, Together(steps=(PAUSE, OTHER)), TOUCH), (APPEAR, SET, OTHER, TOUCH, PAUSE)),
        ("configmaps", (APPEAR, SET, OTHER, PAUSE), (APPEAR, SET, PAUSE, OTHER)),
        ("pods", (APPEAR, SET, PAUSE, OTHER), None),
        ("widgets", (APPEAR, SET, PAUSE, TOUCH), None),
        ("settings.example.com", (APPEAR, SET, PAUSE, OTHER), None),
    ],
)
def test_what_is_kept_back_may_be_seen_behind_the_rest(
    resource: str, steps: tuple[Step, ...], late: tuple[Step, ...] | None
) -> None:
    found = [each.steps for each in slept(plan(HoldStream(resource=resource, window=Window(3)), steps=steps), PRIMARIES)]
    assert [each for each in found if _parts(each) == _parts(steps)] == ([late] if late else [])


def _parts(steps: tuple[Step, ...]) -> list[str]:
    return sorted(repr(part) for step in steps for part in parts(step))


def test_two_faults_may_have_kept_it_asleep_together() -> None:
    faults = (HoldStream(resource="pods", window=Window(2, 3)), HoldStream(resource="maps", window=Window(3, 4)))
    steps = (APPEAR, GROW, SHRINK, MOVE, TOUCH)
    assert (APPEAR, Patch(target=TARGET, patch={"spec": {"replicas": 0, "content": "b"}}), TOUCH) in [
        each.steps for each in slept(plan(*faults, steps=steps), PRIMARIES)
    ]


def test_what_the_workload_needs_is_there_when_only_the_last_state_is_asked_for() -> None:
    secret = Target("v1", "Secret", "s")
    given = ({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}},)
    there = plan(steps=(Apply(object=SAMPLE), Delete(target=secret), Restore(target=secret)))
    gone = structs.replace(there, steps=there.steps[:2], before=given)
    final = [final_only(structs.replace(each, before=given)) for each in (there, gone)]
    assert [each and each.steps for each in final] == [
        (Apply(object=SAMPLE),),
        (Delete(target=secret), Apply(object=SAMPLE)),
    ]
    found = final_only(detached(gone)[0])
    assert found is not None, "digests stand for what is needed in a stored plan"
    assert [type(step) for step in found.steps] == [Delete, Apply]


def test_a_controller_that_sleeps_meanwhile_finds_what_the_workload_needs_as_it_is_in_the_end() -> None:
    settings = Target("v1", "ConfigMap", "s")
    away, back = Delete(target=settings), Restore(target=settings)
    more, less = (Patch(target=settings, patch={"data": {"n": n}}) for n in "43")
    hold = HoldStream(resource="maps", window=Window(2, 3))

    def asleep(*steps: Step) -> list[tuple[Step, ...]]:
        return [each.steps for each in slept(plan(hold, steps=(APPEAR, *steps)), PRIMARIES)]

    for change in ((more, less), (away, back)):
        assert all(steps[-1] == change[1] for steps in asleep(*change) if change[0] in steps), "it is not left so"
    assert asleep(more, less) == [(APPEAR, less)]
    last = final_only(plan(steps=(APPEAR, more, less)))
    assert last is not None
    assert last.steps == (less, APPEAR)


def test_what_others_write_is_nothing_that_the_user_wants() -> None:
    found = final_only(plan(steps=(APPEAR, EDIT, RESET)))
    assert found is not None
    assert found.steps == (APPEAR,)


def test_a_name_that_another_user_has_taken_stays_taken() -> None:
    again, taken = Recreate(resource="pods"), Recreate(resource="pods", foreign=True)
    hold, back = HoldStream(resource="pods", window=Window(from_step=2)), Patch(target=TARGET, patch={"spec": {"replicas": 1}})
    assert [each.steps for each in slept(plan(hold, steps=(APPEAR, again, GROW)), PRIMARIES)] == [(APPEAR, GROW)]
    assert final_only(plan(hold, steps=(APPEAR, again, GROW))) is not None
    assert [each.steps for each in slept(plan(hold, steps=(APPEAR, taken, GROW, back)), PRIMARIES)] == [(APPEAR, taken)]
    assert final_only(plan(hold, steps=(APPEAR, taken, GROW))) is None


def test_without_faults_no_controller_sleeps() -> None:
    assert slept(plan(), PRIMARIES) == []


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        (Compete(resource="widgets", edit=MOVE.patch, window=Window(1)), [(MOVED, GROW, TOUCH), (APPEAR, MOVE, GROW, TOUCH)]),
        (
            Compete(resource="widgets", edit=MOVE.patch, window=Window(2)),
            [(APPEAR, GROWN_AND_MOVED, TOUCH), (APPEAR, GROW, MOVE, TOUCH)],
        ),
        (
            Compete(resource="*", name="w", edit=MOVE.patch, window=Window(2)),
            [(APPEAR, GROWN_AND_MOVED, TOUCH), (APPEAR, GROW, MOVE, TOUCH)],
        ),
        (Compete(resource="widgets", name="v", edit=MOVE.patch, window=Window(2)), []),  # which is not there
        (Compete(resource="widgets", window=Window(1)), []),
        (Compete(resource="maps", edit={"data": {"a": "b"}}, window=Window(1)), []),  # that is none of the workload's
    ],
)
def test_a_competitors_edit_of_a_primary_may_be_seen_with_the_step_or_behind_it(
    fault: AnyFault, seen: list[tuple[Step, ...]]
) -> None:
    found = [each.steps for each in slept(plan(fault), PRIMARIES)]
    slept_steps = [each.steps for each in slept(plan(fault), [])]
    assert found == [*slept_steps, *seen]


def test_a_competitor_edits_what_is_there_before_a_resync_and_it_is_unknown_which_of_two() -> None:
    edited = Compete(resource="widgets", edit={"spec": {"replicas": 5}}, window=Window(2))
    other = Apply(object=SAMPLE | {"metadata": {"name": "v"}})
    grown = Apply(object=SAMPLE | {"spec": {"replicas": 5, "content": "a"}})

    assert (grown, GROW, TOUCH) in [
        each.steps for each in slept(plan(edited, steps=(APPEAR, Resync(resource="pods"), GROW, TOUCH)), PRIMARIES)
    ]
    two = plan(edited, steps=(APPEAR, other, TOUCH))
    assert slept(two, [*PRIMARIES, "widgets/v"]) == slept(two, [])


def _twin(manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {"name": "x"}}


def test_what_is_done_together_is_missed_together() -> None:
    """What the workload does at once is not done one after the other: that would take as many steps as there are primaries."""
    grow = Patch(target=Target("v1", "Widget", "x"), patch={"spec": {"replicas": 3}})
    steps = (Together(steps=(APPEAR, Apply(object=_twin(SAMPLE)))), Together(steps=(GROW, grow)), TOUCH)
    of = plan(HoldStream(resource="widgets", window=Window(1, 2)), steps=steps)
    made = final_only(of)
    assert made is not None
    (last,) = made.steps
    assert isinstance(last, Together)
    assert [part.object["spec"]["replicas"] for part in last.steps if isinstance(part, Apply)] == [3, 3]
    asleep = [each.steps[0] for each in slept(of, PRIMARIES) if len(each.steps) == 2]
    assert all(isinstance(step, Together) for step in asleep)
    assert [3, 3] in [[part.object["spec"]["replicas"] for part in parts(step) if isinstance(part, Apply)] for step in asleep]
