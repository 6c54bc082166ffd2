"""When nothing that was run without faults can be compared with, and which runs are made once more."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
from msgspec import structs

import staleproof.assess.trial.references as module
from staleproof.assess.run.worker import SessionOptions, Worker
from staleproof.assess.store.run_folder import HISTORY, PLAN, RunFolder, write_atomically
from staleproof.assess.trial.comparison import fresh
from staleproof.assess.trial.references import Hopeless, References
from staleproof.core.history.history import History, HistoryRole, sealed
from staleproof.core.plan.plan import Plan, Subject, encode
from staleproof.core.times import LATE_LIFE_SECONDS
from staleproof.draw.copies import SWEEP, copies, there

from ...checks.script import Script, reference
from ...draw.seen import MOVE, widgets


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


class Made(References):
    """A plan stands for each of its runs."""

    def _repeated(self, plan: Plan) -> tuple[History, ...]:
        return (plan,)  # type: ignore[return-value]


@pytest.mark.parametrize(("scenario", "ends"), [(SWEEP, False), ("life", True)])
def test_moves_that_cannot_be_compared_with_do_not_give_up_their_sample(
    scenario: str,
    ends: bool,  # noqa: FBT001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = (Plan(scenario=scenario, steps=there(copies(widgets(), [MOVE]))[:end]) for end in (3, 2))
    monkeypatch.setattr(module, "indexed", lambda history, _: history)
    monkeypatch.setattr(module, "reference_trouble", lambda _: "it is busy")
    references = Made(Worker(SessionOptions(subject=Subject(command=("./m",)), run_secret="r"), folder=tmp_path))
    references.repeat(first)
    with pytest.raises(Hopeless) if ends else nullcontext():
        references.repeat(second)


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


MANAGER, OTHER = Subject(command=("./bin/manager",)), Subject(command=("./bin/other",))


class Alone(Worker):
    """There is no other worker to wait for."""

    def once(self, kind: str, about: object, make: Callable[[], bytes]) -> bytes:
        return make()


def keep(run: RunFolder, number: int, spec: object, *, controller: Subject = MANAGER) -> None:
    """A fault-free run of that controller, which makes a child like this."""
    script = reference(number)
    script.plan = structs.replace(script.plan, controller=controller, manifests=())
    made, data = sealed(script.step(1, "apply").applied("w").creates("w-0", spec=spec).ends())
    folder = run.reference_under_way(str(number))
    write_atomically(folder / HISTORY, data)
    write_atomically(folder / PLAN, encode(script.plan))
    run.keep_reference(folder, made)


def test_what_runs_of_one_workload_do_not_agree_on_is_unstable_and_runs_of_another_controller_say_nothing(tmp_path: Path) -> None:
    references, run = References(Alone(SessionOptions(subject=MANAGER), folder=tmp_path)), RunFolder(tmp_path)
    assert references.unstable() == ()
    keep(run, 1, {"a": 1, "b": 2})
    keep(run, 2, {"a": 9, "b": 9}, controller=OTHER)
    assert references.unstable() == ()
    keep(run, 3, {"a": 1, "b": 3})
    assert [each.path for each in references.unstable()] == ["spec.b"]
