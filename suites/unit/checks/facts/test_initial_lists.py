"""Which first lists of a life are under way."""

import pytest

from staleproof.checks.facts.initial_lists import InitialLists
from staleproof.core.entry import Asked, Delivered, Entry, Listed, Opened, Refused, Started

ASKED = Asked(at=0, request=1, client="c", verb="list", resource="pods")
WATCH_LIST = Opened(at=0, stream=7, client="c", resource="pods", watch_list=True)
BEGUN = (
    (ASKED,),
    (WATCH_LIST,),
    (Refused(at=0, client="c", resource="pods", watch_list=True, code=422),),
    (ASKED, Listed(at=0, request=1, client="c", resource="pods", revision=1, more=True)),
)
COMPLETE = (
    (ASKED, Listed(at=0, request=1, client="c", resource="pods", revision=1)),
    (WATCH_LIST, Delivered(at=0, stream=7, type="BOOKMARK", revision=1, initial_end=True)),
    (Opened(at=0, stream=7, client="c", resource="pods", start="5"),),
    (Opened(at=0, stream=7, client="c", resource="pods", watch_list=True, since=5),),
)


def after(*entries: Entry) -> InitialLists:
    lists = InitialLists()
    for index, entry in enumerate(entries):
        lists.advance(index, entry)
    return lists


@pytest.mark.parametrize("entries", BEGUN)
def test_what_was_begun_is_under_way(entries: tuple[Entry, ...]) -> None:
    assert after(*entries).is_under_way("pods")
    assert not after(*entries).is_complete("pods")


@pytest.mark.parametrize("entries", COMPLETE)
def test_until_it_is_complete(entries: tuple[Entry, ...]) -> None:
    assert after(*entries).is_complete("pods")
    assert not after(*entries, ASKED).is_under_way("pods")


def test_what_was_never_asked_for_is_neither() -> None:
    assert not after(ASKED).is_under_way("secrets")
    assert not after(ASKED).is_complete("secrets")


@pytest.mark.parametrize("entries", COMPLETE)
def test_a_new_life_begins_again(entries: tuple[Entry, ...]) -> None:
    assert not after(*entries, Started(at=1, life=2)).is_complete("pods")
    assert after(*entries, Started(at=1, life=2), ASKED).is_under_way("pods")
