"""Content that a write of the controller returned to an earlier value."""

import pytest

from staleproof.checks.facts.reverts import reverts
from staleproof.checks.trial import Trial

from ..script import Script, reference, trial


def settings(script: Script, *values: int | None) -> Script:
    """The controller writes these, one after the other; None: the path is not there."""
    data: list[dict[str, object]] = [{"k": "same"} | ({} if value is None else {"n": value}) for value in values]
    script.applied("w").creates("s", resource="configmaps", generated="", data=data[0])
    for each in data[1:]:
        script.updates("s", "configmaps", subresource="", data=each)
    return script


def usual(*values: int) -> list[Script]:
    """The second reference writes these."""
    return [settings(reference(1), 1, 2), settings(reference(2), *values)]


def with_status(script: Script, *values: int) -> Script:
    for value in values:
        script.updates("w", status=value)
    return script


Told = list[tuple[str, str, object, object]]
"""verb, path, value that was overwritten, value that came back"""
BACK: Told = [("update", "data.n", 2, 1)]
CASES: dict[str, tuple[Script, list[Script], Told]] = {
    "a value that comes back": (settings(trial(), 1, 2, 1), [], BACK),
    "no reference returned it": (settings(trial(), 1, 2, 1), usual(1, 2), BACK),
    "a path that comes and goes is a value, too": (settings(trial(), None, 1, None), [], [("update", "data.n", 1, "<not set>")]),
    "going on": (settings(trial(), 1, 2, 3), [], []),
    "writing the same again": (settings(trial(), 1, 1, 1), [], []),
    "what others write back is theirs": (settings(trial(), 1, 2).applied("s", "configmaps", data={"n": 1, "k": "same"}), [], []),
    "a status does not count": (with_status(trial().applied("w"), 1, 2, 1), [], []),
    "a reference returned it, too": (settings(trial(), 1, 2, 1), usual(1, 2, 1), []),
}


@pytest.mark.parametrize(("script", "references", "told"), CASES.values(), ids=CASES)
def test_what_was_returned(script: Script, references: list[Script], told: Told) -> None:
    found = reverts(Trial(script.ends(), tuple(each.ends() for each in references))).values()

    assert [(back.request.asked.verb, back.path, back.overwritten.value(back.path), back.value) for back in found] == told
