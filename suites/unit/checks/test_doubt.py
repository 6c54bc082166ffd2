"""Every other explanation, and what each of them leaves of a finding."""

from dataclasses import replace

import msgspec
import pytest

from staleproof.checks.doubt import DOUBTS, first_doubt, recreated_otherwise, set_aside, too_soon
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome
from staleproof.core.fault import Reject
from staleproof.core.history.entry import Ended
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.step import Edit

from .draft import STEPS
from .script import RESTART, SEVER, WIDGETS, Script, beside, pair_renewed


def slow(script: Script) -> Script:
    return script.pair(pause=5.0)


def cut(times: int = 1) -> Script:
    """One pod of two, and so many losses of the pods' watch before that."""
    return Script(SEVER).opens().flaps(times).pair(1)


REJECT = Reject(resource="pods", verb="create", times=None)
UNKNOWN = "it has not tried the create of pods again, and nothing tells how long it waits by itself"


def rejected_once() -> Script:
    return Script(REJECT).opens().step(1, "apply").applied("w", spec=2).rejected().passes(1.0).closes()


@pytest.mark.parametrize(
    ("trial", "why"),
    [
        (beside(cut().stuck()), ""),
        (beside(cut(times=2).stuck(1.0)), "it had 1.1 s to catch up, and may need 3.2 s after what was done to it"),
        (beside(cut().stuck(), slow), "it had 10.1 s to catch up, and may need 15.6 s after what was done to it"),
        (beside(rejected_once().stuck(60.0)), "it had 60.1 s to catch up, and may need 88.6 s after what was done to it"),
        (beside(rejected_once().stuck(100.0)), UNKNOWN),
        (beside(cut().adds(Ended)), "the trial has no settling phase"),
    ],
    ids=[
        "time enough",
        "a client may yet come back",
        "it pauses by itself",
        "once a minute",
        "its pace is unknown",
        "never settled",
    ],
)
def test_a_controller_may_need_time(trial: Trial, why: str) -> None:
    assert too_soon(trial) == why


@pytest.mark.parametrize(
    ("script", "seconds", "why"),
    [
        (cut(times=2).stuck(1.0), 2.0, "it had 2.0 s to catch up, and may need 3.2 s after what was done to it"),
        (cut(times=2).stuck(1.0), 5.0, ""),
        (rejected_once().stuck(100.0), 80.0, UNKNOWN),
        (rejected_once().stuck(100.0), 180.0, ""),
    ],
    ids=["not long enough", "long enough", "an unknown pace, not for long", "an unknown pace, for minutes"],
)
def test_what_was_waited_in_vain_counts_as_its_time(script: Script, seconds: float, why: str) -> None:
    trial = beside(script)
    known = replace(trial.history, header=msgspec.structs.replace(trial.history.header, waited=seconds))
    assert too_soon(Trial(known, [each.history for each in trial.references])) == why


def test_the_steps_may_come_to_something_else_than_in_the_references() -> None:
    assert recreated_otherwise(beside(cut())) == ""
    assert recreated_otherwise(beside(cut(), pair_renewed, Script.pair)) == ""
    assert recreated_otherwise(beside(cut(), pair_renewed)) == (
        f"the workload created {WIDGETS}/w 1 times and 2 times in fault-free runs"
    )


@pytest.mark.parametrize("patch", [{"metadata": {"labels": None}}, {"spec": {"nodeName": "n"}}], ids=["set aside", "edited"])
@pytest.mark.parametrize("is_restarted", [True, False], ids=["restarted", "one life"])
def test_a_new_life_need_not_know_of_a_child_that_another_user_set_aside(patch: Manifest, *, is_restarted: bool) -> None:
    script = Script(RESTART, steps=(*STEPS, Edit(resource="pods", patch=patch))).pair()
    trial = beside(script.restarted() if is_restarted else script)

    excused = "another user set one of its children aside, which a life that began later need not know of"
    assert set_aside(trial) == (excused if is_restarted and "metadata" in patch else "")


def test_the_first_doubt_that_applies_is_reported_with_what_it_leaves() -> None:
    hasty = beside(cut(times=2).stuck(1.0), pair_renewed)

    doubt = first_doubt(hasty, ("end",))
    assert doubt is not None
    assert doubt.why.startswith(f"the workload created {WIDGETS}/w 1 times")
    assert doubt.leaves is Outcome.INCONCLUSIVE
    assert first_doubt(hasty, ("write",)) is None
    (late,) = [doubt for doubt in DOUBTS if doubt.ask is too_soon]
    assert "unfinished" in late.of
    assert late.ask(hasty) != ""


def test_a_trial_of_which_nothing_is_known_exercises_nothing() -> None:
    unfinished = Trial(cut().unfinished())

    doubt = first_doubt(unfinished, ("trial", "settling"))
    assert doubt is not None
    assert (doubt.why, doubt.leaves) == ("the trial was not recorded to its end", Outcome.NOT_EXERCISED)
