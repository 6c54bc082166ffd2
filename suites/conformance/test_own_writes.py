"""Own writes: the controller must not do again what it has done and not yet seen done.

Its own writes are hidden from it and it is made to look again. Canonical plans first, then plans drawn by Hypothesis.
"""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from staleproof.assess import Result
from staleproof.core.observed import Observed
from staleproof.core.plan import Plan
from staleproof.draw import own_writes
from staleproof.draw.scenarios import Family, families
from staleproof.plugin.fail import assert_passed
from staleproof.plugin.options import settings_of


@pytest.mark.parametrize("family", families("own-writes"), ids=str)
def test_own_writes(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)


def test_drawn(observed: list[Observed], trial: Callable[[Plan], Result], pytestconfig: pytest.Config) -> None:
    """A finding ends the search: what comes after it would only be found again."""
    examples = settings_of(pytestconfig).max_examples
    if not examples:
        pytest.skip("--staleproof-max-examples=0: no plan is drawn")
    results: list[Result] = []
    for each in observed:
        if own_writes.can_draw(each):
            _search(each, trial, results, examples)
    assert_passed(results)


def _search(observed: Observed, trial: Callable[[Plan], Result], results: list[Result], examples: int) -> None:
    """What goes wrong in a trial ends the search too. Hypothesis does not see it: it would run the plan again and call it flaky."""
    wrong: list[BaseException] = []

    @settings(
        max_examples=examples,
        deadline=None,
        phases=[Phase.generate],  # a drawn plan is run as it is: trials are too dear to shrink one by one here
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(own_writes.plans(observed))
    def every_plan(plan: Plan) -> None:
        if wrong or any(result.failures for result in results):
            return
        try:
            results.append(trial(plan))
        except (Exception, pytest.fail.Exception) as err:
            wrong.append(err)

    every_plan()
    for err in wrong:
        raise err
