"""Running staleproof as its users do: as a command, in a folder of its own, judged by what it prints and by its exit code.

All asynchronous tests of a file run in one event loop, because what they share (a control plane, a proxy) lives in it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_asyncio import is_async_test
from rich.console import Console
from rich.table import Table

from .environments import player as player
from .programs import engine as engine
from .programs import go as go
from .programs import kube_controller_manager_image as kube_controller_manager_image
from .programs import programs as programs
from .proxy_stage import scene as scene
from .proxy_stage import stage as stage
from .proxy_wilderness import play as play
from .proxy_wilderness import wilderness as wilderness
from .shared_plane import VARIABLE
from .shared_plane import own_plane as own_plane
from .shared_plane import shared_plane as shared_plane
from .stage import api as api
from .stage import plane as plane

HERE = Path(__file__).parent
MANIFESTS = HERE.parents[1] / "fixtures" / "manifests"
WIDGETS = (f"--staleproof-crds={MANIFESTS / 'widget-crd.yaml'}", f"--staleproof-samples={MANIFESTS / 'widget-sample.yaml'}")
QUICK = ("--staleproof-profile=smoke", "--staleproof-max-examples=1")
KCM_ARGUMENTS = (
    "--controllers=replicaset-controller --leader-elect=false --use-service-account-credentials=false "
    "--kube-api-qps=1000 --kube-api-burst=2000 --bind-address=127.0.0.1 --secure-port=0"
)
LIMIT_SECONDS = 600


def fixture_controller(name: str) -> str:
    return f"{sys.executable} -m staleproof.fixtures.controllers.{name}"


@dataclass(frozen=True)
class Done:
    """A finished command; it ran in `folder`."""

    code: int
    output: str
    folder: Path
    last: str
    """The last line of its standard output."""

    @property
    def run_folder(self) -> Path:
        return (self.folder / ".staleproof" / "latest").resolve()

    @property
    def report(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.run_folder / "report.json").read_bytes())
        return document

    @property
    def conformance(self) -> dict[str, Any]:
        document: dict[str, Any] = yaml.safe_load((self.run_folder / "conformance.yaml").read_text())
        return document

    @property
    def results(self) -> dict[str, str]:
        """Requirement → result, as the conformance report says."""
        return {test["name"]: test["result"] for test in self.conformance["profiles"][0]["core"]["tests"]}


Run = Callable[..., Done]


@pytest.fixture(scope="module")
def staleproof(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`staleproof ARGUMENTS`."""
    return _runner([sys.executable, "-m", "staleproof"], tmp_path_factory)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`pytest -v ARGUMENTS` in an empty folder, with the plugin that is installed, and without our own pytest-asyncio."""
    return _runner([sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:asyncio"], tmp_path_factory)


def _runner(command: list[str], folders: pytest.TempPathFactory) -> Run:
    def run(*arguments: str, folder: Path | None = None, env: dict[str, str] | None = None) -> Done:
        where = folder or folders.mktemp("user")
        if env is None:  # a pytest started by an xdist worker must not take itself for a worker
            env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
        env = {"STALEPROOF_COMPANIONS": "none", **env}  # they cost seconds a run, and test_companions has them
        env = {"STALEPROOF_PATIENCE": "5", **env}  # what is stuck is known here, and test_patience waits for it
        if any(argument.startswith("-n") for argument in arguments):  # each worker has a control plane and a controller of its own
            env.pop(VARIABLE, None)
        finished = subprocess.run(
            [*command, *arguments], cwd=where, env=env, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
        )
        last = (finished.stdout.splitlines() or [""])[-1]
        return Done(finished.returncode, finished.stdout + finished.stderr, where, last)

    return run


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_async_test(item) and item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what each client does about each fault, as the tests of this run found it."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    cells = [value for report in reports for name, value in report.user_properties if name == "reaction"]
    if not cells:
        return
    clients = sorted({client for _, client, _ in cells})
    table = Table(title="what clients do about faults", title_justify="left")
    for heading in ("fault", *clients):
        table.add_column(heading)
    for row in _cells(cells, clients):
        table.add_row(*row)
    if page := os.environ.get("STALEPROOF_REACTIONS"):
        _write(Path(page), [["fault", *clients], ["---"] * (1 + len(clients)), *_cells(cells, clients)])
    console = Console(width=200)
    with console.capture() as capture:
        console.print(table)
    terminalreporter.write_line(capture.get())


def _cells(cells: list[tuple[str, str, str]], clients: list[str]) -> list[list[str]]:
    """One row for each fault, in the order of the tests."""
    by_place = {(title, client): text for title, client, text in cells}
    return [[title, *(by_place.get((title, client), "-") for client in clients)] for title in dict.fromkeys(t for t, _, _ in cells)]


def _write(page: Path, rows: list[list[str]]) -> None:
    """Put the table into the page, between its markers."""
    begin, end = "<!-- reactions: begin -->\n", "<!-- reactions: end -->"
    before, _, rest = page.read_text().partition(begin)
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    page.write_text(f"{before}{begin}{table}{end}{rest.partition(end)[2]}")
