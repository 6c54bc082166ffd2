"""Shrinking a finding: what the report says of the smallest plan, and that nothing is lost when it does not hold."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import msgspec
import pytest

from staleproof.assess.trial.result import Result
from staleproof.assess.trial.shrinking import shrink
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Rest
from staleproof.errors import SetupError, UsageError
from staleproof.report.baseline import Baseline, Known

from ...judged import result


@dataclass
class Controller:
    """One whose answers are known: which plans it fails, and what the trial of the smallest shows."""

    answers: Callable[[Plan], bool]
    last: Result
    plans: list[Plan] = field(default_factory=list)
    tried: list[tuple[Plan, int | None]] = field(default_factory=list)

    def fails(self, plan: Plan, slugs: frozenset[str], times: int) -> bool:
        assert (slugs, times) == (frozenset({"no-duplicate-create"}), 2)
        self.plans.append(plan)
        return self.answers(plan)

    def trial(self, plan: Plan, *, reruns: int | None = None) -> Result:
        self.tried.append((plan, reruns))
        return replace(self.last, name="009", plan=plan, reproduced=(5, 5))


@pytest.fixture
def guilty() -> Result:
    found = result("naive-hidden-creates")
    return replace(found, plan=msgspec.structs.replace(found.plan, steps=(*found.plan.steps, Rest(seconds=0.1))))


def test_the_smallest_plan_takes_the_place_of_what_was_found(guilty: Result) -> None:
    controller = Controller(lambda plan: len(plan.steps) >= 2, guilty)
    made = shrink(controller, guilty, math.inf)
    assert made.name == "009"
    note = f"minimal: 2 steps, 1 fault, reproduced 5/5; found in 001, {len(controller.plans)} smaller plans tried, "
    assert made.shrunk.startswith(note)
    assert made.shrunk.endswith(" s in all")
    assert [(len(plan.steps), reruns) for plan, reruns in controller.tried] == [(2, 4)]


def test_only_what_is_tried_on_the_way_is_hurried(guilty: Result) -> None:
    plan = msgspec.structs.replace(guilty.plan, settle=Settle(deadline_seconds=30.0))
    controller = Controller(lambda plan: len(plan.steps) >= 2, guilty)
    shrink(controller, replace(guilty, plan=plan), math.inf)
    assert {each.settle.deadline_seconds for each in controller.plans} == {5.0}
    assert [each.settle.deadline_seconds for each, _ in controller.tried] == [30.0]


def test_what_is_as_small_as_can_be_is_not_run_again(guilty: Result) -> None:
    controller = Controller(lambda _: False, guilty)
    made = shrink(controller, guilty, math.inf)
    assert made == replace(guilty, shrunk=made.shrunk)
    assert made.shrunk == "minimal: 3 steps, 1 fault, reproduced 3/3"
    assert controller.tried == []


def test_when_the_time_is_over_nothing_is_asked(guilty: Result) -> None:
    controller = Controller(lambda _: True, guilty)
    made = shrink(controller, guilty, -math.inf)
    assert (made.name, controller.plans) == ("001", [])
    assert made.shrunk.startswith("the smallest found in time: 3 steps, 1 fault")


def test_what_does_not_hold_leaves_the_finding_as_it_was(guilty: Result) -> None:
    controller = Controller(lambda plan: len(plan.steps) >= 2, result("expectations-hidden-creates"))
    made = shrink(controller, guilty, math.inf)
    assert made.failures == guilty.failures
    assert made.shrunk == "minimal: 2 steps, 1 fault did not fail again (009), so this is as it was found"


def test_a_finding_that_is_known_does_not_take_the_place_of_a_new_one(guilty: Result) -> None:
    finding = Finding("it writes", (), requirement="settles", severity="undone")

    def writes(of: Result) -> Result:
        other_verdicts = (each for each in of.verdicts if each.requirement != "settles")
        return replace(of, verdicts=(*other_verdicts, Verdict("settles", Outcome.FAIL, (finding,))))

    known = Baseline(findings=(Known(requirements=("settles",)),))
    controller = Controller(lambda plan: len(plan.steps) >= 2, writes(result("expectations-hidden-creates")))
    made = shrink(controller, writes(guilty), math.inf, known)
    assert [verdict.requirement for verdict in made.failures] == ["no-duplicate-create", "settles"]
    assert made.shrunk.endswith("did not fail again (009), so this is as it was found")


@pytest.mark.parametrize("error", [UsageError("refused"), SetupError("the proxy died")])
def test_an_error_on_the_way_is_no_finding_and_loses_none(error: Exception, guilty: Result) -> None:
    def answers(plan: Plan) -> bool:
        raise error

    made = shrink(Controller(answers, guilty), guilty, math.inf)
    assert (made.name, made.failures) == ("001", guilty.failures)
