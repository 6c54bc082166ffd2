"""What was not shown, skipped or missed."""

from typing import Any

import pytest

from staleproof.checks.facts.pending_events import PendingEvent, pending_events
from staleproof.checks.facts.wording import happened
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Committed, Delivered, Opened

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


def read() -> Script:
    """It does not watch what it makes, and reads it once."""
    return owned().creates("w-set", resource=SETS, generated="").gets("w-set", SETS)


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
    "unwatched, and written again after it was read": read().updates("w-set", SETS, subresource="", spec=2),
    "unwatched, and deleted": read().deletes("w-set", resource=SETS, grace=True).removed("w-set", SETS),
    "a lease": Script().ended("configmaps").applied("lock", "leases.coordination.k8s.io"),
}


@pytest.mark.parametrize("script", WHOLE.values(), ids=WHOLE)
def test_nothing_is_left_to_be_shown(script: Script) -> None:
    found, end = pending_events(Trial(script.unfinished())), len(script.entries)

    assert (found.before(end), found.skipped(before=end), found.missed(before=end)) == ([], [], [])


def test_what_others_do_to_what_it_only_reads_is_not_shown_before_it_reads_again() -> None:
    script = read().removed("w-set", SETS)
    then = len(script.entries)
    found = pending_events(Trial(script.gets("w-set", SETS).unfinished()))

    assert [event.commit.name for event in found.before(then)] == ["w-set"]
    assert found.before(len(script.entries)) == []


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


# --- selectors

X: dict[str, Any] = {"metadata": {"labels": {"app": "x"}}}


def selecting(selector: str = "app=x") -> Script:
    return owned().watches(SETS, selector=selector)


def makes(script: Script, *names: str, **fields: Any) -> Script:  # noqa: ANN401  # JSON
    return script.creates(*names, resource=SETS, **(fields or X))


def kept() -> Script:
    """A create that a stream with a selector keeps back."""
    return makes(selecting().hold(SETS), "w-set")


def left() -> Script:
    """It was shown, and its label is another now."""
    return makes(selecting(), "w-set").labelled("w-set", SETS, to="y", shown_as="DELETED")


def unlabelled_pods(selector: str) -> Script:
    """A list with a selector comes while two creates are held."""
    script = held("w-a", "w-b")
    return script.lists(selector=selector, without=["w-a", "w-b"])


def labelled_pods() -> Script:
    """A pod comes and goes while the stream of all pods is held, and a list of what has its label is empty."""
    return owned().hold().creates("w-a", **X).removed("w-a").lists(selector="app=x")


BEHIND: dict[str, tuple[Script, list[str]]] = {
    # --- streams
    "a kept frame shows that it passes": (kept(), ["replicaset/w-set was created"]),
    "and leaves": (kept().let_go(SETS), []),
    "what comes of it is followed, too": (
        kept().deletes("w-set", resource=SETS),
        ["replicaset/w-set was created", "replicaset/w-set was deleted"],
    ),
    "a live read has shown it": (kept().gets("w-set", SETS), []),
    "its stream ends, and a list has it": (kept().ended(SETS, fault=None).lists(SETS, selector="app=x"), []),
    "its stream ends, and a list of that has it no more": (
        kept()
        .ended(SETS, fault=None)
        .labelled("w-set", SETS, to="y", shown_as="")
        .lists(SETS, selector="app=x", without=["w-set"]),
        [],
    ),
    "what is not shown on it may not pass": (
        owned().applied("x", SETS).watches(SETS, selector="app=x").hold(SETS).labelled("x", SETS, to="y", shown_as=""),
        [],
    ),
    "what left the selection will not come": (left().labelled("w-set", SETS, to="z", shown_as=""), []),
    "nor while it is kept that it left": (
        makes(selecting(), "w-set")
        .hold(SETS)
        .labelled("w-set", SETS, to="y", shown_as="DELETED")
        .labelled("w-set", SETS, to="z", shown_as=""),
        ["replicaset/w-set was changed"],
    ),
    "what came back does": (
        left().hold(SETS).labelled("w-set", SETS, to="x", shown_as="ADDED"),
        ["replicaset/w-set was changed"],
    ),
    "what came back was shown": (
        left().labelled("w-set", SETS, to="x", shown_as="ADDED").hold(SETS).updates("w-set", SETS, subresource="", spec=2),
        ["replicaset/w-set was changed"],
    ),
    "what was read, and has no watch": (
        owned().applied("x", SETS).watches(SETS, selector="app=x").gets("x", SETS).labelled("x", SETS, to="y", shown_as=""),
        ["replicaset/x was changed"],
    ),
    # --- lists
    "a list of others": (unlabelled_pods("app=x"), ["pod/w-a was created", "pod/w-b was created"]),
    "a list that might have them": (unlabelled_pods("spec.nodeName=n"), []),
    "a list that would have had it": (labelled_pods(), []),
    "the initial events of others": (
        held("w-a").adds(Opened, stream=9, client="controller", resource="pods", selector="app=x", watch_list=True).initial_end(9),
        ["pod/w-a was created"],
    ),
    "after a list of others it is still followed": (
        owned().creates("w-a").lists(selector="app=x", without=["w-a"]).hold().deletes("w-a"),
        ["pod/w-a was deleted"],
    ),
}


@pytest.mark.parametrize(("script", "behind"), BEHIND.values(), ids=BEHIND)
def test_what_a_selector_leaves_to_be_shown_and_skips_nothing(script: Script, behind: list[str]) -> None:
    found, end = pending_events(Trial(script.unfinished())), len(script.entries)

    assert words(found.before(end)) == behind
    assert words(found.skipped(before=end)) == []
    assert words(found.missed(before=end)) == []


def test_a_kept_frame_may_be_recorded_before_its_commit() -> None:
    script = kept()
    (committed,) = (entry for entry in script.entries if isinstance(entry, Committed) and entry.resource == SETS)
    script.entries.append(script.entries.pop(script.entries.index(committed)))

    assert words(pending_events(Trial(script.unfinished())).before(len(script.entries))) == ["replicaset/w-set was created"]


def changed() -> Script:
    script = makes(selecting(), "w-set").ended(SETS, fault=None).updates("w-set", SETS, subresource="", spec=2)
    return script.updates("w-set", SETS, subresource="", spec=3)


SKIPPED_OF_X = {
    "states before the last": (changed(), ["replicaset/w-set was changed"]),
    "come and gone": (
        kept().deletes("w-set", resource=SETS).ended(SETS, fault=None),
        ["replicaset/w-set was created", "replicaset/w-set was deleted"],
    ),
    "an end": (makes(selecting(), "w-set").hold(SETS).deletes("w-set", resource=SETS).ended(SETS, fault=None), []),
}


@pytest.mark.parametrize(("script", "skipped"), SKIPPED_OF_X.values(), ids=SKIPPED_OF_X)
def test_a_list_of_what_is_watched_with_the_same_selector_skips_what_any_list_does(script: Script, skipped: list[str]) -> None:
    found = pending_events(Trial(script.lists(SETS, selector="app=x").unfinished()))

    assert words(found.skipped(before=len(script.entries))) == skipped
    assert found.before(len(script.entries)) == []
