"""When nothing that was run without faults can be compared with, and which runs are made once more."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
from msgspec import structs

from staleproof.assess.run.worker import SessionOptions, Worker
from staleproof.assess.store.run_folder import RunFolder
from staleproof.assess.trial.comparison import fresh
from staleproof.assess.trial.references import Hopeless, References
from staleproof.core.history.history import History, HistoryRole
from staleproof.core.plan.plan import Plan, Subject
from staleproof.core.times import LATE_LIFE_SECONDS

from ...checks.script import Script, reference


@pytest.mark.parametrize(
    ("troubles", "ends"), [(["it exits"], False), (["it exits", ""], False), (["it exits", "it is busy"], True)]
)
def test_a_sample_is_given_up_when_no_workload_of_it_can_be_compared_with(troubles: list[str], ends: bool, tmp_path: Path) -> None:  # noqa: FBT001
    references = References(Worker(SessionOptions(subject=Subject(command=("./bin/manager",))), folder=tmp_path))
    for number, trouble in enumerate(troubles):
        RunFolder(tmp_path).keep_trouble("a sample", str(number), trouble)
    with pytest.raises(Hopeless, match="nothing can be judged: 2 workloads") if ends else nullcontext():
        references.raise_hopeless("a sample")
    references.raise_hopeless("another sample")


class SlowToBegin(Worker):
    """A new life begins to work once a fault-free run is over, unless that gives it time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(SessionOptions(subject=Subject(command=("./bin/manager",)), run_secret="run"), folder=folder)
        self.begins: list[float] = []

    def watch(self, plan: Plan, *, role: HistoryRole = "reference", lasts: Sequence[float] = (), goals: object = None) -> History:
        self.begins.append(plan.settle.begins_seconds)
        script = reference(len(self.begins), role)
        script.plan = plan
        script.step(1, "apply").applied("w")
        if plan.settle.begins_seconds:
            return script.creates("w-1").idle(1).step(2, "touch").applied("w").idle(2).ends()
        return script.idle(1).step(2, "touch").applied("w").idle(2).released().settled().creates("w-1").ends()


def test_a_run_that_was_over_before_a_new_life_began_is_made_once_more_with_time_for_it(tmp_path: Path) -> None:
    worker, plan = SlowToBegin(tmp_path), fresh(Script().plan)
    for each in References(worker).runs_for(plan, "final"):
        each.make()
    assert worker.begins == [0.0, LATE_LIFE_SECONDS]
    for each in References(worker).runs_for(structs.replace(plan, fresh=False), "reference"):
        each.make()
    assert worker.begins[2:] == [0.0], "a life that goes on has begun"
