"""What is a statement, and what was known when it was made."""

import pytest

from staleproof.checks.facts.object_history import population
from staleproof.checks.facts.status_claims import OBSERVED, Reporting, observed, ready, reportings
from staleproof.checks.trial import Trial

from ..report_script import ReportScript, pair, trial
from ..script import WIDGETS


def said(script: ReportScript) -> list[tuple[str, int, int | None]]:
    history = script.ends()
    return [(s.about, s.generation, s.last) for s in Reporting(history, population(history)).statements(observed)]


def test_only_what_an_own_write_changed_is_a_statement() -> None:
    assert said(trial().wants(1).says(1).says(1, replicas=3).wants(2).says(2)) == [(OBSERVED, 1, None), (OBSERVED, 2, 1)]
    assert said(trial().wants(1).applied("w", status={"observedGeneration": 1}).says(1, replicas=3)) == []


def test_the_last_claim_is_remembered_although_it_was_withdrawn() -> None:
    assert said(trial().wants(1).says(2).says().says(1)) == [(OBSERVED, 2, None), (OBSERVED, 1, 2)]


def test_conditions_make_statements_of_their_own() -> None:
    assert said(trial().wants(1).says(ready=1)) == [("status.conditions[Ready].observedGeneration", 1, None)]


@pytest.mark.parametrize(
    ("status", "claims"),
    [
        (None, {}),
        ({"conditions": "none"}, {}),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, {}),
        ({"conditions": [{"type": "Ready", "status": "False", "observedGeneration": 2}]}, {}),
        ({"conditions": [{"type": "Progressing", "status": "True", "observedGeneration": 2}]}, {}),
        ({"conditions": [{"type": "Available", "status": "True"}], "observedGeneration": 3}, {"Available": 3}),
        ({"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 2}], "observedGeneration": 3}, {"Ready": 2}),
    ],
)
def test_ready_for_which_generation(status: object, claims: dict[str, int]) -> None:
    assert ready({"status": status}) == claims


def test_acting_comes_between_being_shown_and_saying_so() -> None:
    def worked(script: ReportScript) -> ReportScript:
        return script.wants(1).creates("w-a").says(1).wants(2).says(2).creates("w-b")

    history = worked(trial()).ends()
    trial_, others = reportings(Trial(history, pair(lambda script: worked(script).ends())))

    assert len(others) == 2
    assert [trial_.acted_before(each) for each in trial_.statements(observed)] == [True, False]
    assert trial_.of_label("Widget/w", WIDGETS) is not None
    assert trial_.of_label("Widget/x", WIDGETS) is None
