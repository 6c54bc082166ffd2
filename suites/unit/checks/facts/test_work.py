"""Whether the controller had acted, strictly and leniently."""

from staleproof.checks.facts.object_history import population
from staleproof.checks.facts.provenance import incarnations
from staleproof.checks.facts.work import work

from ..report_script import ReportScript, trial
from ..script import WIDGETS


def acted(script: ReportScript) -> tuple[bool, bool]:
    """By asking for anything on others, and by doing something to a child."""
    history = script.ends()
    of = next(of for of in incarnations(history).values() if of.resource == WIDGETS)
    made, end = work(history, population(history)), len(history.entries)
    return made.asked_on_others(of, after=0, before=end), made.done_to_children(of, after=0, before=end) is not None


def test_children_count_for_both() -> None:
    assert acted(trial().wants(1).creates("w-a")) == (True, True)
    assert acted(trial().wants(1).made("w-a").deletes("w-a")) == (True, True)


def test_the_object_itself_and_bookkeeping_count_for_neither() -> None:
    assert acted(trial().wants(1).says(1)) == (False, False)
    assert acted(trial().wants(1).updates("w", subresource="", finalizers=["x"])) == (False, False)
    assert acted(trial().wants(1).asks("update", "leases.coordination.k8s.io", "lock")) == (False, False)


def test_refused_writes_and_writes_to_others_count_when_in_doubt() -> None:
    assert acted(trial().wants(1).refused("create", "w-a", "Forbidden")) == (True, False)
    assert acted(trial().wants(1).creates("x", resource="configmaps", owner="")) == (True, False)


def test_only_what_lies_between_counts() -> None:
    history = trial().wants(1).creates("w-a").ends()
    of = next(of for of in incarnations(history).values() if of.resource == WIDGETS)
    made = work(history, population(history))
    asked = made.requests[0].index

    assert made.done_to_children(of, after=0, before=asked) is None
    assert made.done_to_children(of, after=asked, before=99) is None
    assert made.done_to_children(of, after=asked - 1, before=99) == asked
