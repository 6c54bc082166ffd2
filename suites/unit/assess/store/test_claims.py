"""Claims: a plan is run once, by the first to come, and taken over from one that died; what came of it can be read by anyone."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock
from msgspec import structs

from staleproof.assess.store.claims import Claims, Done
from staleproof.assess.store.crashes import crash_id
from staleproof.assess.store.run_folder import HISTORY
from staleproof.assess.trial.result import Result
from staleproof.core.plan.step import Apply

from ...judged import result


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def guilty(run_folder: Path) -> Result:
    return replace(result("naive-hidden-creates", run_folder / "gw1" / "trials" / "gw1-001"), name="gw1-001")


def never() -> Result:
    raise AssertionError("it was run again")


def test_a_plan_is_run_once_and_the_result_is_the_same_for_all(run_folder: Path, guilty: Result) -> None:
    done = Claims(run_folder).take("key", lambda: guilty)
    other = Claims(run_folder)
    assert other.take("key", never) == other.take("key", never, helps=True) == done
    assert done is not None
    assert other.result(done, guilty.plan) == guilty
    assert [story.text() for story in other.result(done, guilty.plan).stories] == [story.text() for story in guilty.stories]


def test_a_finding_has_the_same_id_in_every_worker(run_folder: Path, guilty: Result) -> None:
    """A plan that is drawn names no controller; one that was run does."""
    done = Claims(run_folder).take("key", lambda: guilty)
    assert done is not None
    drawn = structs.replace(guilty.plan, controller=None)
    assert crash_id(Claims(run_folder).result(done, drawn).plan) == crash_id(guilty.plan) != crash_id(drawn)


def test_of_a_history_that_was_not_kept_the_verdicts_are_known(run_folder: Path, guilty: Result) -> None:
    done = Claims(run_folder).take("key", lambda: guilty)
    (guilty.folder / HISTORY).unlink()
    assert done is not None
    read = Claims(run_folder).result(done, guilty.plan)
    assert (read.verdicts, read.history.entries) == (guilty.verdicts, ())


def test_no_other_worker_runs_it_meanwhile(run_folder: Path, guilty: Result) -> None:
    other = Claims(run_folder)

    def run() -> Result:
        assert other.take("key", never) is None
        assert other.take("key", never, helps=True) is None
        assert other.take("another", lambda: guilty) is not None
        return guilty

    assert Claims(run_folder).take("key", run) is not None


def test_once_the_run_is_over_nothing_is_left_of_it(run_folder: Path, guilty: Result) -> None:
    claims = Claims(run_folder)
    claims.take("key", lambda: guilty)
    claims.forget()
    claims.forget()
    assert not [path for path in run_folder.rglob("*") if "key" in path.name]


def test_a_plan_that_was_left_out_stays_so(run_folder: Path) -> None:
    assert Claims(run_folder).take("key", lambda: "") == Claims(run_folder).take("key", never) == Done()


def test_why_a_plan_cannot_be_carried_out_is_kept(run_folder: Path) -> None:
    Claims(run_folder).take("key", lambda: "there are 0 such children")
    assert Claims(run_folder).take("key", never) == Done(why="there are 0 such children")


def test_a_plan_that_failed_is_left_to_the_next_that_needs_it(run_folder: Path, guilty: Result) -> None:
    claims = Claims(run_folder)
    with pytest.raises(AssertionError):
        claims.take("key", never)
    assert claims.take("key", never, helps=True) is None
    assert claims.take("key", lambda: guilty) is not None


DIES = """
import os, sys
from pathlib import Path
from staleproof.assess.store.claims import Claims

def run():
    print("begun", flush=True)
    sys.stdin.readline()
    os._exit(7)

Claims(Path(sys.argv[1])).take("key", run)
"""


@pytest.mark.io
def test_a_plan_of_a_process_that_dies_is_taken_over(run_folder: Path, guilty: Result) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", DIES, str(run_folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "begun\n"
        assert Claims(run_folder).take("key", never) is None
        other.stdin.write("\n")
        other.stdin.flush()
        done = Claims(run_folder).take("key", lambda: guilty, acquire=FileLock.acquire)
    assert done is not None
    assert done.name == guilty.name


def test_all_workers_agree_on_what_the_first_found(run_folder: Path, guilty: Result) -> None:
    assert Claims(run_folder).agreed("failing", lambda: [guilty.plan]) == [guilty.plan]
    assert Claims(run_folder).agreed("failing", list) == [guilty.plan]
    assert Claims(run_folder).agreed("others", list) == []


def test_what_holds_a_secret_is_in_no_file_and_each_worker_has_its_own(run_folder: Path, guilty: Result) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "password"}, "stringData": {"password": "hunter2hunter2"}}
    plan = structs.replace(guilty.plan, steps=(*guilty.plan.steps, Apply(object=secret)))
    assert Claims(run_folder).agreed("drawn", lambda: [plan]) == [plan]
    assert Claims(run_folder).agreed("drawn", lambda: [guilty.plan, plan]) == [guilty.plan, plan]
    assert not any(b"hunter2" in path.read_bytes() for path in run_folder.rglob("*") if path.is_file())
