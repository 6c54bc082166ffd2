"""Is it idle? Is it quiet? Literal lists of entries, then the two answers."""

from typing import Literal

import pytest
from msgspec import structs

from staleproof.core.history.activity import Activity
from staleproof.core.history.change import write_kind
from staleproof.core.history.entry import (
    Called,
    CallId,
    Closed,
    Competed,
    Dropped,
    Ended,
    Entry,
    Exited,
    FaultIndex,
    Item,
    Listed,
    Opened,
    Refused,
    Replied,
    RequestId,
    RequestOutcome,
    Resumed,
    Stalled,
    StreamId,
    Withheld,
)
from staleproof.core.history.resource_version import Revision
from staleproof.core.history.watches import Watches
from staleproof.core.times import CALL_SECONDS, MISSED_SECONDS, OWED_SECONDS, REJECTED_SECONDS

from ..entries import NAMESPACE as NS
from ..entries import answered, asked, changed, committed, delivered, wrote

Answer = float | None


def opened(at: float, namespace: str = "", selector: str = "", resource: str = "pods", stream: int = 1) -> Opened:
    return Opened(at=at, stream=StreamId(stream), client="c", resource=resource, namespace=namespace, selector=selector)


def withheld(at: float, revision: int) -> Withheld:
    return Withheld(
        at=at, stream=StreamId(1), type="ADDED", namespace=NS, name="x", uid="u", revision=Revision(revision), fault=FaultIndex(0)
    )


def dropped(at: float, revision: int) -> Dropped:
    return Dropped(at=at, stream=StreamId(1), type="BOOKMARK", revision=Revision(revision), fault=FaultIndex(0))


def closed(at: float, how: Literal["clean", "reset", "client", "expired"] = "clean", stream: int = 1) -> Closed:
    return Closed(at=at, stream=StreamId(stream), how=how)


def after(*entries: Entry, namespace: str = NS) -> Activity:
    activity = Activity(namespace)
    for entry in entries:
        activity.see(entry)
    return activity


# --- calls to external systems


def called(at: float, verb: str = "CREATE") -> Called:
    return Called(at=at, call=CallId(1), system="db", verb=verb, text=verb)


def replied(at: float) -> Replied:
    return Replied(at=at, call=CallId(1), system="db", outcome="ok")


def test_a_controller_that_waits_for_an_external_system_is_not_idle_for_a_while() -> None:
    waiting = after(called(3.0))
    assert [waiting.idle_since(now) for now in (4.0, 3.0 + CALL_SECONDS)] == [None, 0.0]


def test_one_that_has_changed_something_there_has_worked_and_one_that_has_looked_has_not() -> None:
    assert after(called(3.0), replied(4.0)).idle_since(9.0) == 4.0
    assert after(called(3.0, "SELECT"), replied(4.0)).idle_since(9.0) == 0.0


# --- a new life


def begun(now: float, *entries: Entry) -> Activity:
    activity = Activity()
    activity.wakes(now)
    activity.begin(NS, 2.0, begins_seconds=6.0)
    for entry in entries:
        activity.see(entry)
    return activity


def test_a_new_life_is_not_idle_before_it_may_have_come_to_its_work() -> None:
    assert [begun(1.0).idle_since(now) for now in (6.9, 7.0)] == [None, 2.0]
    assert begun(-9.0).idle_since(2.5) == 2.0


def test_unless_it_has_written_something() -> None:
    assert begun(1.0, *wrote(3.0, 1), changed(3.1, 1)).idle_since(4.0) == 3.1
    assert begun(1.0, asked(3.0, verb="list"), answered(3.1, 1)).idle_since(4.0) is None


def test_in_the_next_trial_it_is_no_longer_new() -> None:
    activity = begun(1.0, *wrote(3.0, 1), changed(3.1, 1))
    activity.begin(NS, 4.0, begins_seconds=6.0)
    assert activity.idle_since(5.0) == 4.0


@pytest.mark.parametrize(
    ("entries", "now", "idle", "quiet"),
    [
        # entries, now, idle since, quiet since
        ([], 9.0, 0.0, 0.0),
        ([Ended(at=3.0)], 9.0, 0.0, 0.0),
        # requests
        ([asked(1.0)], 9.0, None, None),
        ([asked(1.0), answered(2.0, 1)], 9.0, 2.0, 1.0),
        ([asked(1.0), asked(2.0), answered(3.0, 1)], 9.0, None, None),
        ([asked(1.0), asked(2.0), answered(3.0, 1), answered(4.0, 2)], 9.0, 4.0, 2.0),
        ([asked(1.0, "get")], 9.0, None, None),
        ([asked(1.0, "get"), answered(2.0, 1)], 9.0, 0.0, 0.0),
        (
            [asked(1.0, "list"), Listed(at=2.0, request=RequestId(1), client="c", resource="pods", revision=Revision(5))],
            9.0,
            0.0,
            0.0,
        ),
        ([answered(2.0, 1)], 9.0, 0.0, 0.0),
        ([asked(1.0, dry_run=True)], 9.0, None, None),
        ([asked(1.0, dry_run=True), answered(2.0, 1)], 9.0, 2.0, 0.0),
        # what does not count: other namespaces, bookkeeping
        ([asked(1.0, namespace="other")], 9.0, 0.0, 0.0),
        ([asked(1.0, namespace="")], 9.0, None, None),
        ([asked(1.0, "update", "leases.coordination.k8s.io")], 9.0, 0.0, 0.0),
        ([asked(1.0, "create", "events")], 9.0, 0.0, 0.0),
        # streams
        ([opened(1.0)], 9.0, 1.0, 0.0),
        ([opened(1.0), committed(1.5, 5), delivered(2.0, 5)], 9.0, 2.0, 1.5),
        ([opened(1.0), delivered(2.0, 5)], 9.0, 1.0, 0.0),  # truth will tell of the commit, and then that counts
        ([opened(1.0), delivered(2.0, 5, namespace="")], 9.0, 2.0, 0.0),  # no other stream shows what is cluster-scoped
        ([opened(1.0), delivered(2.0, 5, namespace="other")], 9.0, 1.0, 0.0),
        ([opened(1.0), delivered(2.0, 5, "BOOKMARK")], 9.0, 1.0, 0.0),
        ([opened(1.0), delivered(2.0, None, "ERROR")], 9.0, 2.0, 0.0),
        ([opened(1.0, resource="events"), delivered(2.0, 5)], 9.0, 1.0, 0.0),
        ([opened(1.0), withheld(2.0, 5)], 9.0, 1.0, 0.0),
        ([delivered(2.0, 5)], 9.0, 0.0, 0.0),  # of a stream that was never opened
        ([opened(1.0), closed(2.0, "client"), delivered(3.0, 5)], 9.0, 1.0, 0.0),
        # a watch that was ended, and has to come back
        ([opened(1.0), closed(2.0)], 9.0, None, None),
        ([opened(1.0), closed(2.0, "expired")], 2.0 + MISSED_SECONDS - 0.01, None, None),
        ([opened(1.0), closed(2.0, "expired")], 2.0 + MISSED_SECONDS, 1.0, 0.0),
        ([opened(1.0), closed(2.0), opened(3.0)], 9.0, 3.0, 0.0),
        ([opened(1.0), opened(1.1, stream=2), closed(2.0)], 9.0, 1.1, 0.0),  # one took over from the other
        # two informers of one resource: each has to come back
        ([opened(1.0, selector="app=x"), opened(1.1, stream=2), closed(2.0)], 9.0, None, None),
        ([opened(1.0, NS), opened(1.1, "other", stream=2), closed(2.0)], 9.0, None, None),
        ([opened(1.0, NS), opened(1.1, stream=2), closed(2.0), closed(2.1, stream=2), opened(3.0, stream=3)], 9.0, None, None),
        ([opened(1.0, NS), opened(1.1, stream=2), closed(2.0), opened(3.0, NS, stream=3)], 9.0, 3.0, 0.0),
        ([closed(2.0)], 9.0, 0.0, 0.0),
        # one that was opened when it was first needed need not come back itself
        ([opened(1.0), delivered(2.0, 5), opened(3.0, selector="a=b", stream=2), closed(4.0, stream=2)], 9.0, 3.0, 0.0),
        # commits that the controller has yet to be shown
        ([committed(2.0, 5)], 2.5, 2.0, 2.0),  # whatever wrote it
        ([committed(2.0, 5, namespace="other")], 2.5, 0.0, 0.0),
        ([committed(2.0, 5, namespace="")], 2.5, 0.0, 0.0),
        ([committed(2.0, 5, resource="events")], 2.5, 0.0, 0.0),
        ([opened(1.0), committed(2.0, 5)], 2.5, None, None),
        ([opened(1.0), committed(2.0, 5), delivered(3.0, 4)], 3.5, None, None),
        ([opened(1.0), committed(2.0, 5), delivered(3.0, 5)], 3.5, 3.0, 2.0),
        ([opened(1.0), committed(2.0, 5), withheld(3.0, 5)], 3.5, 2.0, 2.0),
        ([opened(1.0), committed(2.0, 5), dropped(3.0, 5)], 3.5, 2.0, 2.0),
        ([opened(1.0), committed(2.0, 5), delivered(3.0, 7, "BOOKMARK")], 3.5, 2.0, 2.0),
        ([opened(1.0), delivered(1.5, 6), committed(2.0, 5)], 2.5, 2.0, 2.0),  # the proxy was faster than the direct watch
        ([opened(1.0), committed(2.0, 6), committed(2.0, 5), delivered(3.0, 5)], 3.5, None, None),
        ([opened(1.0), delivered(1.5, 7), delivered(1.6, 4), committed(2.0, 6)], 2.5, 2.0, 2.0),
        ([opened(1.0), committed(2.0, 5), closed(3.0, "client")], 3.5, 2.0, 2.0),
        ([opened(1.0), delivered(1.5, 7), closed(2.0), opened(3.0), committed(4.0, 6)], 4.5, None, None),
        ([committed(2.0, 5), opened(3.0)], 3.5, 3.0, 2.0),  # it opened with the current state
        ([opened(1.0, namespace=NS), committed(2.0, 5)], 2.5, None, None),
        ([opened(1.0, namespace="other"), committed(2.0, 5)], 2.5, 2.0, 2.0),
        ([opened(1.0, selector="app=x"), committed(2.0, 5)], 2.5, 2.0, 2.0),
        ([opened(1.0), committed(2.0, 5, namespace="other")], 2.5, 1.0, 0.0),
        ([opened(1.0), committed(2.0, 5, resource="services")], 2.5, 2.0, 2.0),
        ([opened(1.0, resource="events"), committed(2.0, 5, resource="events")], 2.5, 1.0, 0.0),
        # … but not for ever
        ([opened(1.0), committed(2.0, 5)], 2.0 + OWED_SECONDS - 0.01, None, None),
        ([opened(1.0), committed(2.0, 5)], 2.0 + OWED_SECONDS, 2.0, 2.0),
        # an answer is waited for without a limit
        ([asked(1.0, "get")], 9999.0, None, None),
    ],
)
def test_idle_and_quiet(entries: list[Entry], now: float, idle: Answer, quiet: Answer) -> None:
    activity = after(*entries)
    assert (activity.idle_since(now), activity.quiet_since(now)) == (idle, quiet)


T = "2026-01-01T00:00:0{}Z"


@pytest.mark.parametrize(
    ("entries", "idle"),
    [
        # a write that leaves x as it was counts once: it may be a new thing that the controller does
        ([*wrote(2.0, 1)], 2.5),
        ([*wrote(2.0, 1), *wrote(3.0, 1), *wrote(4.0, 1)], 3.5),  # the first claims the revision, the second is void
        ([*wrote(2.0, 1), *wrote(3.0, 1), changed(3.7, 2, ready=1), *wrote(4.0, 2), *wrote(5.0, 2), *wrote(6.0, 2)], 5.5),
        # one that fails as before
        ([*wrote(2.0, 1, outcome="fail", code=409), *wrote(3.0, 1, outcome="fail", code=409)], 2.5),
        ([*wrote(2.0, 1, outcome="fail", code=409), *wrote(3.0, 1, outcome="fail", code=422)], 3.5),
        (
            [
                *wrote(2.0, 1, outcome="fail", code=503, fault=FaultIndex(0)),
                *wrote(3.0, 1, outcome="fail", code=503, fault=FaultIndex(0)),
            ],
            3.5,
        ),
        # what changes only a time, or moves by itself
        ([changed(2.0, 2, seen=T.format(1)), changed(3.0, 3, seen=T.format(2))], 2.0),
        ([changed(2.0, 2, beats=1), changed(3.0, 3, beats=2)], 1.0),
        ([changed(2.0, 2, ready=1), changed(3.0, 3, ready=2)], 3.0),
        ([opened(1.5), changed(2.0, 2, beats=1), delivered(3.0, 2)], 1.5),
        ([opened(1.5), changed(2.0, 2, ready=1), delivered(3.0, 2)], 3.0),
        # the commit of a write that was answered is on its way
        ([*wrote(3.0, 2)], None),
        ([*wrote(3.0, 2), changed(3.6, 2, ready=1)], 3.6),
        ([*wrote(3.0, 2), changed(3.6, 2, beats=1)], 1.0),
        # what another user did counts, whatever it changed
        (
            [
                opened(1.5),
                Competed(at=2.0, request=RequestId(1), resource="pods", revision=Revision(2), fault=FaultIndex(0)),
                changed(2.1, 2),
                delivered(3.0, 2),
            ],
            3.0,
        ),
    ],
)
def test_rest_is_a_fixed_point_of_the_state(entries: list[Entry], idle: Answer) -> None:
    activity = Activity()
    activity.begin(NS, 0.0, moves=["pods status.beats"])
    for entry in (committed(1.0, 1), *entries):
        activity.see(entry)
    assert activity.idle_since(4.0) == idle


@pytest.mark.parametrize(("outcome", "code"), [("fail", 503), ("unknown", 500)])
def test_what_a_fault_rejects_again_and_again_is_waited_for_only_so_long(outcome: RequestOutcome, code: int) -> None:
    activity = Activity()
    activity.begin(NS, 0.0)
    for second in range(1, 9):
        for entry in wrote(second, 1, outcome=outcome, code=code, fault=FaultIndex(0)):
            activity.see(entry)
        assert activity.idle_since(9.0) == min(second + 0.5, 1.5 + REJECTED_SECONDS)
    activity.see(changed(8.7, 2, ready=1))
    for entry in wrote(9.0, 1, outcome=outcome, code=code, fault=FaultIndex(0)):
        activity.see(entry)
    assert (activity.idle_since(10.0), activity.done) == (9.5, set())


def test_a_step_begins_with_nothing_done_and_may_bring_again_what_was_in_vain() -> None:
    activity = after(committed(1.0, 1), *wrote(2.0, 1), *wrote(3.0, 1))
    assert activity.done == {("update", "pods", "")}
    activity.begin_step(4.0)
    assert not activity.done
    for entry in wrote(5.0, 1):
        activity.see(entry)
    assert activity.idle_since(9.0) == 5.5


def test_without_a_namespace_everything_counts() -> None:
    activity = after(opened(1.0), asked(2.0, namespace="a"), answered(3.0, 2), delivered(4.0, 5, namespace="b"), namespace="")
    assert (activity.idle_since(9.0), activity.quiet_since(9.0)) == (4.0, 2.0)


def test_a_new_trial_forgets_what_the_last_one_left_under_way() -> None:
    activity = after(opened(1.0), asked(2.0), committed(3.0, 5), namespace="")
    assert activity.idle_since(3.5) is None
    activity.begin(NS, 4.0)
    assert (activity.idle_since(4.5), activity.quiet_since(4.5)) == (4.0, 4.0)
    activity.see(answered(5.0, 2))
    activity.see(asked(6.0, namespace="other"))
    assert (activity.idle_since(9.0), activity.quiet_since(9.0)) == (4.0, 4.0)


def test_a_new_trial_keeps_the_open_streams() -> None:
    activity = after(opened(1.0), namespace="")
    activity.begin(NS, 4.0)
    activity.see(committed(5.0, 9))
    assert activity.idle_since(5.5) is None
    assert list(activity.watches.streams) == [1]


def test_any_caller_may_report_activity() -> None:
    activity = after()
    activity.touch(3.0)
    activity.touch(2.0)
    assert (activity.idle_since(9.0), activity.quiet_since(9.0)) == (3.0, 0.0)


# --- faults that keep the controller waiting, or end its process


def test_a_request_that_a_fault_keeps_waiting_is_not_in_flight() -> None:
    activity = after(asked(1.0), Stalled(at=1.1, request=RequestId(1), verb="create", resource="pods", fault=FaultIndex(0)))
    assert activity.idle_since(2.0) == 1.0


def test_a_watch_that_a_fault_keeps_waiting_is_not_missed_until_it_goes_on() -> None:
    activity = after(opened(1.0), closed(2.0))
    assert activity.idle_since(3.0) is None
    activity.see(Stalled(at=3.1, verb="watch", resource="pods", fault=FaultIndex(0)))
    assert activity.idle_since(4.0) == 1.0
    activity.see(Resumed(at=5.0, verb="watch", resource="pods", fault=FaultIndex(0)))
    assert activity.idle_since(6.0) is None
    activity.see(opened(7.0))
    assert activity.idle_since(8.0) == 7.0


def test_a_refused_watch_is_something_that_happened_and_is_still_missed() -> None:
    activity = after(opened(1.0), closed(2.0), Refused(at=3.0, client="c", resource="pods", code=500))
    assert activity.idle_since(4.0) is None
    assert activity.last_activity == 3.0


def test_a_dead_controller_is_idle_and_a_new_one_is_not_before_it_watches_again() -> None:
    activity = after(opened(1.0))
    activity.watches.will_end()
    activity.see(closed(1.9, "client"))  # its connections end with it, before or after we know
    activity.died(2.0)
    assert activity.idle_since(3.0) == 2.0
    activity.born(4.0)
    assert activity.idle_since(5.0) is None
    activity.see(opened(6.0))
    assert activity.idle_since(7.0) == 6.0


def test_a_program_that_exits_by_itself_is_idle_until_it_lives_again_and_then_watches_what_it_watched() -> None:
    activity = after(opened(1.0), closed(1.9, "client"), Exited(at=2.0, life=1, code=2))
    assert activity.idle_since(3.0) == 2.0
    activity.born(4.0)
    assert activity.watches.is_starting
    assert activity.idle_since(5.0) is None
    activity.see(opened(6.0))
    assert activity.idle_since(7.0) == 6.0


def test_watches_are_not_waited_for_while_no_client_can_connect() -> None:
    activity = after(opened(1.0), closed(2.0, "reset"))
    activity.reachable(2.0, yes=False)
    assert activity.idle_since(3.0) == 2.0
    activity.reachable(100.0, yes=True)
    assert activity.idle_since(101.0) is None
    assert activity.idle_since(100.0 + MISSED_SECONDS) == 100.0


@pytest.mark.parametrize(
    "shown",
    [
        delivered(2.0, 5),
        Listed(
            at=2.0,
            request=RequestId(1),
            client="c",
            resource="pods",
            revision=Revision(5),
            items=(Item(NS, "x", "u", Revision(5)),),
        ),
    ],
    ids=["by a watch", "by a list"],
)
@pytest.mark.parametrize("again", [False, True])
def test_a_watch_that_is_opened_when_it_is_first_needed_is_not_waited_for_in_the_next_life(shown: Entry, *, again: bool) -> None:
    """Nor when there is a second trial, in which it is open from the beginning."""
    activity = after(opened(1.0), shown, opened(3.0, resource="secrets", stream=2))
    if again:
        activity.begin("", 3.1)
        activity.begin(NS, 3.2)
        activity.see(opened(3.3, resource="secrets", stream=2))
    activity.watches.will_end()
    activity.died(4.0)
    activity.born(5.0)
    assert activity.idle_since(6.0) is None
    activity.see(opened(7.0))
    assert activity.idle_since(8.0) == 7.0
    activity.see(opened(9.0, resource="secrets", stream=2))
    activity.see(closed(10.0, stream=2))
    assert activity.idle_since(11.0) is None, "once it is open, its end is noticed as that of any other"


def test_what_a_life_was_shown_before_any_trial_makes_no_watch_a_late_one() -> None:
    activity = after(opened(1.0), delivered(2.0, 5), opened(3.0, resource="secrets", stream=2), namespace="")
    activity.begin(NS, 4.0)
    activity.watches.will_end()
    activity.died(5.0)
    activity.born(6.0)
    activity.see(opened(7.0))
    assert activity.idle_since(8.0) is None
    activity.see(opened(9.0, resource="secrets", stream=2))
    assert activity.idle_since(10.0) == 9.0


@pytest.mark.parametrize("elsewhere", ["", "other"])
def test_a_commit_elsewhere_may_be_heard_of_before_the_answer_that_makes_it_the_trials(elsewhere: str) -> None:
    activity = Activity()
    activity.begin(NS, 0.0)
    asks = asked(1.0)
    for entry in (asks, committed(1.2, 5, namespace=elsewhere), structs.replace(answered(1.5, 1), uid="u", revision=Revision(5))):
        activity.see(entry)
    assert activity.idle_since(1.6) == 1.5
    assert activity.done == {write_kind(asks)}


def poller(entry: Entry) -> Entry:
    """The same of a further program."""
    return structs.replace(entry, client="poller") if hasattr(entry, "client") else structs.replace(entry, program="poller")


def test_of_two_programs_each_has_watches_and_lives_of_its_own() -> None:
    activity = Activity(NS, watches=Watches(frozenset({"poller"})))
    for entry in (opened(1.0, stream=1), poller(opened(1.5, stream=2))):
        activity.see(entry)
    activity.watches.will_end("poller")
    activity.died(2.0, "poller")
    assert list(activity.watches.streams) == [1]
    assert (activity.watches.is_open(), activity.watches.is_open("poller")) == (True, False)
    activity.born(3.0, "poller")
    assert activity.watches.is_starting
    activity.see(opened(4.0, stream=3))
    assert activity.idle_since(5.0) is None, "the controller's watch is not the poller's"
    activity.see(poller(opened(6.0, stream=4)))
    assert (activity.watches.is_starting, activity.idle_since(7.0)) == (False, 6.0)
    assert (activity.watches.are_back(), activity.watches.are_back("poller")) == (True, True)


def test_a_watch_of_one_program_does_not_stand_for_that_of_another() -> None:
    activity = Activity(NS, watches=Watches(frozenset({"poller"})))
    for entry in (opened(1.0, stream=1), poller(opened(1.0, stream=2)), closed(2.0, "reset", stream=2)):
        activity.see(entry)
    assert activity.idle_since(3.0) is None
    activity.see(poller(opened(3.5, stream=3)))
    assert activity.idle_since(4.0) == 3.5


def test_a_program_that_exits_takes_none_of_the_others_requests_along() -> None:
    activity = Activity(NS, watches=Watches(frozenset({"poller"})))
    for entry in (asked(1.0), poller(Exited(at=2.0, life=1, code=1))):
        activity.see(entry)
    assert activity.idle_since(3.0) is None
    activity.see(answered(4.0, 1))
    assert activity.idle_since(5.0) == 4.0


# --- what is made and removed over and over


def removed(at: float, name: str, *, generated: str = "", namespace: str = NS, resource: str = "pods") -> Entry:
    metadata = {"name": name} | ({"generateName": generated} if generated else {})
    gone = committed(at, revision=int(10 * at), namespace=namespace, resource=resource)
    return structs.replace(gone, type="DELETED", name=name, uid=f"u-{name}-{at}", object={"metadata": metadata})


@pytest.mark.parametrize(
    ("entries", "most"),
    [
        ([removed(1.0, "a"), removed(2.0, "a"), removed(3.0, "b")], 2),
        ([removed(1.0, "w-x1", generated="w-"), removed(2.0, "w-x2", generated="w-")], 2),
        ([removed(1.0, "a"), removed(2.0, "a", resource="secrets"), removed(3.0, "a", namespace="other")], 1),
        ([committed(1.0), committed(2.0, 2)], 0),
        ([], 0),
    ],
    ids=["of a name", "of generated names", "other things", "made", "nothing"],
)
def test_it_is_known_what_is_removed_most_often_in_a_step(entries: list[Entry], most: int) -> None:
    activity = after(*entries)
    assert activity.most_removed == most
    activity.begin_step(9.0)
    assert activity.most_removed == 0
