"""By what name the workers of a run know the work that they share."""

from pathlib import Path
from typing import Any

import pytest

from staleproof.assess.run.doing import Doing
from staleproof.assess.run.worker import SessionOptions, Worker
from staleproof.core.plan.plan import Subject

OPTIONS: dict[str, Any] = {
    "subject": Subject(command=("./bin/manager",), env={"PASSWORD": "hunter2xyz"}),
    "manifests": ({"kind": "CustomResourceDefinition", "metadata": {"name": "a"}},),
    "run_secret": "known to this run",
}


def key(folder: Path, *about: object, **options: Any) -> str:  # noqa: ANN401  # fields of SessionOptions
    return Worker(SessionOptions(**OPTIONS | options), folder=folder).key("references", *about)


def test_all_workers_of_a_run_have_the_same(tmp_path: Path) -> None:
    assert key(tmp_path, {"b": 1, "a": 2}, worker="gw0") == key(tmp_path, {"a": 2, "b": 1}, worker="gw1")


@pytest.mark.parametrize(
    "changed",
    [
        {"subject": Subject(command=("./bin/another",), env={"PASSWORD": "hunter2xyz"})},
        {"subject": Subject(command=("./bin/manager",), env={"PASSWORD": "swordfish"})},
        {"subject": Subject(image="./bin/manager", env={"PASSWORD": "hunter2xyz"})},
        {"manifests": ()},
        {"companions": ("garbage-collector",)},
        {"metrics": "http://127.0.0.1:{metrics_port}/metrics"},
        {"release_leases": False},
    ],
)
def test_it_is_another_when_the_controller_may_do_something_else(changed: dict[str, Any], tmp_path: Path) -> None:
    assert key(tmp_path, "steps", **changed) != key(tmp_path, "steps")
    assert key(tmp_path, "steps") != key(tmp_path, "other steps")


def test_a_secret_cannot_be_tried_out_from_outside_the_run(tmp_path: Path) -> None:
    assert key(tmp_path, "steps", run_secret="another run") != key(tmp_path, "steps")
    alone = {key(tmp_path, "steps", run_secret="") for _ in range(2)}
    assert len(alone) == 2


def test_a_worker_says_what_it_does_and_not_what_that_is_made_of(tmp_path: Path) -> None:
    reports: list[Doing] = []
    worker = Worker(SessionOptions(**OPTIONS), folder=tmp_path, tell=reports.append)
    with worker.doing("trial", "a"):
        pass
    with worker.doing("confirming", "a"), worker.doing("references", "b"):
        pass
    phases = [(each.phase, each.what) for each in reports]
    assert phases == [("trial", "a"), ("waiting", ""), ("confirming", "a"), ("waiting", "")]
