"""Whose work it is: also what was executed and never heard of, and in which life."""

from staleproof.checks.facts.own_work import Lives, own_work

from staleproof.checks.trial import Trial
from staleproof.core.fault import Kill

from ..life_script import LifeScript, losing
from ..script import Script


def evidence(script: Script) -> Trial:
    return Trial(script.ends(), ())


def test_what_it_was_told_it_did_is_its_own_and_what_others_did_is_not() -> None:
    script = LifeScript(losing()).step(1, "apply").applied("w").creates("w-a", "w-b").made("w-c").deletes("w-a").removed("w-c")
    work = own_work(evidence(script))

    assert set(work.creates) == {"ns-uid-2", "ns-uid-3"}
    assert set(work.deletes) == {"ns-uid-2"}
    assert not work.lost


def test_a_write_whose_answer_was_lost_is_its_own_too() -> None:
    script = LifeScript(losing()).step(1, "apply").applied("w")
    script.creates("w-a").loses_the_answer().deletes("w-a").loses_the_answer()
    work = own_work(evidence(script))

    assert set(work.creates) == set(work.deletes) == {"ns-uid-2"}
    assert [request.asked.verb for request in work.lost.values()] == ["create", "delete"]


def test_the_answer_to_one_that_was_killed_over_it_is_not_lost_on_anybody() -> None:
    script = LifeScript(Kill(resource="pods")).step(1, "apply").applied("w").creates("w-a").loses_the_answer()
    work = own_work(evidence(script))

    assert set(work.creates) == {"ns-uid-2"}
    assert not work.lost


def test_what_was_refused_or_never_executed_was_not_done() -> None:
    script = LifeScript(losing()).step(1, "apply").applied("w").creates("w-a").refused("create", "w-a", "AlreadyExists")
    work = own_work(evidence(script))

    assert set(work.creates) == {"ns-uid-2"}


def test_each_position_belongs_to_a_life() -> None:
    script = LifeScript(losing()).applied("w").dies()
    before = len(script.entries)
    script.lives_again()
    lives = Lives(script.entries)

    assert (lives.at(0), lives.at(before - 1), lives.at(before), lives.at(len(script.entries))) == (0, 0, 1, 1)
    assert lives.began(before + 1) == before
    assert (Lives(()).at(3), Lives(()).began(3)) == (0, 0)
