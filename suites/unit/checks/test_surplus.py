"""Creates and deletes beyond those that a controller does without the faults."""

from collections.abc import Callable

import msgspec
import pytest

from staleproof.checks.deeds.children import step_at
from staleproof.checks.facts.object_history import OwnVerb, object_history
from staleproof.checks.facts.roles import Role
from staleproof.checks.surplus import surplus, usual
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import StepEnded
from staleproof.core.plan.step import Resync

from .draft import STEPS
from .script import HOLD, WIDGETS, Script, beside, losing

Workload = Callable[[Script], Script]
PODS = Role("Widget/w", "pods", "w-")
REVISIONS = "controllerrevisions.apps"
JOBS = Role("", "jobs", "x")


def applied(script: Script, *names: str) -> Script:
    return script.step(1, "apply").applied("w", spec=len(names)).creates(*names)


def excess(trial: Trial, verb: OwnVerb) -> list[tuple[str, int, int]]:
    """Name, how many there then were, and how many are usual."""
    return [(each.deed.child.name, each.deed.live, each.usual) for each in surplus(trial) if each.deed.verb == verb]


# --- creates ---------------------------------------------------------------------------------------------------------------------


def grown(script: Script) -> Script:
    """Two pods, then three of them."""
    return applied(script, "w-a", "w-b").idle(1).step(2, "scale").applied("w", spec=3).creates("w-c").idle(2)


def late() -> Script:
    return Script(HOLD).step(1, "apply").applied("w", spec=2).step(2, "scale").applied("w", spec=3).creates("w-a", "w-b", "w-c")


CREATES = {
    "the third of two, although there will be three": (applied(Script(HOLD), "w-a", "w-b", "w-c"), [("w-c", 3, 2)]),
    "what comes late is not too much": (late(), []),
    "what others create is theirs": (grown(Script(HOLD)).made("w-d"), []),
    "what it never heard of is its own": (grown(Script(losing())).creates("w-d").loses_the_answer(), [("w-d", 4, 3)]),
}


@pytest.mark.parametrize(("script", "found"), CREATES.values(), ids=CREATES)
def test_creates(script: Script, found: list[tuple[str, int, int]]) -> None:
    assert excess(beside(script, grown), "create") == found


def test_enough_others_explain_a_create() -> None:
    (create,) = surplus(beside(grown(Script(HOLD)).creates("w-d"), grown))

    assert create.explained_by([create.deed.child]) == [create.deed.child]
    assert create.explained_by([]) == []
    assert (create.deed.name, create.deed.nth) == ("pod/ns/w-d", "the 4th live pod of widget/w")
    assert create.words == "fault-free runs never had more than 3"


def test_what_fault_free_runs_have_later_is_said() -> None:
    (create,) = surplus(beside(applied(Script(HOLD), "w-a", "w-b", "w-c"), grown))

    assert create.words == "fault-free runs never had more than 2 by then"


def test_what_is_made_otherwise_repeats_nothing_as_long_as_no_more_is_made() -> None:
    def each_state(script: Script, *, deletes: bool = True) -> Script:
        for number, state in enumerate("abc", 1):
            script.step(number, "change").applied("w", spec=state).creates(f"w-{state}", spec=state)
            if deletes and number > 1:
                script.deletes(f"w-{'abc'[number - 2]}")
            script.idle(number)
        return script

    trial = beside(each_state(Script(HOLD), deletes=False), each_state)
    (create,) = surplus(trial)
    pods = [each for each in object_history(trial).objects.values() if each.name in ("w-a", "w-b")]

    assert (create.deed.child.name, create.deed.live, create.usual, create.in_all) == ("w-c", 3, 2, False)
    assert create.explained_by(pods) == []
    assert create.explained_by([*pods, create.deed.child]) == [create.deed.child]


# --- deletes ---------------------------------------------------------------------------------------------------------------------


def begun(script: Script) -> Script:
    return applied(script, "w-a", "w-b", "w-c")


def shrunk(script: Script) -> Script:
    """Three pods, then two of them."""
    return begun(script).idle(1).step(2, "scale").applied("w", spec=2).deletes("w-c").idle(2)


def rolled(script: Script) -> Script:
    """One is deleted before another is created in its place."""
    return begun(script).idle(1).step(2, "new template").applied("w", spec=4).deletes("w-a").creates("w-d").idle(2)


def busy(script: Script) -> Script:
    """The first step is not finished."""
    return begun(script).adds(StepEnded, step=1, idle=False).step(2, "scale").applied("w", spec=2).deletes("w-c").idle(2)


def in_step_3() -> Script:
    return begun(Script(HOLD)).idle(1).step(2, "scale").applied("w", spec=2).idle(2).step(3, "touch").deletes("w-c")


def kept(script: Script, *more: object) -> Script:
    """Its state in the first step, and one in the second."""
    script.step(1, "apply").applied("w", spec=1).creates("w-1", resource=REVISIONS, generated="", data={"of": 1})
    for number, data in enumerate(more, 2):
        script.creates(f"w-{number}", resource=REVISIONS, generated="", data={"of": data})
    return script.idle(1)


DELETES = {
    "below what was kept and beyond what was deleted": (shrunk(Script(HOLD)).deletes("w-b"), shrunk, [("w-b", 1, 2)]),
    "the same deletes in a later step are only late": (in_step_3(), shrunk, []),
    "a delete before its step is one too many then": (
        begun(Script(HOLD)).deletes("w-c").idle(1).step(2, "scale").applied("w", spec=2),
        shrunk,
        [("w-c", 2, 3)],
    ),
    "one that deletes before it creates has deleted no more": (rolled(Script(HOLD)), rolled, []),
    "what was never there cannot be deleted too much": (applied(Script(HOLD), "w-a").deletes("w-a"), shrunk, []),
    "the same state is kept under another number": (kept(Script(HOLD), 1).deletes("w-1", resource=REVISIONS), kept, []),
    "another state is no copy of it": (
        kept(Script(HOLD), 2).deletes("w-1", resource=REVISIONS),
        kept,
        [("w-1", 0, 1)],
    ),
    "others' deletes are theirs": (shrunk(Script(HOLD)).removed("w-b"), shrunk, []),
    "what a reference had not finished proves nothing": (begun(Script(HOLD)).deletes("w-c"), busy, []),
    "a deletecollection counts and is not judged": (shrunk(Script(HOLD)).deletes_all(), shrunk, []),
}


@pytest.mark.parametrize(("script", "workload", "found"), DELETES.values(), ids=DELETES)
def test_deletes(script: Script, workload: Workload, found: list[tuple[str, int, int]]) -> None:
    assert excess(beside(script, workload), "delete") == found


def test_what_was_left_is_reported_in_words() -> None:
    (delete,) = surplus(beside(shrunk(Script(HOLD)).deletes("w-b"), shrunk))

    assert delete.words == "1 live pod of widget/w left, fault-free runs kept 2"
    assert delete.deed.name == "pod/ns/w-b"
    assert (delete.deed.done, delete.deed.peak) == (2, 3)


# --- by step, and ever -----------------------------------------------------------------------------------------------------------


def waves(script: Script, *, idle: bool = True) -> Script:
    """Two pods, then four, then one."""
    applied(script, "w-a", "w-b").adds(StepEnded, step=1, idle=idle)
    script.step(2, "scale").applied("w", spec=4).creates("w-c", "w-d").idle(2)
    return script.step(3, "scale").applied("w", spec=1).deletes("w-a", "w-b", "w-c").idle(3)


def begins(*steps: int) -> Script:
    script = Script(HOLD)
    for step in steps:
        script.step(step, "something")
    return script.applied("w")


def by_step(trial: Trial, role: Role = PODS, index: int | None = None) -> tuple[int, int, int]:
    here = len(trial.entries) if index is None else index
    found = usual(trial)(role, step_at(trial, here))
    return found.most, found.kept, found.deleted


BY_STEP = {
    "in the first step": (by_step(beside(begins(1), waves)), (2, 2, 0)),
    "the most grows": (by_step(beside(begins(1, 2), waves)), (4, 4, 0)),
    "what is kept does not": (by_step(beside(begins(1, 2, 3), waves)), (4, 1, 3)),
    "before the first step everything is allowed": (by_step(beside(begins(1), waves), index=1), (4, 0, 3)),
    "what a reference did not finish": (by_step(beside(begins(1), lambda script: waves(script, idle=False))), (4, 0, 3)),
    "a role that no reference had": (by_step(beside(begins(1, 2), waves), JOBS), (0, 0, 0)),
}


@pytest.mark.parametrize(("found", "expected"), BY_STEP.values(), ids=BY_STEP)
def test_what_the_references_had_by_then(found: tuple[int, int, int], expected: tuple[int, int, int]) -> None:
    assert found == expected


def test_resyncs_are_not_in_the_references() -> None:
    script = Script(HOLD).step(1, "apply").applied("w").step(2, "resync").step(3, "touch").applied("w")
    script.plan = msgspec.structs.replace(script.plan, steps=(STEPS[0], Resync(resource=WIDGETS), STEPS[1]))
    trial = beside(script, waves)

    assert by_step(trial) == (4, 4, 0)
    assert by_step(trial, index=7)[0] == 2


def test_what_any_reference_ended_with_is_the_fewest_ever() -> None:
    def pods(script: Script, up: int, down: int) -> Script:
        names = [f"w-{number}" for number in range(up)]
        return applied(script, *names).deletes(*names[down:]).idle(1)

    script = pods(Script(HOLD), 4, 3).deletes("w-0", "w-1", "w-2")
    found = surplus(beside(script, lambda script: pods(script, 4, 2), lambda script: pods(script, 3, 1)))

    assert [(each.deed.live, each.usual, each.ever) for each in found] == [(0, 1, 1)]
