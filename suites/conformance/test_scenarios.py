"""Every scenario, family by family: first the canonical plans, `test_canonical[SCENARIO/FAMILY]`, then plans drawn by Hypothesis.

What a scenario is about, and what its families are, is told by its module in `staleproof.draw`.
"""

import math
import time
from collections.abc import Callable
from types import ModuleType

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from staleproof.assess import Result
from staleproof.core.observed import Observed
from staleproof.core.plan import Plan
from staleproof.draw import own_writes
from staleproof.draw.family import Family
from staleproof.draw.scenarios import FAMILIES
from staleproof.plugin.fail import assert_passed
from staleproof.plugin.options import settings_of
from staleproof.plugin.outcome import begun, ends
from staleproof.report.model import LeftOut


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_canonical(family: Family, run_family: Callable[[Family], list[Result]]) -> None:
    run_family(family)


@pytest.mark.parametrize("scenario", [own_writes], ids=lambda scenario: scenario.SCENARIO.name)
def test_drawn(
    scenario: ModuleType, observed: list[Observed], trial: Callable[[Plan], Result], pytestconfig: pytest.Config
) -> None:
    """A finding ends the search: the plans after it would only find it again. So does the end of the run's minutes."""
    examples = settings_of(pytestconfig).max_examples
    if not examples:
        pytest.skip("--staleproof-max-examples=0: no plan is drawn")
    results: list[Result] = []
    end = ends(pytestconfig)
    for each in observed:
        if scenario.can_draw(each):
            _search(scenario.plans(each), trial, results, examples, end)
    if time.monotonic() >= end:
        name = scenario.SCENARIO.name
        begun(pytestconfig).leave_out([LeftOut(scenario=name, title="more drawn plans")])
    assert_passed(results)


def _search(
    plans: SearchStrategy[Plan], trial: Callable[[Plan], Result], results: list[Result], examples: int, end: float = math.inf
) -> None:
    """Run drawn plans until one has a finding, or the time is over. An error in a trial ends the search, too.

    It is raised at the end, and Hypothesis does not see it: it would run the plan again and call the test flaky.
    """
    errors: list[BaseException] = []

    @settings(
        max_examples=examples,
        deadline=None,
        phases=[Phase.generate],  # a drawn plan is run as it is: trials take too long to shrink one by one here
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(plans)
    def every_plan(plan: Plan) -> None:
        if errors or time.monotonic() >= end or any(result.failures for result in results):
            return
        try:
            results.append(trial(plan))
        except (Exception, pytest.fail.Exception) as err:
            errors.append(err)

    every_plan()
    for err in errors:
        raise err
