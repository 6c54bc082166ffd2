"""What was done in which step, and whether a controller stopped half-way."""

import pytest

from staleproof.checks.facts.step_work import changing_kinds, kinds_between, stopped_half_way
from staleproof.checks.trial import Trial

from ..script import Script, reference


def complete(script: Script) -> Script:
    """It makes pods and reports, twice."""
    script.step(1, "apply").applied("w").creates("w-a").updates("w", status={"ready": 1})
    return script.step(2, "touch").applied("w", spec=2).creates("w-b").updates("w", status={"ready": 2})


def sooner(script: Script) -> Script:
    """All of it in the first step."""
    script.step(1, "apply").applied("w").creates("w-a", "w-b").updates("w", status={"ready": 1}).updates("w", status={"ready": 2})
    return script.step(2, "touch").applied("w", spec=2)


def silent(script: Script) -> Script:
    """It makes the second pod, and never reports it."""
    script.step(1, "apply").applied("w").creates("w-a").updates("w", status={"ready": 1})
    return script.step(2, "touch").applied("w", spec=2).creates("w-b")


def dead(script: Script) -> Script:
    script.step(1, "apply").applied("w").creates("w-a").updates("w", status={"ready": 1})
    return script.step(2, "touch").applied("w", spec=2)


@pytest.mark.parametrize(("run", "stopped"), [(complete, False), (sooner, False), (silent, True), (dead, True)])
def test_it_stopped_if_a_kind_of_work_ceased_that_others_went_on_with(run: object, *, stopped: bool) -> None:
    assert callable(run)
    references = [Trial(complete(reference(number)).ends()) for number in (1, 2)]
    assert stopped_half_way(Trial(run(reference(3, "woken")).ends()), references) is stopped


def test_what_only_some_of_them_do_may_be_left_out() -> None:
    references = [Trial(complete(reference(1)).ends()), Trial(dead(reference(2)).ends())]
    assert not stopped_half_way(Trial(dead(reference(3, "woken")).ends()), references)
    assert not stopped_half_way(Trial(dead(reference(3, "woken")).ends()), [])


def test_writes_that_change_nothing_are_no_work() -> None:
    found = Trial(complete(reference(1)).updates("w", status={"ready": 2}).ends())
    kinds = [(verb, resource.partition(".")[0]) for _, (verb, resource, _) in changing_kinds(found)]
    assert kinds == [("create", "pods"), ("update", "widgets")] * 2
    began, second = (step.began for step in found.workload)
    assert len(kinds_between(found, began, second)) == 2
    assert kinds_between(found, began, None) == frozenset()
