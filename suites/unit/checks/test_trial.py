"""What is worked out once about a trial and its references."""

from dataclasses import replace

import msgspec
import pytest

from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial
from staleproof.core.entry import Broke, Delivered, FaultMissed, FaultRefused
from staleproof.core.fault import DropFrame, PastSnapshot, RepeatFrame
from staleproof.core.history import History

from .life_script import LifeScript, losing
from .script import HOLD, WIDGETS, Script, reference, trial

PODS = Role("Widget/w", "pods", "w-")


def waves(script: Script, up: int, down: int) -> History:
    names = [f"w-{n}" for n in range(up)]
    return script.step(1, "apply").applied("w").creates(*names).deletes(*names[down:]).ends()


def test_the_references_give_ranges() -> None:
    evidence = Trial(trial().ends(), (waves(reference(1), 4, 2), waves(reference(2), 3, 1)))

    assert (evidence.most(PODS), evidence.fewest(PODS)) == (4, 1)
    assert (evidence.most(Role("", "jobs", "x")), evidence.fewest(Role("", "jobs", "x"))) == (0, 0)
    assert PODS in evidence.roles


def test_names_that_every_reference_used_are_stable() -> None:
    evidence = Trial(trial().ends(), (waves(reference(1), 1, 1), waves(reference(2), 1, 1)))

    assert {named.name for named in evidence.names.stable} == {"w"}


@pytest.mark.parametrize(
    ("history", "trouble"),
    [
        (trial().ends(), ""),
        (trial().unfinished(), "the trial was not recorded to its end"),
        (trial().adds(Broke, where="truth", why="gap").ends(), "the harness broke (truth): gap"),
    ],
)
def test_what_makes_a_trial_worthless(history: History, trouble: str) -> None:
    assert Trial(history, ()).trouble == trouble


def test_faults_that_did_nothing_are_named() -> None:
    script = Script(HOLD, HOLD).hold().applied("w").creates("w-a").let_go()

    assert Trial(script.ends(), ()).unfired == "planned faults never fired: Hold of pods"


def test_faults_that_did_nothing_are_named_with_the_reason() -> None:
    script = Script(HOLD, PastSnapshot(), HOLD).hold().applied("w").creates("w-a").let_go()
    script.adds(FaultRefused, fault=1, on="list pods", row="25", why="the read does not ask for resourceVersion 0")
    script.adds(FaultMissed, fault=2, why="no event of pods came while it was open")

    assert Trial(script.ends(), ()).unfired == (
        "planned faults never fired: PastSnapshot of *: refused on list pods, legality row 25 (an old answer to a consistent "
        "read): the read does not ask for resourceVersion 0; Hold of pods: no event of pods came while it was open"
    )


def lost_event() -> Script:
    """The controller was never shown w-a, and was shown what came behind it."""
    script = trial().applied("w").creates("w-a", "w-b")
    script.entries = [e for e in script.entries if not (isinstance(e, Delivered) and e.name == "w-a")]
    return script


def test_a_stream_that_was_no_watch_makes_a_trial_worthless() -> None:
    trouble = (
        "the self-check failed, which is a bug of staleproof, not of the controller: "
        "Reliable: stream 1 of pods: 102 was committed and never left, 103 did"
    )
    assert Trial(lost_event().ends(), ()).trouble == trouble
    more = lost_event().lists(without=("w-b",)).ends()
    assert Trial(more, ()).trouble == f"{trouble}, and 1 more"


def test_unless_a_hostile_fault_was_there_for_that() -> None:
    script = lost_event()
    script.plan = msgspec.structs.replace(script.plan, faults=(DropFrame(resource="pods"),), contract="hostile")
    assert Trial(script.ends(), ()).trouble == ""
    script.plan = msgspec.structs.replace(script.plan, faults=(RepeatFrame(resource="pods"),))
    assert "Reliable" in Trial(script.ends(), ()).trouble


def test_what_holds_for_the_trial_holds_for_its_references() -> None:
    good, bad = waves(reference(1), 3, 2), waves(reference(2), 3, 2)
    entries = tuple(e for e in bad.entries if not (isinstance(e, Delivered) and e.name.startswith("w-0")))
    found = Trial(trial().ends(), (good, replace(bad, entries=entries))).reference_trouble
    assert found.startswith("reference 2 proves nothing: the self-check failed, which is a bug of staleproof")


def test_which_faults_acted_at_a_moment() -> None:
    script = trial().applied("w").hold().creates("w-a").let_go()
    history = script.ends()
    opened, closed = (
        next(i for i, e in enumerate(history.entries) if type(e).__name__ == n) for n in ("FaultOpened", "FaultClosed")
    )
    evidence = Trial(history, ())

    assert [list(evidence.faults_open_at(i)) for i in (opened - 1, opened + 1, closed + 1)] == [[], [opened], []]


def test_a_controller_that_never_wrote_is_idle() -> None:
    assert Trial(trial().applied("w").ends(), ()).idle == "the controller never wrote anything"
    assert Trial(trial().applied("w").updates("w").ends(), ()).idle == ""
    assert Trial(trial().ends(), ()).primaries == {WIDGETS}


def test_each_position_belongs_to_a_life() -> None:
    script = LifeScript(losing()).applied("w").dies()
    before = len(script.entries)
    lived = Trial(script.lives_again().unfinished())

    assert [lived.life(index) for index in (0, before - 1, before, len(lived.entries))] == [0, 0, 1, 1]
    assert lived.life_began(before + 1) == before


def test_without_a_start_there_is_one_life_that_began_before() -> None:
    script = trial()
    script.entries.clear()

    assert (Trial(script.unfinished()).life(3), Trial(script.unfinished()).life_began(3)) == (0, 0)
