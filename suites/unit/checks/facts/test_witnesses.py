"""Which entries tell the story."""

from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.witnesses import context, inherited
from staleproof.checks.trial import Trial
from staleproof.core.history.history import History

from ..script import WIDGETS, trial


def kinds(history: History, *, before: int, write: int) -> list[str]:
    return [type(history.entries[i]).__name__ for i in context(Trial(history, ()), [before], write, write + 1)]


def position(history: History, kind: str, nth: int = 0) -> int:
    return [i for i, entry in enumerate(history.entries) if type(entry).__name__ == kind][nth]


def test_what_was_unseen_the_open_fault_the_last_look_the_write_and_its_commit() -> None:
    history = trial().applied("w").hold().creates("w-a").applied("w").creates("w-b").let_go().ends()
    answered, write = position(history, "Answered"), position(history, "Asked", 1)

    assert kinds(history, before=answered, write=write) == ["FaultOpened", "Answered", "Delivered", "Asked", "Committed"]


def test_a_list_is_a_look_and_a_closed_fault_tells_nothing() -> None:
    history = trial().applied("w").hold().creates("w-a").let_go().lists(WIDGETS).creates("w-b").ends()
    answered, write = position(history, "Answered"), position(history, "Asked", 2)

    assert kinds(history, before=answered, write=write) == ["Answered", "Listed", "Asked", "Committed"]


def test_there_may_have_been_no_look() -> None:
    history = trial().made("w-0", owner="").creates("w-a", owner="").creates("w-b", owner="").ends()
    answered, write = position(history, "Answered"), position(history, "Asked", 1)

    assert kinds(history, before=answered, write=write) == ["Answered", "Asked", "Committed"]


def test_what_was_inherited_begins_with_the_first_answers_and_the_start_of_the_life() -> None:
    history = trial().applied("w").creates("w-a", "w-b", "w-c", "w-d", "w-e").restarted().creates("w-f").ends()
    then, write = Trial(history), position(history, "Asked", 5)
    children = [object_history(then).named("pods", f"w-{name}")[0] for name in "abcde"]
    names = [type(history.entries[i]).__name__ for i in inherited(then, children, write, write + 1)]

    assert names == ["Delivered", "Answered", "Answered", "Answered", "Started", "Asked", "Committed"]
