"""What a dry run says."""

from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.plan.plan import Plan
from staleproof.report.planned import line, sum_up, unwatched

PLAN = Plan(scenario="mine", title="nothing happens", steps=())


def test_a_line_says_which_plan_and_how_long() -> None:
    assert line(PLAN, 2.25) == f"{fingerprint(PLAN)}     2.2 s  mine: nothing happens"


def test_all_of_them_come_to_minutes() -> None:
    sentence = "dry run: 3 plans, about 1.5 min one after the other; fault-free runs, and running findings again, come on top"
    assert sum_up([30.0, 30.0, 30.0]) == sentence


def test_what_was_never_watched_is_reported_with_what_to_do() -> None:
    assert unwatched("Widget/w", "run once").endswith("Widget/w yet, and its plans follow from that: run once")
