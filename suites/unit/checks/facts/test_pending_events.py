"""What was not shown, skipped or missed."""

from staleproof.checks.facts.pending_events import Unshown, unshown_at
from staleproof.core.entry import Committed, Delivered

from ..script import WIDGETS
from ..stream_script import StreamScript

SCRIPT_NAMESPACE = "ns"


def at_end(script: StreamScript) -> Unshown:
    return unshown_at(script.entries, SCRIPT_NAMESPACE)


def names(found: Unshown) -> list[str]:
    return [change.commit.name for change in found.changes()]


def test_what_is_shown_at_once_is_never_missing() -> None:
    found = at_end(StreamScript().applied("w").creates("w-a").deletes("w-a"))

    assert found.is_whole
    assert (found.skipped, found.missed()) == ([], [])


def test_held_events_are_missing_until_they_leave() -> None:
    script = StreamScript().applied("w").hold().creates("w-a", "w-b")

    assert names(at_end(script)) == ["w-a", "w-b"]
    assert at_end(script).is_behind("pods")
    assert not at_end(script).is_behind(WIDGETS)
    assert at_end(script).missed() == []  # they will come
    assert at_end(script.let_go()).is_whole
    assert at_end(script).skipped == []


def test_a_list_shows_the_last_state_and_skips_those_before() -> None:
    script = StreamScript().applied("w").creates("w-a").hold()
    script.updates("w-a", "pods", subresource="", spec=2).updates("w-a", "pods", subresource="", spec=3).relist()
    found = at_end(script)

    assert found.is_whole
    assert [change.words for change in found.skipped] == ["pod/w-a was changed"]


def test_an_end_that_a_list_shows_is_not_skipped_unless_the_name_is_anothers() -> None:
    gone = at_end(StreamScript().applied("w").creates("w-a").hold().terminating("w-a").deletes("w-a").relist())
    replaced = at_end(StreamScript().applied("w").hold(WIDGETS).removed("w", WIDGETS).applied("w").relist(WIDGETS))
    come_and_gone = at_end(StreamScript().applied("w").hold().creates("w-a").deletes("w-a").relist())

    assert gone.is_whole
    assert gone.skipped == []
    assert [change.words for change in replaced.skipped] == ["widget/w was deleted"]
    assert [change.words for change in come_and_gone.skipped] == ["pod/w-a was created", "pod/w-a was deleted"]


def test_without_a_watch_it_is_missed() -> None:
    found = at_end(StreamScript().applied("w").ended().creates("w-a"))

    assert [change.words for change in found.missed()] == ["pod/w-a was created"]
    assert found.watched == {WIDGETS, "configmaps"}


def test_so_it_is_behind_a_watch_that_began_later() -> None:
    script = StreamScript().applied("w").creates("w-a", "w-b").ended().deletes("w-a").watches(start="").shows("w-b")

    assert at_end(script).missed() == []  # not yet passed
    assert [change.words for change in at_end(script.creates("w-c")).missed()] == ["pod/w-a was deleted"]
    assert at_end(script.lists()).is_whole


def test_a_live_read_shows_it_too() -> None:
    assert at_end(StreamScript().applied("w").hold().creates("w-a").gets("w-a")).is_whole
    assert at_end(StreamScript().applied("w").creates("w-a").hold().deletes("w-a").gets("w-a")).is_whole


def test_a_new_life_has_nothing_to_catch_up_with() -> None:
    assert at_end(StreamScript().applied("w").hold().creates("w-a").restarted()).is_whole


def test_the_end_of_the_initial_events_is_a_list() -> None:
    script = StreamScript().applied("w").creates("w-a").ended().deletes("w-a").watches(watch_list=True)

    assert names(at_end(script)) == ["w-a"]
    assert at_end(script.initial_end(4)).is_whole


def test_only_what_it_follows_counts() -> None:
    sets = "replicasets.apps"
    unwatched = StreamScript().applied("w").creates("w-set", resource=sets)
    selected = StreamScript().applied("w").watches(sets, selector="app=w").ended(sets, fault=None).creates("w-set", resource=sets)
    lease = StreamScript().ended("configmaps").applied("lock", "leases.coordination.k8s.io")

    assert at_end(unwatched).is_whole
    assert at_end(selected).is_whole
    assert at_end(lease).is_whole


def test_which_of_the_two_is_recorded_first_makes_no_difference() -> None:
    script = StreamScript().applied("w").creates("w-a")
    entries = sorted(script.entries, key=lambda entry: isinstance(entry, Committed))
    assert isinstance(entries[-1], Committed)
    assert any(isinstance(entry, Delivered) for entry in entries)

    found = unshown_at(entries, SCRIPT_NAMESPACE)

    assert found.is_whole
    assert found.skipped == []
