"""Creates beyond what any reference had by the same step."""

from staleproof.checks.facts.overdone import Overdone, overdone
from staleproof.checks.facts.own_work import own_work

from staleproof.checks.trial import Trial

from ..life_script import AnyScript, LifeScript, losing
from ..script import HOLD, Script, reference


def scaled(script: AnyScript) -> AnyScript:
    """Two pods, then three of them."""
    script.step(1, "apply").applied("w", spec=2).creates("w-a", "w-b").idle(1)
    return script.step(2, "scale").applied("w", spec=3).creates("w-c").idle(2)


def found(script: Script) -> list[Overdone]:
    evidence = Trial(script.ends(), (scaled(reference(1)).ends(), scaled(reference(2)).ends()))
    return list(overdone(evidence, own_work(evidence)).values())


def test_the_third_of_two_is_one_too_many_although_there_will_be_three() -> None:
    (create,) = found(LifeScript(HOLD).step(1, "apply").applied("w", spec=2).creates("w-a", "w-b", "w-c"))

    assert (create.child.named.name, create.live, create.most) == ("w-c", 3, 2)


def test_what_comes_late_is_not_too_much() -> None:
    script = LifeScript(HOLD).step(1, "apply").applied("w", spec=2).step(2, "scale").applied("w", spec=3)

    assert not found(script.creates("w-a", "w-b", "w-c"))


def test_what_others_create_is_theirs_and_what_was_never_heard_of_is_its_own() -> None:
    assert not found(scaled(LifeScript(HOLD)).made("w-d"))
    assert found(scaled(LifeScript(losing())).creates("w-d").loses_the_answer())


def test_enough_others_explain_it() -> None:
    (create,) = found(scaled(LifeScript(HOLD)).creates("w-d"))

    assert create.is_explained_by([create.child])
    assert not create.is_explained_by([])
