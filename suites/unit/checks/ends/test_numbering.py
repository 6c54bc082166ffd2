"""What is kept of earlier states is numbered: the order counts, and not how high the numbers are."""

import pytest

from staleproof.checks.ends.convergence import certain_difference
from staleproof.checks.trial import Trial

from ..script import Script, beside

KEPT = "configmaps"
USUAL = (("a", 1), ("b", 2), ("a", 3))


def kept(script: Script, *given: tuple[str, int], says: str = "revision") -> Script:
    """The state of each of these names is given this number, one after the other."""
    script.step(1, "apply").applied("w", spec=1)
    made = set[str]()
    for name, number in given:
        if name in made:
            script.updates(f"w-{name}", KEPT, subresource="", spec={says: number})
        else:
            script.creates(f"w-{name}", resource=KEPT, generated="", spec={says: number})
        made.add(name)
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def ended(*given: tuple[str, int], usual: tuple[tuple[str, int], ...] = USUAL) -> Trial:
    return beside(kept(Script(), *given).released().passes(300), lambda script: kept(script, *usual))


def difference(trial: Trial) -> str:
    return certain_difference(trial, trial.unwoken)


@pytest.mark.parametrize("given", [(*USUAL, ("b", 4), ("a", 5)), USUAL], ids=["numbered again", "numbered as ever"])
def test_what_is_numbered_again_in_the_same_order_is_as_good(given: tuple[tuple[str, int], ...]) -> None:
    assert not difference(ended(*given))


@pytest.mark.parametrize(
    "given",
    [
        (("a", 1), ("b", 2)),
        (*USUAL, ("b", 4)),
        (*USUAL, ("b", 5), ("a", 7)),
    ],
    ids=["the newest is the other", "another is the newest in the end", "what is not numbered one by one"],
)
def test_another_order_or_another_number_is_a_difference(given: tuple[tuple[str, int], ...]) -> None:
    assert difference(ended(*given))


def test_one_number_alone_orders_nothing() -> None:
    assert difference(ended(("a", 1), ("a", 2), usual=(("a", 1),)))
