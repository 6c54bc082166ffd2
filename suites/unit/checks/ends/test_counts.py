"""Which numbers of a status are counts, and whether they are right."""

from typing import Any

import pytest

from staleproof.checks.ends.counts import Number, counts, miscounts, uncounted
from staleproof.checks.trial import Trial

from ..script import WIDGETS, Script, beside, trial

RUNNING: dict[str, Any] = {"status": {"phase": "Running"}}
REPLICAS = Number(WIDGETS, "status.replicas")


def grown(script: Script, *, up_to: int = 3, last: int | None = None, **more: Any) -> Script:  # noqa: ANN401  # JSON
    """One pod more in each step, counted in the status; `last`: what is said in the end."""
    for number in range(1, up_to + 1):
        said = last if last is not None and number == up_to else number
        script.step(number, "scale").wants(number).creates(f"w-{number}", **RUNNING).says(replicas=said, **more).idle(number)
    return script


def two(script: Script) -> Script:
    return grown(script, up_to=2)


def found(trial: Trial) -> list[tuple[str, int | None, int]]:
    return [(each.number.path, each.said, each.found) for each in miscounts(trial, len(trial.entries))]


@pytest.mark.parametrize(
    ("script", "wrong"),
    [
        (grown(trial()), []),
        (grown(trial(), last=2), [("status.replicas", 2, 3)]),
        (grown(trial()).deletes("w-1").says(replicas=2), []),
        (grown(trial()).deletes("w-1"), []),  # what was wanted is three, which it may only repeat
        (grown(trial()).updates("w", status={}), [("status.replicas", None, 3)]),
        (grown(trial()).applied("w-1", "pods", status={"phase": "Failed"}).says(replicas=2), []),
        (grown(trial(), last=2).terminating("w", WIDGETS), []),
    ],
    ids=["right", "as it was", "of what is left", "what was wanted", "nothing", "some are not alike", "a primary that is leaving"],
)
def test_a_count_is_held_against_what_is_there(script: Script, wrong: list[tuple[str, int | None, int]]) -> None:
    assert found(beside(script, grown)) == wrong


def test_two_values_may_be_alike_by_chance() -> None:
    compared = beside(grown(trial(), last=7), two)

    assert counts(compared) == {}
    assert uncounted(compared) == [REPLICAS]
    assert found(compared) == []


def test_a_number_that_fits_nothing_is_none() -> None:
    def attempts(script: Script) -> Script:
        return grown(script, tries=5)

    compared = beside(grown(trial(), tries=9), attempts)

    assert list(counts(compared)) == [REPLICAS]
    assert uncounted(compared) == [Number(WIDGETS, "status.tries")]


def test_what_it_counts_is_reported_by_the_simplest_of_what_it_may_be() -> None:
    [wrong] = miscounts(beside(grown(trial(), last=2), grown), 10_000)

    assert wrong.there == "of pods there are 3"
    assert wrong.spread == 3
    assert counts(beside(grown(trial()), grown))[REPLICAS].spread == 3


def test_what_is_not_said_where_there_is_none_is_none() -> None:
    def emptied(script: Script) -> Script:
        return grown(script).step(4, "scale").wants(0).deletes("w-1", "w-2", "w-3").updates("w", status={}).idle(4)

    assert found(beside(emptied(trial()), emptied)) == []
    assert found(beside(grown(trial()).updates("w", status={}), emptied)) == [("status.replicas", None, 3)]
