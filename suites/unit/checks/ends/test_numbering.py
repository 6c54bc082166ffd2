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


def asked(script: Script, *numbers: int, asks: tuple[int, ...] = ()) -> Script:
    """One has 1, the other what it is given; `asks`: the user's wishes for that."""
    script.step(1, "apply").applied("w", spec={"other": 2}).creates("w-a", resource=KEPT, generated="", spec={"level": 1})
    script.creates("w-b", resource=KEPT, generated="", spec={"level": 2}).idle(1).step(2, "apply")
    for number in asks:
        script.applied("w", spec={"other": number})
    for number in numbers:
        script.updates("w-b", KEPT, subresource="", spec={"level": number})
    return script.idle(2)


@pytest.mark.parametrize(
    ("given", "usual", "asks"),
    [((), (3,), (3,)), ((3,), (3, 2), (3, 2)), ((3,), (), (3,))],
    ids=["missed", "not taken back", "wished for, and not any more"],
)
def test_a_number_that_a_user_asks_for_is_no_numbering(
    given: tuple[int, ...], usual: tuple[int, ...], asks: tuple[int, ...]
) -> None:
    assert difference(
        beside(asked(Script(), *given, asks=asks).released().passes(300), lambda each: asked(each, *usual, asks=asks))
    )


def nested(script: Script, highest: int) -> Script:
    """Two sets of one Widget, each with members that have weights; those of the last set are 1 and 2."""
    script.step(1, "apply").applied("w", spec=1).creates("rs-a", "rs-b", resource="replicasets.apps", generated="")
    for name, owner, weight in (("a-x", "rs-a", 5), ("a-y", "rs-a", highest), ("b-x", "rs-b", 1), ("b-y", "rs-b", 2)):
        script.creates(name, owner=owner, generated="", spec={"weight": weight})
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def test_what_several_owners_have_is_not_numbered_together() -> None:
    assert difference(beside(nested(Script(), 77).released().passes(300), lambda each: nested(each, 9)))


def test_a_number_that_no_reference_has_is_a_difference() -> None:
    given = kept(Script(), ("a", 1), ("b", 2), says="level").released().passes(300)
    assert difference(beside(given, lambda script: kept(script, ("a", 1), ("b", 2), says="revision"))).endswith("<not set>")
