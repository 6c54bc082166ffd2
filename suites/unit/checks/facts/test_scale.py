"""Whether a controller kept more than it was asked for, without any fault."""

import pytest

from staleproof.checks.facts.scale import beyond_scale
from staleproof.checks.trial import Trial

from ..script import Script, trial

PATH = ("spec",)


def keeps(*steps: tuple[int, int]) -> Script:
    """In each step so many pods are asked for, and there are so many in the end."""
    script, there = trial(), 0
    for number, (wanted, live) in enumerate(steps, 1):
        script.step(number, "scale").wants(wanted)
        for pod in range(there, live):
            script.creates(f"p{pod}")
        for pod in range(live, there):
            script.deletes(f"p{pod}")
        script.idle(number)
        there = live
    return script


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (((3, 3), (4, 5), (2, 2)), "5 pods where spec was 4 (1 of 1 times), and otherwise as many as asked for (2 of 3 times)"),
        (((3, 3), (4, 4), (2, 2)), ""),
        (((3, 4), (4, 5), (2, 3)), ""),  # one of them leads the others
        (((3, 3), (4, 4), (2, 1)), ""),
        (((1, 3), (3, 3), (2, 3)), ""),  # it never has less than three
    ],
    ids=["one too many", "as many as asked for", "one more, always", "fewer", "as many as asked for by chance"],
)
def test_more_than_asked_for_is_reported_where_the_number_is_that_otherwise(steps: tuple[tuple[int, int], ...], words: str) -> None:
    found = beyond_scale([Trial(keeps(*steps).ends())], PATH)
    assert found.startswith(words) if words else not found


def test_once_in_a_while_is_reported_with_how_often() -> None:
    right, wrong = ((3, 3), (4, 4), (2, 2)), ((3, 3), (4, 5), (2, 2))
    found = beyond_scale([Trial(keeps(*steps).ends()) for steps in (right, wrong, right)], PATH)
    assert found == "5 pods where spec was 4 (1 of 3 times), and otherwise as many as asked for (8 of 9 times)"


def test_a_primary_without_such_a_number_asks_for_none() -> None:
    assert beyond_scale([Trial(keeps((3, 3), (4, 5), (2, 2)).ends())], ("spec", "replicas")) == ""
