"""Which own writes had not been shown at a decision."""

from typing import Literal

from staleproof.checks.facts.own_writes import OwnWrites, group_of
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial

from ..life_script import LifeScript, losing
from ..script import HOLD, WIDGETS, Script, trial


def behind(script: Script, verb: Literal["create", "delete"] = "create") -> set[str]:
    """What the controller would not have seen if it created `w-z` now."""
    history = script.creates("w-z").ends()
    evidence = Trial(history, ())
    own = OwnWrites(evidence, verb)
    last = next(child for child in evidence.population.children.values() if child.named.name == "w-z")
    assert last.creator is not None
    for index, entry in enumerate(history.entries[: last.creator.index]):
        own.advance(index, entry)
    return {child.named.name for child in own.behind(last)}


def held() -> Script:
    return trial().step(1, "apply").applied("w").hold().creates("w-a", "w-b")


def test_writes_of_the_same_decision_are_not_behind_and_those_of_earlier_ones_are() -> None:
    assert behind(held()) == set()
    assert behind(held().applied("w")) == {"w-a", "w-b"}
    assert behind(held().applied("w").creates("w-c")) == {"w-a", "w-b"}


def test_a_decision_begins_with_a_look_at_the_owner_a_write_to_it_a_step_or_a_new_life() -> None:
    both = {"w-a", "w-b"}

    assert behind(held().lists(WIDGETS)) == both
    assert behind(held().updates("w")) == both
    assert behind(held().step(2, "rest")) == both
    assert behind(held().restarted()) == both


def test_nothing_else_begins_one() -> None:
    assert behind(held().applied("other")) == set()
    assert behind(held().gets("w", WIDGETS)) == set()
    assert behind(held().asks("list", "configmaps")) == set()


def test_what_is_shown_is_not_behind_whichever_way_it_was_shown() -> None:
    assert behind(held().applied("w").let_go()) == set()
    assert behind(held().applied("w").gets("w-a")) == {"w-b"}
    assert behind(held().applied("w").lists("pods")) == set()
    assert behind(held().applied("w").lists("pods", without=("w-b",), revision=100)) == {"w-b"}


def test_what_was_deleted_is_not_behind() -> None:
    assert behind(held().applied("w").removed("w-a")) == {"w-b"}
    assert behind(held().applied("w").deletes("w-a")) == {"w-b"}
    assert behind(held().removed("w-a").applied("w").gets("w-a").restarted()) == {"w-b"}


def test_deletes_are_looked_at_together_whatever_the_names() -> None:
    assert group_of(Role("Widget/w", "pods", "w-"), "delete") == group_of(Role("Widget/w", "pods", "w-0"), "delete")
    assert group_of(Role("Widget/w", "pods", "w-"), "create") != group_of(Role("Widget/w", "pods", "w-0"), "create")


def test_a_delete_is_behind_until_its_end_is_shown() -> None:
    def deleted() -> Script:
        return trial().applied("w").creates("w-a", "w-b").hold().deletes("w-a").deletes("w-b", grace=True).applied("w")

    assert behind(deleted(), "delete") == {"w-a", "w-b"}
    assert behind(deleted().let_go(), "delete") == set()
    assert behind(deleted().gets("w-a").gets("w-b"), "delete") == set()
    assert behind(deleted().lists("pods"), "delete") == set()


def test_children_whose_owner_is_no_primary_are_decided_on_when_a_primary_is_shown() -> None:
    script = (
        trial()
        .applied("w")
        .made("rs", "replicasets.apps")
        .hold()
        .creates("w-a", owner="rs")
        .applied("w")
        .creates("w-z", owner="rs")
    )
    evidence = Trial(script.ends(), ())
    own = OwnWrites(evidence, "create")
    for index, entry in enumerate(evidence.history.entries):
        own.advance(index, entry)

    assert own.looked == {Role("ReplicaSet of Widget/w", "pods", "w-")}


def test_a_write_of_which_it_never_heard_the_end_is_none_that_it_could_have_remembered() -> None:
    script = LifeScript(losing(), HOLD).step(1, "apply").applied("w").hold(fault=1).creates("w-a").loses_the_answer()

    assert behind(script.creates("w-b").applied("w")) == {"w-b"}
