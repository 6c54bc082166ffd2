"""What a status says by type: where it can be compared, and what is a history."""

from typing import Any

import pytest

from staleproof.checks.ends.conditions import histories, is_history, misreports, otherwise, types
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, beside, trial

Condition = dict[str, Any]


def ready(status: str = "True", **fields: Any) -> Condition:  # noqa: ANN401  # JSON
    return {"type": "Ready", "status": status, **fields}


def says(script: Script, *conditions: Condition, pods: int = 1, **status: Any) -> Script:  # noqa: ANN401  # JSON
    """Pods, and a status that was another before, as conditions by type are."""
    script.step(1, "apply").wants(1).says(conditions=[ready("Unknown")])
    script.creates(*(f"w-{number}" for number in range(pods)), generated="")
    return script.updates("w", status={"conditions": list(conditions), **status}).idle(1)


def well(script: Script) -> Script:
    return says(script, ready(), phase="Running", ready=True)


def found(trial: Trial) -> list[str]:
    return [each.text for each in misreports(trial, len(trial.entries))]


@pytest.mark.parametrize(
    ("script", "wrong"),
    [
        (well(trial()), ""),
        (says(trial(), ready("False"), phase="Running", ready=True), "status.conditions[Ready].status is 'False'"),
        (says(trial(), phase="Running", ready=True), "status.conditions[Ready].status is <not set>"),
        (says(trial(), ready(), phase="Failed", ready=True), "status.phase is 'Failed'"),
        (says(trial(), ready(), phase="Running", ready=False), "status.ready is False"),
        (says(trial(), ready(reason="X", message="Y"), phase="Running", ready=True, lastAction="made"), ""),
        (says(trial(), ready(), {"type": "Failed", "status": "True"}, phase="Running", ready=True), ""),
        (says(trial(), ready("False"), phase="Running", ready=True, pods=2), ""),
    ],
    ids=["the same", "a condition", "none", "a phase", "ready", "reasons and words", "a type of its own", "of something else"],
)
def test_what_is_said_by_type_is_compared_where_there_is_the_same_to_report_on(script: Script, wrong: str) -> None:
    texts = found(beside(script, well))

    assert len(texts) == bool(wrong)
    assert all(text.startswith(f"widget/w: {wrong}, fault-free runs ended with") for text in texts)


def test_it_tells_what_else_there_is() -> None:
    assert otherwise(beside(well(trial()), well), 10_000) == ""
    other = beside(says(trial(), ready("False"), pods=2), well)
    assert otherwise(other, len(other.entries)) == "1 pod of widget/w, fault-free runs ended with 0"


def test_the_status_of_what_others_report_is_part_of_what_it_reports_on() -> None:
    sick = well(trial()).applied("w-0", "pods", status={"phase": "Failed"}).says(conditions=[ready("False")])
    compared = beside(sick, lambda script: well(script).applied("w-0", "pods", status={"phase": "Running"}))

    assert "status.phase is 'Failed'" in otherwise(compared, len(compared.entries))
    assert found(compared) == []


@pytest.mark.parametrize(
    ("objects", "is_one"),
    [
        ([[[ready()]]], False),
        ([[[ready("False")], [ready()]]], False),
        ([[[ready()], [ready(), {"type": "Failed"}]]], True),
        ([[[ready()], [{"type": "Failed"}, ready()]]], True),
        ([[[ready(), ready()]]], True),
        ([[[ready()], [ready(), {"type": "Failed"}]], [[ready("False")], [ready()]]], False),
        ([[[], [ready()]]], False),
        ([], False),
    ],
    ids=["one", "changed", "appended", "put before", "twice", "elsewhere changed", "first", "none"],
)
def test_a_list_that_only_grows_or_holds_a_type_twice_is_a_history(objects: list[list[list[Condition]]], *, is_one: bool) -> None:
    assert is_history(objects) is is_one


def test_a_history_is_compared_with_nothing() -> None:
    def once(script: Script) -> Script:
        return script.step(1, "apply").wants(1).creates("w-0").says(conditions=[ready()]).idle(1)

    script = once(trial()).says(conditions=[ready(), {"type": "Failed", "status": "True"}])
    compared = beside(script, once)

    assert histories(compared) == {WIDGETS}
    assert types(compared).fields == {}
    assert found(compared) == []
