"""Which watches have yet to come back? Literal streams and lives, then the answer."""

from typing import Literal

from msgspec import structs

from staleproof.core.history.entry import Closed, FaultIndex, Opened, RequestId, Resumed, Stalled, StreamId
from staleproof.core.history.watches import Watches
from staleproof.core.times import EXPECTED_SECONDS, MISSED_SECONDS


def opened(at: float, resource: str = "pods", *, stream: int, selector: str = "", client: str = "c") -> Opened:
    return Opened(at=at, stream=StreamId(stream), client=client, resource=resource, selector=selector)


def closed(at: float, stream: int = 1, how: Literal["clean", "reset", "client"] = "reset") -> Closed:
    return Closed(at=at, stream=StreamId(stream), how=how)


def turned_away(at: float) -> Resumed:
    return Resumed(at=at, verb="watch", resource="pods", fault=FaultIndex(0))


def of(*streams: Opened, programs: frozenset[str] = frozenset()) -> Watches:
    watches = Watches(programs)
    for stream in streams:
        watches.opened(stream)
    return watches


def follow(watches: Watches, at: float = 3.0) -> Watches:
    """The present life is ended on purpose, and the next one begins."""
    watches.will_end()
    watches.restarted(at - 1.0)
    watches.born(at)
    return watches


def born_after(*streams: Opened) -> Watches:
    """A life opened these by itself, and another one has begun at 3."""
    return follow(of(*streams))


PODS, SECRETS = opened(1.0, stream=1), opened(1.1, "secrets", stream=2)


# --- a watch that ended


def test_a_watch_that_ended_is_missed_for_a_while_or_until_it_comes_back() -> None:
    watches = of(PODS)
    watches.closed(closed(2.0))
    assert [watches.is_missing(now) for now in (2.0, 1.9 + MISSED_SECONDS, 2.0 + MISSED_SECONDS)] == [True, True, False]
    watches.opened(opened(3.0, stream=2))
    assert not watches.is_missing(3.0)


def test_one_that_its_client_ended_is_not() -> None:
    watches = of(PODS)
    watches.closed(closed(2.0, how="client"))
    assert not watches.is_missing(2.0)


def test_an_informer_is_no_stand_in_for_another_one_that_a_life_opened_by_itself() -> None:
    watches = of(PODS, opened(1.0, stream=2, selector="app=x"))
    watches.closed(closed(2.0, 2))
    watches.opened(opened(3.0, stream=3))
    assert watches.is_missing(4.0)
    watches.opened(opened(5.0, stream=4, selector="app=x"))
    assert not watches.is_missing(5.0)


def test_it_is_for_one_that_was_opened_when_it_was_needed() -> None:
    watches = of(PODS)
    watches.shown("c")
    watches.opened(opened(1.5, stream=2, selector="app=x"))
    watches.closed(closed(2.0, 2))
    assert not watches.is_missing(2.0)


# --- a new life


def test_a_new_life_is_starting_until_it_watches_anything() -> None:
    watches = of(PODS)
    assert not watches.is_starting
    follow(watches)
    assert watches.is_starting
    watches.opened(opened(4.0, "services", stream=2))
    assert not watches.is_starting


def test_a_new_life_after_one_that_watched_nothing_is_not_waited_for() -> None:
    assert not follow(of()).is_starting


def test_a_watch_that_a_new_life_does_not_open_is_not_waited_for_in_the_lives_after_it() -> None:
    """Another one opened it by itself, because of something that was there before the trial."""
    watches = born_after(PODS, SECRETS)
    watches.opened(opened(7.0, stream=3))
    assert watches.is_missing(7.0 + EXPECTED_SECONDS - 0.1), "one watch comes after the other"
    assert not watches.is_missing(7.0 + EXPECTED_SECONDS)
    follow(watches, 60.0)
    watches.opened(opened(61.0, stream=4))
    assert not watches.is_missing(62.0)


def test_a_new_life_that_has_opened_nothing_yet_is_waited_for_as_long_as_any() -> None:
    assert born_after(PODS).is_missing(3.1 + EXPECTED_SECONDS)


def test_what_no_client_could_open_is_expected_of_the_next_life() -> None:
    watches = born_after(PODS, SECRETS)
    watches.opened(opened(4.0, stream=3))
    watches.reachable(4.5, yes=False)
    watches.will_end()
    watches.restarted(6.0 + EXPECTED_SECONDS)
    watches.reachable(8.0 + EXPECTED_SECONDS, yes=True)
    watches.born(9.0 + EXPECTED_SECONDS)
    watches.opened(opened(10.0 + EXPECTED_SECONDS, stream=4))
    assert watches.is_missing(11.0 + EXPECTED_SECONDS)


def test_a_watch_whose_list_is_kept_waiting_is_no_watch_that_never_comes() -> None:
    watches = born_after(PODS, SECRETS)
    watches.opened(opened(4.0, "secrets", stream=3))
    watches.stalled(Stalled(at=4.1, request=RequestId(7), verb="list", resource="pods", fault=FaultIndex(0)))
    assert watches.is_missing(4.2 + EXPECTED_SECONDS)


def test_another_watch_that_comes_and_goes_does_not_keep_it_awake() -> None:
    watches = born_after(PODS, SECRETS)
    for number in range(5):
        watches.opened(opened(4.0 + 20 * number, stream=10 + number))
    assert not watches.is_missing(85.0)


def test_a_watch_that_is_turned_away_is_waited_for_as_long_as_any() -> None:
    watches = born_after(PODS)
    watches.resumed(turned_away(4.0))
    assert watches.is_missing(4.0 + EXPECTED_SECONDS)


def test_a_new_life_watches_again_once_it_watches_what_the_one_before_watched_by_itself() -> None:
    watches = of(PODS, opened(1.0, "widgets", stream=2))
    watches.restarted(1.5)
    assert not watches.are_back()
    watches.opened(opened(2.0, stream=3))
    assert not watches.are_back()
    watches.opened(opened(2.0, "widgets", stream=4))
    assert watches.are_back()


def test_what_any_life_watched_by_itself_the_controller_watches() -> None:
    watches = of(opened(1.0, "namespaces", stream=1))
    assert (watches.include("namespaces"), watches.include("pods")) == (True, False)
    watches.will_end()
    watches.restarted(2.0)
    assert watches.include("namespaces"), "its next life will"
    watches.replaced()
    assert not watches.include("namespaces")


def test_another_controller_is_not_expected_to_watch_what_the_one_before_it_watched() -> None:
    watches = of(opened(1.0, "widgets", stream=1))
    watches.restarted(1.5)
    watches.replaced()
    watches.opened(opened(2.0, stream=2))
    watches.ended("")
    watches.restarted(3.0)
    watches.born(4.0)
    watches.opened(opened(5.0, stream=3))
    assert not watches.is_missing(6.0)


def test_of_two_programs_each_has_streams_of_its_own() -> None:
    watches = of(PODS, structs.replace(SECRETS, client="poller"), programs=frozenset({"poller"}))
    watches.will_end("poller")
    watches.restarted(2.0, "poller")
    assert (list(watches.streams), watches.is_open(), watches.is_open("poller")) == ([1], True, False)
