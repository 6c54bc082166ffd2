"""What was not shown, skipped or missed."""

import pytest

from staleproof.checks.facts.pending_events import PendingEvent, pending_events
from staleproof.checks.facts.wording import happened
from staleproof.checks.trial import Trial
from staleproof.core.entry import Committed, Delivered

from ..script import WIDGETS, Script

SETS = "replicasets.apps"


def words(events: list[PendingEvent]) -> list[str]:
    return [happened(event.commit) for event in events]


def owned() -> Script:
    return Script().applied("w")


def held(*names: str) -> Script:
    return owned().hold().creates(*(names or ("w-a",)))


def changed_twice(name: str, script: Script) -> Script:
    return script.updates(name, "pods", subresource="", spec=2).updates(name, "pods", subresource="", spec=3)


def other_order() -> Script:
    """What was committed is recorded after what was shown."""
    script = owned().creates("w-a")
    script.entries.sort(key=lambda entry: isinstance(entry, Committed))
    assert isinstance(script.entries[-1], Committed)
    assert any(isinstance(entry, Delivered) for entry in script.entries)
    return script


WHOLE: dict[str, Script] = {
    "shown at once": owned().creates("w-a").deletes("w-a"),
    "left in the end": held("w-a", "w-b").let_go(),
    "shown by a live read": held().gets("w-a"),
    "shown to be gone by a live read": owned().creates("w-a").hold().deletes("w-a").gets("w-a"),
    "shown by a list": owned().creates("w-a", "w-b").ended().deletes("w-a").watches(start="").shows("w-b").creates("w-c").lists(),
    "shown by the end of the initial events": owned().creates("w-a").ended().deletes("w-a").watches(watch_list=True).initial_end(4),
    "a new life has nothing to catch up with": held().restarted(),
    "recorded the other way round": other_order(),
    # --- not followed
    "unwatched": owned().creates("w-set", resource=SETS),
    "watched with a selector": owned().watches(SETS, selector="app=w").ended(SETS, fault=None).creates("w-set", resource=SETS),
    "a lease": Script().ended("configmaps").applied("lock", "leases.coordination.k8s.io"),
}


@pytest.mark.parametrize("script", WHOLE.values(), ids=WHOLE)
def test_nothing_is_left_to_be_shown(script: Script) -> None:
    found, end = pending_events(Trial(script.unfinished())), len(script.entries)

    assert (found.before(end), found.skipped(before=end), found.missed(before=end)) == ([], [], [])


def test_held_events_are_missing_until_they_leave() -> None:
    script = held("w-a", "w-b")
    middle = len(script.entries)
    found = pending_events(Trial(script.let_go().unfinished()))

    assert [event.commit.name for event in found.before(middle)] == ["w-a", "w-b"]
    assert [event.commit.name for event in found.before(middle, "pods")] == ["w-a", "w-b"]
    assert found.before(middle, WIDGETS) == found.missed(before=middle) == []  # they will come
    assert found.before(len(script.entries)) == []


def test_so_they_are_until_the_end_of_the_initial_events() -> None:
    script = owned().creates("w-a").ended().deletes("w-a").watches(watch_list=True)

    assert words(pending_events(Trial(script.unfinished())).before(len(script.entries))) == ["pod/w-a was deleted"]


SKIPPED: dict[str, tuple[Script, list[str]]] = {
    "states before the last": (changed_twice("w-a", owned().creates("w-a").hold()).relist(), ["pod/w-a was changed"]),
    "an end that a list shows": (owned().creates("w-a").hold().terminating("w-a").deletes("w-a").relist(), []),
    "an end, and the name is another's": (
        owned().hold(WIDGETS).removed("w", WIDGETS).applied("w").relist(WIDGETS),
        ["widget/w was deleted"],
    ),
    "come and gone": (held().deletes("w-a").relist(), ["pod/w-a was created", "pod/w-a was deleted"]),
    "name by name": (
        changed_twice("w-a", changed_twice("w-b", held("w-a", "w-b"))).relist(),
        ["pod/w-a was created", "pod/w-a was changed", "pod/w-b was created", "pod/w-b was changed"],
    ),
}


@pytest.mark.parametrize(("script", "skipped"), SKIPPED.values(), ids=SKIPPED)
def test_a_list_shows_the_last_state_and_skips_those_before(script: Script, skipped: list[str]) -> None:
    found, end = pending_events(Trial(script.unfinished())), len(script.entries)

    assert words(found.skipped(before=end)) == skipped
    assert found.before(end) == []
    assert found.skipped(before=5) == []


def late_watch() -> Script:
    return owned().creates("w-a", "w-b").ended().deletes("w-a").watches(start="").shows("w-b")


MISSED: dict[str, tuple[Script, list[str]]] = {
    "without a watch": (owned().ended().creates("w-a"), ["pod/w-a was created"]),
    "behind a watch that began later": (late_watch().creates("w-c"), ["pod/w-a was deleted"]),
    "not yet passed": (late_watch(), []),
}


@pytest.mark.parametrize(("script", "missed"), MISSED.values(), ids=MISSED)
def test_what_only_a_list_can_show_is_missed(script: Script, missed: list[str]) -> None:
    assert words(pending_events(Trial(script.unfinished())).missed(before=len(script.entries))) == missed


def test_a_resource_is_watched_as_long_as_a_stream_of_it_is_open() -> None:
    found = pending_events(Trial(owned().ended().restarted().unfinished()))

    assert found.watched(before=5) == {WIDGETS, "configmaps", "pods"}
    assert found.watched(before=7) == {WIDGETS, "configmaps"}


def test_it_has_caught_up_when_it_was_shown_everything_and_watches_everything_again() -> None:
    script = held().watches("events").ended("events").closes()
    closed = len(script.entries) - 1
    script.ended(how="clean").gets("w-a")  # now it has seen everything
    seen = len(script.entries) - 1
    found = pending_events(Trial(script.watches().unfinished()))

    assert found.caught_up(since=closed, until=seen + 1) is None
    assert found.caught_up(since=closed, until=seen + 2) == seen + 1
    assert found.caught_up(since=5, until=closed) == 5
