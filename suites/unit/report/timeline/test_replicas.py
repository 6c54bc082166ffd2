"""Several clients of one controller: what each did is its own; what was shown is the first one's, the only one with a view."""

from dataclasses import replace

from staleproof.core.history.entry import Answered, Asked, Closed, Entry, Opened, RequestId, StreamId
from staleproof.core.history.history import History
from staleproof.report.timeline.trial import timeline

from ...checks.script import Script


def with_another() -> History:
    """A history of one controller, and of another client that opens a stream, writes, and loses it."""
    history = Script().applied("w").creates("w-a").ends()
    *before, end = history.entries
    stream, request = StreamId(99), RequestId(99)
    more: list[Entry] = [
        Opened(at=end.at, stream=stream, client="other", resource="pods"),
        Asked(at=end.at, request=request, client="other", verb="delete", resource="pods", namespace="ns", name="w-a"),
        Answered(at=end.at, request=request, outcome="ok", code=200),
        Closed(at=end.at, stream=stream, how="clean"),
    ]
    return replace(history, entries=(*before, *more, end))


def test_one_client_is_one_replica() -> None:
    made = timeline(Script().applied("w").creates("w-a").ends())

    assert len(made.replicas) == 1
    assert {each.replica for each in made.requests} == {each.replica for each in made.events} == {0}


def test_what_each_client_did_is_its_own() -> None:
    made = timeline(with_another())
    first, other = made.replicas

    assert other == "other"
    assert [each.verb for each in made.requests if each.replica == 1] == ["delete"]
    assert [each.kind for each in made.events if each.replica == 1] == ["stream opened", "stream ended"]
    assert {"create"} <= {each.verb for each in made.requests if each.replica == 0}, first


def test_what_was_shown_is_drawn_of_the_first_alone() -> None:
    alone, both = timeline(Script().applied("w").creates("w-a").ends()), timeline(with_another())
    shown = [[showing for lane in made.lanes for each in lane.objects for showing in each.shown] for made in (alone, both)]

    assert shown[0] == shown[1] != []
    assert {showing.replica for showing in shown[1]} == {0}
    assert both.replicas == (*alone.replicas, "other")
