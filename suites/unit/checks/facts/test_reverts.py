"""Content that a write of the controller returned to an earlier value."""

from staleproof.checks.facts.reverts import WrittenBack, written_back
from staleproof.checks.trial import Trial

from ..script import Script, reference, trial


def settings(script: Script, *values: int) -> Script:
    """The controller writes these, one after the other."""
    script.applied("w").creates("s", resource="configmaps", generated="", data={"n": values[0], "k": "same"})
    for value in values[1:]:
        script.updates("s", "configmaps", subresource="", data={"n": value, "k": "same"})
    return script


def found(script: Script, *references: Script) -> list[WrittenBack]:
    return list(written_back(Trial(script.ends(), tuple(each.ends() for each in references))).values())


def test_a_value_that_comes_back_is_told_with_what_it_replaced() -> None:
    (back,) = found(settings(trial(), 1, 2, 1))

    assert (back.path, back.overwritten.value(back.path), back.value) == ("data.n", 2, 1)
    assert back.request.asked.verb == "update"


def test_a_path_that_comes_and_goes_is_a_value_too() -> None:
    script = trial().applied("w").creates("s", resource="configmaps", generated="", data={})
    script.updates("s", "configmaps", subresource="", data={"n": 1}).updates("s", "configmaps", subresource="", data={})
    (back,) = found(script)

    assert back.value == "<not set>"


def test_going_on_is_not_going_back() -> None:
    assert not found(settings(trial(), 1, 2, 3))
    assert not found(settings(trial(), 1, 1, 1))


def test_what_others_write_back_is_theirs() -> None:
    script = settings(trial(), 1, 2).applied("s", "configmaps", data={"n": 1, "k": "same"})

    assert not found(script)


def test_a_status_does_not_count() -> None:
    script = trial().applied("w").updates("w", status=1).updates("w", status=2).updates("w", status=1)

    assert not found(script)


def test_what_a_reference_returned_is_usual() -> None:
    assert found(settings(trial(), 1, 2, 1), settings(reference(1), 1, 2), settings(reference(2), 1, 2))
    assert not found(settings(trial(), 1, 2, 1), settings(reference(1), 1, 2), settings(reference(2), 1, 2, 1))
