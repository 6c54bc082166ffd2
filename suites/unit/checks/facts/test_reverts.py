"""Content that a write of the controller returned to an earlier value."""

import pytest

from staleproof.checks.facts.reverts import Revert, reverts
from staleproof.checks.trial import Trial

from ..script import Script, reference, trial


def sets(script: Script, **data: object) -> Script:
    return script.updates("s", "configmaps", subresource="", data=data)


def settings(script: Script, *values: int | None) -> Script:
    """The controller writes these, one after the other; None: the path is not there."""
    data: list[dict[str, object]] = [{"k": "same"} | ({} if value is None else {"n": value}) for value in values]
    script.applied("w").creates("s", resource="configmaps", generated="", data=data[0])
    for each in data[1:]:
        sets(script, **each)
    return script


def found(script: Script, *references: Script) -> list[Revert]:
    return list(reverts(Trial(script.ends(), tuple(each.ends() for each in references))).values())


def usual(*values: int) -> list[Script]:
    """The second reference writes these."""
    return [settings(reference(1), 1, 2), settings(reference(2), *values)]


RETURNED = {
    "a value that comes back": found(settings(trial(), 1, 2, 1)),
    "no reference returned it": found(settings(trial(), 1, 2, 1), *usual(1, 2)),
}
NOT_RETURNED = {
    "going on": found(settings(trial(), 1, 2, 3)),
    "writing the same again": found(settings(trial(), 1, 1, 1)),
    "what others write back is theirs": found(settings(trial(), 1, 2).applied("s", "configmaps", data={"n": 1, "k": "same"})),
    "a status does not count": found(trial().applied("w").updates("w", status=1).updates("w", status=2).updates("w", status=1)),
    "a reference returned it, too": found(settings(trial(), 1, 2, 1), *usual(1, 2, 1)),
}


@pytest.mark.parametrize("backs", RETURNED.values(), ids=RETURNED)
def test_it_is_told_with_what_it_replaced(backs: list[Revert]) -> None:
    (back,) = backs

    assert (back.path, back.overwritten.value(back.path), back.value) == ("data.n", 2, 1)
    assert back.request.asked.verb == "update"


def test_a_path_that_comes_and_goes_is_a_value_too() -> None:
    (back,) = found(settings(trial(), None, 1, None))

    assert back.value == "<not set>"


@pytest.mark.parametrize("backs", NOT_RETURNED.values(), ids=NOT_RETURNED)
def test_nothing_was_returned(backs: list[Revert]) -> None:
    assert not backs
