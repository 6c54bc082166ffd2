"""Content that a write of the controller returned to an earlier value."""

import pytest

from staleproof.checks.deeds.reverts import own_reverts, reverts
from staleproof.checks.trial import Trial

from ..script import Script, trial


def settings(script: Script, *values: int | None) -> Script:
    """The controller writes these, one after the other; None: the path is not there."""
    data: list[dict[str, object]] = [{"k": "same"} | ({} if value is None else {"n": value}) for value in values]
    script.applied("w").creates("s", resource="configmaps", generated="", data=data[0])
    for each in data[1:]:
        script.updates("s", "configmaps", subresource="", data=each)
    return script


def with_status(script: Script, *values: int) -> Script:
    for value in values:
        script.updates("w", status=value)
    return script


Reverts = list[tuple[str, object, object]]
"""path, value that was overwritten, value that came back"""
BACK: Reverts = [("data.n", 2, 1)]
CASES: dict[str, tuple[Script, Reverts]] = {
    "a value that comes back": (settings(trial(), 1, 2, 1), BACK),
    "a path that comes and goes is a value, too": (settings(trial(), None, 1, None), [("data.n", 1, "<not set>")]),
    "going on": (settings(trial(), 1, 2, 3), []),
    "writing the same again": (settings(trial(), 1, 1, 1), []),
    "a status does not count": (with_status(trial().applied("w"), 1, 2, 1), []),
}


@pytest.mark.parametrize(("script", "expected"), CASES.values(), ids=CASES)
def test_what_was_returned(script: Script, expected: Reverts) -> None:
    found = own_reverts(Trial(script.ends()))

    assert [(back.path, back.overwritten.value(back.path), back.value) for back in found] == expected


def test_what_others_write_back_is_theirs() -> None:
    trial_ = Trial(settings(trial(), 1, 2).applied("s", "configmaps", data={"n": 1, "k": "same"}).ends())

    assert [back.field[1] for back in reverts(trial_)] == ["data.n"]
    assert not own_reverts(trial_)
