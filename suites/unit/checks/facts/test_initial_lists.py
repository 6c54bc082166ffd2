"""Which first lists of a life are under way."""

from dataclasses import replace

import pytest

from staleproof.checks.facts.initial_lists import initial_lists, is_held_up
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Asked, Delivered, Entry, Listed, Opened, Refused, RequestId, Started, StreamId
from staleproof.core.history.resource_version import Revision

from ..script import RESTART, SLOW_PODS, Script, trial

ASKED = Asked(at=0, request=RequestId(1), client="c", verb="list", resource="pods")
WATCH_LIST = Opened(at=0, stream=StreamId(7), client="c", resource="pods", watch_list=True)
BEGUN = (
    (ASKED,),
    (WATCH_LIST,),
    (Refused(at=0, client="c", resource="pods", watch_list=True, code=422),),
    (ASKED, Listed(at=0, request=RequestId(1), client="c", resource="pods", revision=Revision(1), more=True)),
)
COMPLETE = (
    (ASKED, Listed(at=0, request=RequestId(1), client="c", resource="pods", revision=Revision(1))),
    (WATCH_LIST, Delivered(at=0, stream=StreamId(7), type="BOOKMARK", revision=Revision(1), initial_end=True)),
    (Opened(at=0, stream=StreamId(7), client="c", resource="pods", start="5"),),
    (Opened(at=0, stream=StreamId(7), client="c", resource="pods", watch_list=True, since=Revision(5)),),
)


def pods(*entries: Entry, resource: str = "pods") -> str:
    """How far the first list of a resource has come."""
    lists, end = initial_lists(Trial(replace(trial().unfinished(), entries=entries))), len(entries)
    under_way, complete = lists.is_under_way(resource, before=end), lists.is_complete(resource, before=end)
    assert not (under_way and complete)
    return "under way" if under_way else "complete" if complete else "not begun"


@pytest.mark.parametrize("entries", BEGUN)
def test_what_was_begun_is_under_way(entries: tuple[Entry, ...]) -> None:
    assert pods(*entries) == "under way"


@pytest.mark.parametrize("entries", COMPLETE)
def test_until_it_is_complete_in_this_life(entries: tuple[Entry, ...]) -> None:
    again = Started(at=1, life=2)

    assert [pods(*entries), pods(*entries, ASKED)] == ["complete", "complete"]
    assert [pods(*entries, again), pods(*entries, again, ASKED)] == ["not begun", "under way"]


def test_what_was_never_asked_for_is_neither() -> None:
    assert pods(ASKED, resource="secrets") == "not begun"


def restarted() -> Script:
    return Script(RESTART, SLOW_PODS).dies().lives_again(slow=("pods",))


HELD_UP = {
    "a fault keeps it": (restarted().fires(1), True),
    "no fault has fired": (restarted(), False),
    "it fired in the life before": (Script(RESTART, SLOW_PODS).fires(1).dies().lives_again(slow=("pods",)), False),
    "another fault has fired": (restarted().fires(0), False),
    "it has arrived": (restarted().fires(1).first_list_arrives("pods"), False),
}


@pytest.mark.parametrize(("script", "expected"), HELD_UP.values(), ids=HELD_UP)
def test_whether_a_fault_holds_it_up(script: Script, expected: bool) -> None:  # noqa: FBT001
    assert is_held_up(Trial(script.unfinished()), "pods", before=len(script.entries)) is expected
