"""Whether the references' state was reached."""

import pytest

from staleproof.checks.ends.convergence import certain_difference, converged, differences, owed, unneeded
from staleproof.core.history.entry import Ended

from ..rule_cases import ONE_POD
from ..script import SEVER, Script, beside


def third(script: Script) -> Script:
    return script.pair(3)


def cut(times: int = 1) -> Script:
    """One pod of two, and so many losses of the pods' watch before that."""
    return Script(SEVER).opens().flaps(times).pair(1)


def right_later() -> Script:
    script = Script(SEVER).step(1, "apply").applied("w", spec=2).creates("w-0").updates("w", status={"ready": 2})
    return script.released().settled().creates("w-1")


def probed() -> Script:
    """It lacks a pod when the runner sees whether it works at all."""
    script = Script(SEVER).step(1, "apply").applied("w", spec=2).creates("w-0").updates("w", status={"ready": 2})
    return script.released().settled().applied("ns-probe", "namespaces")


@pytest.mark.parametrize(
    ("script", "is_right"),
    [
        (Script(SEVER).pair(), True),
        (right_later(), True),
        (Script(SEVER).pair().released().settled().creates("w-2"), True),
        (probed().creates("w-1"), False),
        (right_later().applied("ns-probe", "namespaces"), True),
        (cut().stuck(), False),
        (Script(SEVER).pair().adds(Ended), False),
    ],
    ids=[
        "at the settling",
        "later",
        "and no more",
        "woken by what is made elsewhere",
        "right before that",
        "never",
        "never settled",
    ],
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


def test_a_status_that_it_wrote_itself_in_the_end_was_still_owed_before() -> None:
    late = beside(right_later())
    reported = beside(Script(SEVER).pair().released().updates("w", status={"ready": 1}).updates("w", status={"ready": 2}))
    wrote = len(reported.entries) - 8

    assert owed(late, len(late.entries), len(late.entries)) == ""
    assert any("status.ready" in owed(reported, at, len(reported.entries)) for at in range(wrote, len(reported.entries)))
    assert owed(beside(cut().stuck()), 10, 10).startswith("widget/w is missing") or owed(beside(cut().stuck()), 40, 40)


def test_where_nothing_but_status_is_written_the_end_shows_nothing() -> None:
    def reports(script: Script) -> Script:
        return script.step(1, "apply").applied("w").updates("w", status={"ready": 2})

    assert unneeded(beside(reports(Script(SEVER)), reports)) == "it writes nothing but status, which honest-status judges"
    assert unneeded(beside(Script(SEVER).pair())) == ""
