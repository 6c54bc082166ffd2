"""What is made and removed over and over."""

import pytest

from staleproof.checks.deeds.rounds import most_rounds, rounds
from staleproof.checks.trial import Trial

from ..script import Script, trial


def began() -> Script:
    return trial().step(1, "apply").applied("w")


def over_and_over(script: Script, times: int) -> Script:
    for number in range(times):
        script.creates(f"r-{number}", generated="r-").deletes(f"r-{number}")
    return script


def sizes(script: Script) -> list[int]:
    return [len(each.objects) for each in rounds(Trial(script.ends()))]


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (over_and_over(began(), 4), [4]),
        (began().creates("a", "b", "c").deletes("a", "b", "c"), [1]),
        (began().creates("a", "b", "c"), []),
        (began().creates("a").removed("a").creates("b").removed("b"), []),
        (began().creates("a").idle(1).step(2, "touch").deletes("a"), []),
        (began().rejected().rejected().rejected(), []),
    ],
    ids=["one after the other", "at the same time", "never removed", "removed by others", "in another step", "rejected creates"],
)
def test_one_round_follows_another(script: Script, found: list[int]) -> None:
    assert sizes(script) == found


def test_the_rounds_of_all_steps_are_what_is_usual() -> None:
    script = over_and_over(over_and_over(began(), 2).idle(1).step(2, "touch"), 3)

    assert list(most_rounds(Trial(script.ends())).values()) == [5]


def test_it_goes_on_as_long_as_nothing_shows_that_it_has_come_to_an_end() -> None:
    over = Trial(over_and_over(began(), 4).rests(20).ends())
    lasting = Trial(over_and_over(began().released(), 4).settled(ok=False).ends())

    assert [each.goes_on(over) for each in rounds(over)] == [False]
    assert [each.goes_on(lasting) for each in rounds(lasting)] == [True]
    assert rounds(over)[0].kind == "pod of widget/w"
    assert rounds(over)[0].seconds(over) > 0
