"""Which exits of the controller are deaths, and which a supervisor has to put up with."""

import pytest

from staleproof.checks.ends.exits import code_of, deaths, given_restarts, last_words, lost_its_lease
from staleproof.checks.trial import Trial
from staleproof.core.fault import Refuse, Reject
from staleproof.core.history.entry import Exited

from ..script import RESTART, Script

PANIC = ("ready", "panic: assignment to entry in nil map", "", "goroutine 1 [running]:", "main.main()", "")


def exited(*log: str, unrenewed: float | None = None, renews_every: float | None = None) -> Exited:
    return Exited(at=1.0, life=1, code=1, log=log, unrenewed=unrenewed, renews_every=renews_every)


@pytest.mark.parametrize(
    "line",
    [
        "E0101 00:00:00.000000 1 leaderelection.go:429] Failed to renew lease default/x: context deadline exceeded",
        'F0101 00:00:00.000000 1 controllermanager.go:344] "leaderelection lost"',
        "leader election lost",
        "2026-01-01T00:00:00Z ERROR setup problem running manager {error: leader election lost}",
        "Lost leadership, exiting",
        "I am no longer the leader",
        "the lease default/x has expired",
    ],
)
def test_a_controller_that_lost_its_lease_says_so(line: str) -> None:
    assert lost_its_lease(exited("something", line, "exit"))


@pytest.mark.parametrize(
    "line",
    ["", "panic: runtime error", "release expired nothing", "starting leader election", "successfully acquired lease default/x"],
)
def test_another_last_line_does_not_say_so(line: str) -> None:
    assert not lost_its_lease(exited(line))


def test_what_is_known_of_an_exit_besides_the_code() -> None:
    assert code_of(exited()) == "code 1"
    assert code_of(Exited(at=1.0, life=1, code=137, reason="killed because its memory ran out")) == (
        "code 137, killed because its memory ran out"
    )


@pytest.mark.parametrize(
    ("unrenewed", "every", "lost"),
    [(4.1, 2.0, True), (2.5, 2.0, False), (None, None, False), (30.0, None, False)],
)
def test_a_lease_that_is_long_overdue_is_lost(unrenewed: float | None, every: float | None, *, lost: bool) -> None:
    assert lost_its_lease(exited(unrenewed=unrenewed, renews_every=every)) is lost


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (PANIC, "panic: assignment to entry in nil map"),
        (("Traceback", "  File x", "KeyError: 'uid'", ""), "KeyError: 'uid'"),
        ((), ""),
        (("", " "), ""),
    ],
)
def test_its_last_words_are_those_that_say_why(log: tuple[str, ...], words: str) -> None:
    assert last_words(exited(*log)) == words


def restarted(*faults: Reject) -> Script:
    return Script(*(faults or (RESTART,))).pair().dies().lives_again()


def dies(script: Script) -> Script:
    return script.adds(Exited, life=2, code=1)


def turned_away() -> Script:
    """Its new life cannot connect."""
    script = Script(Refuse()).pair().dies().opens().fires().adds(Exited, life=1, code=1)
    script._lives()
    return dies(script)


TRIALS: dict[str, tuple[Script, int, int]] = {
    "it never exited": (restarted(), 0, 0),
    "it died": (Script().pair().adds(Exited, life=1, code=2), 1, 0),
    "it died in a new life": (dies(restarted()), 1, 0),
    "a fault turned the new life away": (dies(restarted(Reject(resource="pods")).rejected("list", "pods")), 0, 1),
    "it had already worked": (dies(restarted(Reject(resource="pods")).creates("w-9").rejected("list", "pods")), 1, 0),
    "the first life is turned away": (Script(Reject(resource="pods")).rejected("list").adds(Exited, life=1, code=1), 1, 0),
    "it cannot connect": (turned_away(), 1, 1),
    "it lost its lease": (Script().pair().adds(Exited, life=1, code=1, log=("leader election lost",)), 0, 1),
}


@pytest.mark.parametrize(("script", "dead", "given"), TRIALS.values(), ids=TRIALS)
def test_which_exits_are_deaths(script: Script, dead: int, given: int) -> None:
    trial = Trial(script.ends())
    assert (len(deaths(trial)), len(given_restarts(trial))) == (dead, given)
