"""Whether the references' state was reached, and whether there was time enough for that."""

import pytest

from staleproof.checks.facts.liveness import certain_difference, converged, differences, other_workload, too_soon, usual_pauses
from staleproof.checks.trial import Trial
from staleproof.core.entry import Ended
from staleproof.core.fault import SeverStream
from staleproof.core.history import History

from ..rule_cases import ONE_POD
from ..script import WIDGETS, Script, two_references

SEVER = SeverStream(resource="pods")


def slow(number: int, seconds: float = 5.0) -> History:
    script = Script(namespace=f"ref-{number}").step(1, "apply").applied("w", spec=2).creates("w-0").passes(seconds)
    return script.creates("w-1").updates("w", status={"ready": 2}).ends()


def recreated(number: int) -> History:
    script = Script(namespace=f"ref-{number}").pair().step(2, "recreate").removed("w", WIDGETS).deletes("w-0", "w-1")
    return script.applied("w", spec=2).ends()


def of(script: Script, *references: History) -> Trial:
    return Trial(script.ends(), references or two_references())


def cut(times: int = 1) -> Script:
    """One pod of two, and so many losses of the pods' watch before that."""
    script = Script(SEVER).opens()
    for _ in range(times):
        script.ended().watches()
    return script.pair(1)


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
    assert converged(of(script)) is is_right


def test_what_the_references_do_not_agree_on_is_no_certain_difference() -> None:
    first, _ = two_references()
    trial = of(cut().stuck(), first, Script(namespace="ref-3").pair(3).ends())
    end = len(trial.entries)

    assert [(each.text, each.unstable) for each in differences(trial, end)][:1] == [
        ("1 pod of widget/w, fault-free runs ended with 2 to 3", True)
    ]
    assert certain_difference(trial, end) == ""
    assert certain_difference(of(cut().stuck()), end) == ONE_POD


@pytest.mark.parametrize(
    ("trial", "why"),
    [
        (of(cut().stuck()), ""),
        (of(cut(times=2).stuck(1.0)), "it had 1.1 s to catch up, and may need 3.2 s after what was done to it"),
        (of(cut().stuck(), slow(1), slow(2)), "it had 10.1 s to catch up, and may need 15.6 s after what was done to it"),
        (of(cut().adds(Ended)), "the trial has no settling phase"),
    ],
    ids=["time enough", "a client may yet come back", "it pauses by itself", "never settled"],
)
def test_a_controller_may_need_time(trial: Trial, why: str) -> None:
    assert too_soon(trial) == why


def test_pauses_are_those_of_the_references() -> None:
    assert [round(pause, 1) for pause in usual_pauses(of(cut(), slow(1), slow(2, 7.0)))] == [5.2, 7.2]


def test_the_steps_may_come_to_something_else_than_in_the_references() -> None:
    assert other_workload(of(cut())) == ""
    assert other_workload(of(cut(), recreated(1), two_references()[1])) == ""
    assert other_workload(of(cut(), recreated(1), recreated(2))) == (
        f"the workload created {WIDGETS}/w 1 times and 2 times in fault-free runs"
    )
