"""An environment for the tests of what the runner does to a real controller: they run plans and read the histories.

One environment serves a whole file. Pods of other trials are in other namespaces.
"""

import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from staleproof.assess.run.worker import SessionOptions
from staleproof.assess.trial.session import Session
from staleproof.core.history.entry import Entry
from staleproof.core.history.history import History
from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.plan import Plan, Subject
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.cluster.truth import Key
from staleproof.drive.trial.environment import Environment, EnvironmentOptions, environment
from staleproof.drive.trial.run import run_trial
from staleproof.drive.trial.spec import TrialSpec

MANIFESTS = Path(__file__).parents[2] / "fixtures" / "manifests"
WIDGET: Manifest = yaml.safe_load((MANIFESTS / "widget-sample.yaml").read_text())
CRDS: tuple[Manifest, ...] = tuple(yaml.safe_load_all((MANIFESTS / "widget-crd.yaml").read_text()))
LIMIT_SECONDS = 60.0


def target(manifest: Manifest) -> Target:
    return Target(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"])


def fixture(module: str, *arguments: str, **env: str) -> Subject:
    """A controller of fixtures/controllers."""
    return Subject(command=(sys.executable, "-m", f"staleproof.fixtures.controllers.{module}", *arguments), env=env)


def session_in(folders: pytest.TempPathFactory, **options: Any) -> Session:  # noqa: ANN401  # fields of SessionOptions
    """A session for a whole file; each test puts its controller under test."""
    return Session(SessionOptions(subject=Subject(command=("none yet",)), root=folders.mktemp("staleproof"), **options))


class Player:
    """Runs plans in its environment, each in a folder of its own."""

    def __init__(self, made: Environment, folder: Path) -> None:
        self.environment, self._folder = made, folder

    async def use(self, subject: Subject, *, metrics: str = "", release_leases: bool = True) -> None:
        """Put a controller under test."""
        await self.environment.lives.use(subject, metrics=metrics)
        self.environment.lives.release_leases = release_leases

    async def play(self, plan: Plan, **waits: Any) -> History:  # noqa: ANN401  # fields of TrialSpec
        folder = self._folder / str(len(list(self._folder.iterdir())))
        return await run_trial(TrialSpec(plan=plan, folder=folder, **waits), self.environment)

    async def settle(self, plan: Plan, *, pods: int) -> History:
        """Play a plan that has converged when there are so many pods."""

        def missing(live: Mapping[Key, Any]) -> str:
            found = sum(resource == "pods" for resource, _, _ in live)
            return "" if found == pods else f"{found} pods of {pods}"

        return await self.play(plan, converged=missing, deadline_seconds=LIMIT_SECONDS)

    @contextmanager
    def seeing(self) -> Iterator[list[Entry]]:
        """Entries of all namespaces."""
        seen: list[Entry] = []
        self.environment.bus.listeners.append(seen.append)
        yield seen
        self.environment.bus.listeners.remove(seen.append)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def player(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Player]:
    """An environment that knows Widgets, with the honest controller that chooses its pods' names."""
    folder = tmp_path_factory.mktemp("environment")
    (folder / "trials").mkdir()
    async with environment(
        EnvironmentOptions(subject=fixture("deterministic"), manifests=CRDS), folder / "environment", Silent()
    ) as made:
        yield Player(made, folder / "trials")


def of(entries: History | Iterable[Entry], *kinds: type[Entry]) -> list[Any]:
    """The entries of these kinds."""
    of_all = entries.entries if isinstance(entries, History) else entries
    return [entry for entry in of_all if isinstance(entry, kinds)]
