"""External systems, and what metrics say: read here from the entries alone, and compared with what is drawn."""

import gzip
from functools import cache
from itertools import pairwise

import pytest

from staleproof.core.external import changes_something
from staleproof.core.history.entry import Called, Drifted, ExternalState, Metrics, Notified, Replied, SystemTurned
from staleproof.core.history.history import History, decode
from staleproof.report.timeline.document import System, Timeline
from staleproof.report.timeline.trial import timeline

from ...checks.script import Script
from ...judged import HISTORIES

OUTSIDE = sorted(
    path.name.partition(".")[0]
    for path in (HISTORIES / "mutants").glob("*.jsonl.gz")
    if b'"entry":"called"' in gzip.decompress(path.read_bytes())
)


@cache
def drawn(name: str) -> tuple[History, Timeline]:
    history = decode(gzip.decompress((HISTORIES / "mutants" / f"{name}.jsonl.gz").read_bytes()))
    return history, timeline(history)


def only(name: str) -> tuple[History, System]:
    history, made = drawn(name)
    (system,) = made.systems
    return history, system


@pytest.mark.parametrize("name", OUTSIDE)
def test_each_call_has_its_answer(name: str) -> None:
    history, system = only(name)
    called = {int(entry.call): (index, entry) for index, entry in enumerate(history.entries) if isinstance(entry, Called)}
    replied = {int(entry.call): (index, entry) for index, entry in enumerate(history.entries) if isinstance(entry, Replied)}

    assert [(call.number, call.entry) for call in system.calls] == [(number, index) for number, (index, _) in called.items()]
    for call in system.calls:
        index, reply = replied.get(call.number, (None, None))
        assert call.answer == index
        assert call.changes == changes_something(called[call.number][1].verb)
        assert (call.answered is None) == (reply is None)
        outcome = "fail" if call.rejected else "unknown" if call.lost else "ok"
        assert outcome == (reply.outcome if reply else "ok")


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_was_there_at_the_end_is_what_the_last_look_showed(name: str) -> None:
    history, system = only(name)
    *_, last = (entry for entry in history.entries if isinstance(entry, ExternalState))
    there = {(thing.kind, thing.external) for thing in system.things if thing.seen[-1].change != "deleted"}

    assert there == {(held.kind, held.external) for held in last.objects}
    for thing in system.things:
        assert all(seen.after < seen.at for seen in thing.seen)
        changes = [seen.change for seen in thing.seen]
        assert changes[0] == "created"
        assert all((one == "deleted") == (other == "created") for one, other in pairwise(changes))


def test_it_was_down_from_one_turn_to_the_next() -> None:
    history, system = only("first_error_bucket")
    down, up = (index for index, entry in enumerate(history.entries) if isinstance(entry, SystemTurned))
    (outage,) = system.outages

    assert (outage.entry, outage.end, outage.state) == (down, up, "down")
    assert {call.lost for call in system.calls if outage.since < call.at < (outage.until or 0)} == {True}


def test_a_drift_is_shown_and_seen_at_the_next_look() -> None:
    history, system = only("notify_only_account")
    (drift,) = system.drifts
    gone = system.things[0].seen[-1]

    assert isinstance(history.entries[drift.entry], Drifted)
    assert (drift.change, gone.change) == ("deleted", "deleted")
    assert gone.after <= drift.at <= gone.at


def test_a_notification_says_what_became_of_it() -> None:
    history = Script().applied("w").ends()
    notified = Notified(at=history.entries[-1].at, system="db", channel="roles", effect="lose")
    (system,) = timeline(History(history.header, (*history.entries, notified))).systems

    assert [(each.channel, each.effect, each.entry) for each in system.notifications] == [("roles", "lose", len(history.entries))]


def test_there_is_no_lane_without_an_external_system() -> None:
    assert timeline(Script().applied("w").ends()).systems == ()


def test_an_informer_lacks_what_was_committed_by_then_and_is_newer() -> None:
    history, made = drawn("trusts_past_relist")
    readings = [(index, entry) for index, entry in enumerate(history.entries) if isinstance(entry, Metrics)]
    for series in made.metrics:
        resource, _, group = series.of.partition(".")
        for (index, said), reading in zip(readings, series.readings, strict=True):
            version = next(
                sample.value for sample in said.samples if (sample.labels["resource"], sample.labels["group"]) == (resource, group)
            )
            newer = [
                revision
                for lane in made.lanes
                if lane.name == series.of
                for each in lane.objects
                for revision in each.revisions
                if revision.entry < index and revision.revision > version
            ]
            assert (reading.value, reading.at) == (len(newer), round(said.at, 6))
    assert {series.of: max(reading.value for reading in series.readings) for series in made.metrics} == {
        "configmaps": 0,
        "pods": 0,
        "widgets.staleproof.dev": 3,
    }


def test_without_metrics_nothing_is_said_of_them() -> None:
    assert timeline(Script().applied("w").ends()).metrics == ()
