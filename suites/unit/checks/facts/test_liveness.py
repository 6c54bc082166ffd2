"""Whether the references' state was reached, and whether there was time enough for that."""

import pytest

from staleproof.checks.facts.liveness import certain_difference, converged, differences, other_circumstances, too_soon
from staleproof.checks.trial import Trial
from staleproof.core.entry import Ended
from staleproof.core.fault import Reject
from staleproof.core.manifest import Manifest
from staleproof.core.step import Edit

from ..draft import STEPS
from ..rule_cases import ONE_POD
from ..script import RESTART, SEVER, WIDGETS, Script, beside, pair_renewed


def slow(script: Script) -> Script:
    return script.pair(pause=5.0)


def slower(script: Script) -> Script:
    return script.pair(pause=7.0)


def third(script: Script) -> Script:
    return script.pair(3)


def cut(times: int = 1) -> Script:
    """One pod of two, and so many losses of the pods' watch before that."""
    return Script(SEVER).opens().flaps(times).pair(1)


def right_later() -> Script:
    script = Script(SEVER).step(1, "apply").applied("w", spec=2).creates("w-0").updates("w", status={"ready": 2})
    return script.released().settled().creates("w-1")


@pytest.mark.parametrize(
    ("script", "is_right"),
    [
        (Script(SEVER).pair(), True),
        (right_later(), True),
        (Script(SEVER).pair().released().settled().creates("w-2"), True),
        (cut().stuck(), False),
        (Script(SEVER).pair().adds(Ended), False),
    ],
    ids=["at the settling", "later", "and no more", "never", "never settled"],
)
def test_it_was_right_at_the_end_of_the_settling_or_of_all(script: Script, *, is_right: bool) -> None:
    assert converged(beside(script)) is is_right


def test_what_the_references_do_not_agree_on_is_no_certain_difference() -> None:
    trial = beside(cut().stuck(), Script.pair, third)
    end = len(trial.entries)

    assert [(each.text, each.unstable) for each in differences(trial, end)][:1] == [
        ("1 pod of widget/w, fault-free runs ended with 2 to 3", True)
    ]
    assert certain_difference(trial, end) == ""
    assert certain_difference(beside(cut().stuck()), end) == ONE_POD


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


def test_the_steps_may_come_to_something_else_than_in_the_references() -> None:
    assert other_circumstances(beside(cut())) == ""
    assert other_circumstances(beside(cut(), pair_renewed, Script.pair)) == ""
    assert other_circumstances(beside(cut(), pair_renewed)) == (
        f"the workload created {WIDGETS}/w 1 times and 2 times in fault-free runs"
    )


@pytest.mark.parametrize("patch", [{"metadata": {"labels": None}}, {"spec": {"nodeName": "n"}}], ids=["set aside", "edited"])
@pytest.mark.parametrize("is_restarted", [True, False], ids=["restarted", "one life"])
def test_a_new_life_need_not_know_of_a_child_that_somebody_set_aside(patch: Manifest, *, is_restarted: bool) -> None:
    script = Script(RESTART, steps=(*STEPS, Edit(resource="pods", patch=patch))).pair()
    trial = beside(script.restarted() if is_restarted else script)

    excused = "somebody set one of its children aside, which a life that began later need not know of"
    assert other_circumstances(trial) == (excused if is_restarted and "metadata" in patch else "")
