"""Times in which nothing happened to a primary, and the calls about it all the same."""

from staleproof.checks.facts.quiet_spans import busiest_period, longest_gap, quiet_spans
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import StepEnded

from ..outside import Outside, settled_role


def spans(script: Outside) -> list[tuple[float, int]]:
    """Seconds and calls of each."""
    return [(round(span.seconds, 1), len(span.calls)) for span in quiet_spans(Trial(script.ends()))]


def test_it_begins_some_time_after_the_last_change() -> None:
    assert spans(settled_role(Outside()).passes(9.0)) == [(11.0, 0)]


def test_a_change_ends_it() -> None:
    assert [calls for _, calls in spans(settled_role(Outside()).polls(2, 3.0).applied("w", spec=2).polls(3, 3.0))] == [2, 3]


def test_neither_a_touch_nor_its_own_status_ends_it() -> None:
    script = settled_role(Outside()).applied("w").says(1, ready=1, beat=2).resynced().looks().passes(3.0)
    (span,) = quiet_spans(Trial(script.ends()))
    assert (len(span.calls), len(span.stirred)) == (1, 2)


def test_the_words_that_come_most_often_count() -> None:
    script = (
        settled_role(Outside()).looks().looks().calls("SELECT", "SELECT members").answered().calls(of="").answered().passes(3.0)
    )
    assert [calls for _, calls in spans(script)] == [2]


def test_what_was_done_last_may_be_looked_after() -> None:
    script = settled_role(Outside()).reads().passes(3.0).writes().looks().passes(5.0).looks()
    assert [calls for _, calls in spans(script)] == [0]


def test_how_often_it_looks() -> None:
    trial = Trial(settled_role(Outside()).polls(3, 2.0).adds(StepEnded, step=1, idle=True).ends())
    gap, period = longest_gap(trial, "db"), busiest_period(trial, "db")
    assert gap is not None
    assert period is not None

    assert round(gap, 1) == 2.2
    assert 2.0 < period < 3.0
    assert longest_gap(trial, "other") is None
    assert busiest_period(Trial(settled_role(Outside()).polls(2, 2.0).ends()), "db") is None
