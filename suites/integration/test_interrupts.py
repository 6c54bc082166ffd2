"""INT and TERM, in every phase of a run: it ends with a report of what was finished, and within ten seconds nothing is left of it.

Phases are recognised by what appears in the run folder, the processes of a run by a variable that all of them inherit, and its
containers by the process that their label names.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio
import yaml
from testcontainers.core.docker_client import DockerClient

from staleproof.core.times import INTERRUPTED_SECONDS
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.process.images import Recipe, make_image
from staleproof.drive.process.reaper import RUN_LABEL
from staleproof.drive.programs.go_program import GoProgram, ensure_go_program
from staleproof.report.live import STOPPING

from .conftest import MANIFESTS, QUICK, WIDGETS, fixture_controller

pytestmark = pytest.mark.usefixtures("own_plane")

Phase = Literal["starting", "learning", "trial", "confirming", "working"]
PHASES: dict[Phase, str] = {
    "starting": "apiserver.log",
    "learning": "references/*/history.jsonl",
    "trial": "trials/*002/history.jsonl",
    "confirming": "trials/*001/rerun-1-*/history.jsonl",
    "working": "history.jsonl",
}
"""The file that says that a run has come so far, in the run folder or in a worker's part of it. In the phase `trial` one trial is
over, and `working` is what doctors see."""
PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:asyncio", *QUICK)
STALEPROOF = (sys.executable, "-m", "staleproof")
FAMILY: dict[Phase, str] = {"trial": "restart or streams", "confirming": "own-writes/hide-creates"}
IMAGE = "staleproof-go-naive:latest"
MARK = "STALEPROOF_TEST_OF_INTERRUPTS"
LIMIT_SECONDS, POLL_SECONDS, AT_ONCE_SECONDS = 240.0, 0.02, 2.0
INTERRUPTED = 2


def controller(kind: str) -> str:
    return f"--controller-image={IMAGE}" if kind == "image" else f"--controller-cmd={fixture_controller('naive')}"


def suite(kind: str, phase: Phase, *arguments: str) -> tuple[str, ...]:
    """The part of the conformance suite in which a run comes to this phase."""
    return (*PYTEST, *WIDGETS, controller(kind), "-k", FAMILY.get(phase, "own-writes"), *arguments)


@dataclass
class Running:
    """A command in a folder and a process group of its own."""

    folder: Path
    mark: str
    process: subprocess.Popen[bytes]
    pids: set[int] = field(default_factory=set)

    @property
    def run_folder(self) -> Path:
        """The latest."""
        return max(self.folder.glob(".staleproof/runs/*"), default=self.folder / "none")

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text()

    def written(self, pattern: str) -> list[Path]:
        return [path for each in (pattern, f"*/{pattern}") for path in self.run_folder.glob(each)]

    def left(self) -> set[int]:
        """Its living processes."""
        found = set()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if f"{MARK}={self.mark}".encode() in path.read_bytes():
                    found.add(int(path.parent.name))
        self.pids |= found
        return found

    def reaches(self, phase: Phase) -> None:
        end = time.monotonic() + LIMIT_SECONDS
        while not self.written(PHASES[phase]):
            assert self.process.poll() is None, self.output
            assert time.monotonic() < end, self.output
            self._tick()

    def send(self, number: int, *, to_group: bool = False) -> None:
        self.left()
        (os.killpg if to_group else os.kill)(self.process.pid, number)

    def seconds_to_say(self, text: str) -> float:
        """Until its output has this."""
        began = time.monotonic()
        while text not in self.output:
            assert time.monotonic() < began + INTERRUPTED_SECONDS, self.output
            self._tick()
        return time.monotonic() - began

    def seconds_to_the_end(self, engine: DockerClient | None, *, again: int = 0) -> float:
        """Until nothing is left of it. `again`: a signal that it is sent all the while."""
        began = time.monotonic()
        while self.process.poll() is None or self.left() or self._containers(engine):
            assert time.monotonic() < began + 3 * INTERRUPTED_SECONDS, (
                command_lines(self.left()),
                self._containers(engine),
                self.output,
            )
            if again and self.process.poll() is None:
                self.send(again)
            self._tick()
        return time.monotonic() - began

    def _containers(self, engine: DockerClient | None) -> list[Any]:
        if engine is None:
            return []
        found = engine.client.containers.list(all=True, filters={"label": RUN_LABEL}, ignore_removed=True)
        return [each for each in found if int(each.labels[RUN_LABEL].split("/")[-2]) in self.pids]

    def _tick(self) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(POLL_SECONDS)


def command_lines(pids: Iterable[int]) -> list[str]:
    found = []
    for pid in pids:
        with suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


@contextmanager
def running(folder: Path, *argv: str) -> Iterator[Running]:
    """Start a command; whatever a failed test leaves of it is killed."""
    mark = uuid.uuid4().hex
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    env |= {MARK: mark, "STALEPROOF_COMPANIONS": "none", "TESTCONTAINERS_RYUK_DISABLED": "true"}
    env |= {"PYTEST_DEBUG_TEMPROOT": str(folder)}  # in the usual place pytest clears away what other runs have left there
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(argv, cwd=folder, env=env, stdout=output, stderr=output, start_new_session=True)
    made = Running(folder, mark, process)
    try:
        yield made
    finally:
        for pid in made.left():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def finished(run: Running) -> set[str]:
    """The trials behind which a worker has begun another one, so they are over."""
    names = sorted(path.name for path in run.written("trials/*"))
    return {name for name, after in pairwise(names) if name[:-3] == after[:-3]}


def assert_reported(run: Running, expected: set[str]) -> None:
    report = json.loads((run.run_folder / "report.json").read_bytes())
    conformance = yaml.safe_load((run.run_folder / "conformance.yaml").read_text())
    assert report["partial"] is True
    assert "the run was interrupted" in conformance["notSubmittableBecause"]
    assert expected <= {trial["name"] for trial in report["trials"]}
    folders = Path(tempfile.gettempdir())
    assert not [path for pid in run.pids for path in folders.glob(f"staleproof-*-{pid}-*")], "of keys and tokens"


def assert_ended(run: Running, seconds: float, request: pytest.FixtureRequest, *, code: int = INTERRUPTED) -> None:
    request.node.user_properties.append(("seconds", f"{seconds:.1f}"))
    assert run.process.returncode == code, run.output
    assert seconds < INTERRUPTED_SECONDS, run.output


def parent_of(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


@dataclass(frozen=True)
class Case:
    number: signal.Signals
    phase: Phase
    kind: str = "command"
    workers: int = 0
    to_group: bool = False
    is_slow: bool = True

    def param(self) -> Any:  # noqa: ANN401  # pytest's ParameterSet
        target = "group" if self.to_group else "process"
        name = f"{self.number.name}-{self.phase}-{self.kind}-n{self.workers}-{target}"
        return pytest.param(self, id=name, marks=[pytest.mark.slow] if self.is_slow else [])


QUICKLY = [
    Case(signal.SIGTERM, "starting", is_slow=False),
    Case(signal.SIGTERM, "learning", workers=2, is_slow=False),
]
CASES: list[Case] = QUICKLY + [
    case
    for number in (signal.SIGINT, signal.SIGTERM)
    for phase in ("starting", "learning", "trial", "confirming")
    for kind in ("command", "image")
    for workers, to_group in ((0, False), (2, False), (2, True))
    if (case := Case(number, phase, kind, workers, to_group)) not in [replace(each, is_slow=True) for each in QUICKLY]
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def image(engine: DockerClient, go: Path) -> DockerClient:
    """The engine, which has the image of a naive controller."""
    program = await ensure_go_program(GoProgram("go-naive", MANIFESTS.parent / "go-naive"), Silent())
    make_image(engine, Recipe(image=IMAGE, program=program, entrypoint=("go-naive",)))
    return engine


@pytest.mark.parametrize("case", [case.param() for case in CASES])
def test_an_interrupted_run_reports_what_was_finished_and_leaves_nothing(
    case: Case, programs: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    engine = request.getfixturevalue("image") if case.kind == "image" else None
    with running(tmp_path, *suite(case.kind, case.phase, f"-n{case.workers}")) as run:
        run.reaches(case.phase)
        over = finished(run)
        run.send(case.number, to_group=case.to_group)
        announced = run.seconds_to_say(STOPPING)
        seconds = run.seconds_to_the_end(engine)
    assert announced < AT_ONCE_SECONDS, "what there is is shown before anything is stopped"
    assert_ended(run, seconds, request)
    assert_reported(run, over)
    assert over or case.phase != "trial"
    assert "interrupted; " in run.output
    assert "all that the run had started is stopped" in run.output


@pytest.mark.parametrize(
    ("kind", "workers"),
    [("command", 0), pytest.param("image", 0, marks=pytest.mark.slow), pytest.param("image", 2, marks=pytest.mark.slow)],
)
def test_signals_that_come_again_and_again_change_nothing(
    kind: str, workers: int, programs: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    engine = request.getfixturevalue("image") if kind == "image" else None
    with running(tmp_path, *suite(kind, "learning", f"-n{workers}")) as run:
        run.reaches("learning")
        run.send(signal.SIGTERM)
        seconds = run.seconds_to_the_end(engine, again=signal.SIGTERM)
    assert_ended(run, seconds, request)
    assert_reported(run, set())


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_that_is_killed_leaves_no_container(
    workers: int, image: DockerClient, programs: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with running(tmp_path, *suite("image", "learning", f"-n{workers}")) as run:
        run.reaches("learning")
        run.send(signal.SIGKILL)
        seconds = run.seconds_to_the_end(image)
    assert_ended(run, seconds, request, code=-signal.SIGKILL)


@pytest.mark.slow
def test_a_worker_that_is_interrupted_ends_the_run(programs: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with running(tmp_path, *suite("command", "learning", "-n2")) as run:
        run.reaches("learning")
        worker = next(pid for pid in run.left() if parent_of(pid) == run.process.pid)
        os.kill(worker, signal.SIGTERM)
        seconds = run.seconds_to_the_end(None)
    assert_ended(run, seconds, request)
    assert_reported(run, set())


@pytest.mark.slow
def test_a_controller_that_does_not_stop_is_killed(programs: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """It is asked to stop for as long as there is time for that."""
    stubborn = f"""sh -c 'trap "" TERM; {fixture_controller("naive")}; true'"""
    with running(tmp_path, *PYTEST, *WIDGETS, f"--controller-cmd={stubborn}") as run:
        run.reaches("learning")
        run.send(signal.SIGTERM)
        seconds = run.seconds_to_the_end(None)
    assert_ended(run, seconds, request)


CONFTEST = """
import pytest
from staleproof.core.plan.plan import Subject

@pytest.fixture(scope="session")
def controller_spec():
    return Subject(command={command!r})
"""
MINE = """
import pytest

@pytest.mark.parametrize("_", range(2))
def test_mine(_, observed):
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_a_controller_of_a_conftest_is_stopped(
    workers: int, programs: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """The controlling process learns of it from its workers."""
    (tmp_path / "conftest.py").write_text(CONFTEST.format(command=tuple(fixture_controller("naive").split())))
    (tmp_path / "test_mine.py").write_text(MINE)
    with running(tmp_path, *PYTEST, *WIDGETS, f"-n{workers}", "test_mine.py") as run:
        run.reaches("learning")
        run.send(signal.SIGTERM)
        seconds = run.seconds_to_the_end(None)
    assert_ended(run, seconds, request)


@pytest.mark.parametrize(
    ("command", "phase"),
    [
        ("demo", "confirming"),
        ("doctor", "starting"),
        pytest.param("demo", "starting", marks=pytest.mark.slow),
        pytest.param("demo", "trial", marks=pytest.mark.slow),
        pytest.param("run", "learning", marks=pytest.mark.slow),
        pytest.param("doctor", "working", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_command_ends_as_a_run_does(
    command: str, phase: Phase, number: signal.Signals, programs: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    given = () if command == "demo" else (*WIDGETS, controller("command"))
    with running(tmp_path, *STALEPROOF, command, *given) as run:
        run.reaches(phase)
        over = finished(run)
        run.send(number)
        seconds = run.seconds_to_the_end(None, again=number)
    assert_ended(run, seconds, request)
    assert run.output.endswith("interrupted\n")
    if command != "doctor":  # which judges nothing
        assert_reported(run, over)


@pytest.mark.slow
def test_a_replay_ends_as_a_run_does(programs: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with running(tmp_path, *STALEPROOF, "demo") as run:
        run.reaches("confirming")
        run.send(signal.SIGTERM)
        run.seconds_to_the_end(None)
        plan = run.run_folder / "trials" / "001"
    with running(tmp_path, *STALEPROOF, "replay", str(plan), controller("command")) as run:
        run.reaches("confirming")
        run.send(signal.SIGTERM)
        seconds = run.seconds_to_the_end(None)
    assert_ended(run, seconds, request)
    assert_reported(run, set())
