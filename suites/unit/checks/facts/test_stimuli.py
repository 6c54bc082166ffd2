"""Causes, writes and bookmarks, and how long nothing had happened before each."""

from staleproof.checks.facts.stimuli import moments

from ..script import WIDGETS
from ..stream_script import StreamScript


def kinds(script: StreamScript, since: int = 4) -> list[str]:
    return [moment.kind for moment in moments(script.entries) if moment.index >= since]


def test_what_is_shown_and_answered_is_a_cause_a_request_for_a_write_is_none() -> None:
    script = StreamScript().step(1, "apply").applied("w").lists(WIDGETS).updates("w").bookmark().watches("configmaps")

    assert kinds(script) == ["cause", "cause", "cause", "write", "cause", "bookmark", "echo"]


def test_what_was_shown_before_is_an_echo() -> None:
    script = StreamScript().applied("w").shows("w", WIDGETS).applied("w", spec=2)

    assert kinds(script) == ["cause", "echo", "cause"]
    assert kinds(script.restarted().shows("w", WIDGETS))[-1] == "cause"


def test_reads_and_bookkeeping_are_neither() -> None:
    script = StreamScript().asks("get", "pods", "x").asks("update", "leases.coordination.k8s.io", "l").asks("create", "events")
    lease = StreamScript().watches("leases.coordination.k8s.io").applied("l", "leases.coordination.k8s.io")

    assert kinds(script) == []
    assert kinds(lease) == []


def test_a_bookmark_that_ends_the_initial_events_shows_something() -> None:
    assert kinds(StreamScript().initial_end(1)) == ["cause"]


def test_rest_is_counted_from_the_last_that_was_no_bookmark() -> None:
    script = StreamScript().applied("w").passes(3.0).bookmark().passes(1.0).updates("w")

    assert [round(moment.rested, 1) for moment in moments(script.entries)[-3:]] == [3.1, 4.2, 0.1]
    assert moments([]) == []
