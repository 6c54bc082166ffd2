"""What the workers of a run share is done by one of them: the others wait for it, and take it over if it dies."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Event
from typing import Any

import pytest

from staleproof.assess.run.worker import SessionOptions
from staleproof.assess.store.crashes import find_plan
from staleproof.assess.store.run_folder import HISTORY, RunFolder, read_history
from staleproof.assess.trial.references import REFERENCES
from staleproof.assess.trial.session import Session
from staleproof.core.plan.plan import Subject
from staleproof.errors import SetupError

from .conftest import QUICK, WIDGETS, Done, Run, fixture_controller

WORKER = """
import sys
from pathlib import Path
from staleproof.assess.store.run_folder import RunFolder

def acquire(lock):
    print("waits", flush=True)
    lock.acquire()

def make():
    print("works", flush=True)
    return sys.stdin.readline().strip().encode()

print(RunFolder(Path(sys.argv[1])).once("key", make, acquire).decode(), flush=True)
"""
MOMENT_SECONDS, LIMIT_SECONDS = 0.5, 120.0


class Worker:
    """Another process that wants the same work done; it ends the work with what the test gives it."""

    def __init__(self, folder: Path) -> None:
        self.process = Popen([sys.executable, "-c", WORKER, str(folder)], stdin=PIPE, stdout=PIPE, text=True)

    def says(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def end_with(self, text: str) -> None:
        assert self.process.stdin
        print(text, file=self.process.stdin, flush=True)


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[list[Worker]]:
    """Two, of which the first is at work and the second waits."""
    with at_work(tmp_path) as first:
        assert [first.says(), first.says()] == ["waits", "works"]
        with at_work(tmp_path) as second:
            assert second.says() == "waits"
            yield [first, second]


@contextmanager
def at_work(folder: Path) -> Iterator[Worker]:
    worker = Worker(folder)
    with worker.process as process:
        try:
            yield worker
        finally:
            process.kill()


def test_one_works_and_the_other_takes_what_came_of_it(workers: list[Worker]) -> None:
    first, second = workers
    first.end_with("done by the first")
    assert [first.says(), second.says()] == ["done by the first"] * 2


def test_the_work_of_one_that_died_is_taken_over(workers: list[Worker], tmp_path: Path) -> None:
    first, second = workers
    first.process.kill()
    assert second.says() == "works"
    second.end_with("done by the second")
    assert second.says() == "done by the second"
    assert RunFolder(tmp_path).once("key", lambda: b"again") == b"done by the second"


def test_a_worker_that_waits_is_released_when_the_run_ends(tmp_path: Path) -> None:
    begun, done = Event(), Event()

    def make() -> bytes:
        begun.set()
        done.wait()
        return b""

    with ThreadPoolExecutor() as threads:
        try:
            with Session(SessionOptions(subject=Subject(command=("none",)), root=tmp_path)) as session:
                works = threads.submit(session.once, "work", "", make)
                assert begun.wait(LIMIT_SECONDS)
                waits = threads.submit(session.once, "work", "", make)
                assert not wait([works, waits], timeout=MOMENT_SECONDS).done
            with pytest.raises(SetupError, match="the run is over"):
                waits.result()
        finally:
            done.set()


# --- a run of two workers ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared(suite: Run) -> Done:
    return suite("-n2", f"--controller-cmd={fixture_controller('expectations')}", *WIDGETS, *QUICK, "-k", "own-writes or streams")


@pytest.mark.live
def test_workers_share_references_and_observation(shared: Done) -> None:
    assert shared.code == 0, shared.output
    trials = shared.report["trials"]
    assert {trial["name"].partition("-")[0] for trial in trials} == {"gw0", "gw1"}
    every = [_references(shared, trial) for trial in trials]
    assert min(map(len, every)) == REFERENCES, "more where a busy machine leaves a doubt"
    compared = [names[:REFERENCES] for names in every]
    of_worker = [
        {names for names, trial in zip(compared, trials, strict=True) if trial["name"].startswith(w)} for w in ("gw0", "gw1")
    ]
    assert of_worker[0] & of_worker[1], "both have trials of the same workload, or nothing is shown here"
    usual = [trial for trial, names in zip(trials, every, strict=True) if len(names) == REFERENCES]  # the others have run more
    assert sum(trial["referencesSeconds"] > 0 for trial in usual) <= len(set(compared)), "a worker that waits has not run them"


@pytest.mark.live
def test_nothing_is_done_twice(shared: Done) -> None:
    folders = [path for path in (shared.run_folder / "shared" / "references").iterdir() if (path / HISTORY).exists()]
    plans = {folder.name: find_plan(str(folder), shared.folder) for folder in folders}
    kept = {path.read_text() for path in (shared.run_folder / "shared" / "once").glob("*.json")}
    trials = {name for name, plan in plans.items() if plan.scenario != "observe"}
    assert trials
    assert trials <= kept, "each is the outcome of what one worker did for all"
    assert [plan.settle.quiet_seconds for plan in plans.values()].count(5.0) == 1, "the patient run of the observation"


def _references(done: Done, trial: dict[str, Any]) -> tuple[str, ...]:
    return read_history(done.run_folder / trial["folder"] / HISTORY).header.references
