"""A plan and a session for the fixture clients that mirror ConfigMaps (fixtures/clients): what their tests share."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from staleproof.assess.trial.session import Session
from staleproof.core.fault import AnyFault
from staleproof.core.fault.legality import Contract
from staleproof.core.history.entry import Settled
from staleproof.core.history.history import History
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan, Settle, Subject, contradictions
from staleproof.core.plan.step import Apply, Delete, Patch
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.programs.go_program import GoProgram, ensure_go_program
from staleproof.drive.trial.run import run_trial
from staleproof.drive.trial.spec import Live, Reached, TrialSpec

from .environments import session_in

CLIENTS = Path(__file__).parents[2] / "fixtures" / "clients"
GO = {"go-watch-list": "true", "go-list-and-watch": "false"}
PYTHON = {"python": "python_mirror", "kopf": "kopf_mirror"}
EVERY = (*GO, *PYTHON)
ROLE = "staleproof.dev/mirror"
# Long enough for the back-off of client-go after several 410s, and for that of kopf.
SETTLE = Settle(deadline_seconds=90.0, limit_seconds=30.0)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with session_in(tmp_path_factory) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def go_mirror(go: Path) -> Path:
    return await ensure_go_program(GoProgram("go-mirror", CLIENTS / "go"), Silent())


@pytest.fixture
def subject(client: str, request: pytest.FixtureRequest) -> Subject:
    if client in GO:
        program: Path = request.getfixturevalue("go_mirror")
        return Subject(command=(str(program),), env={"KUBE_FEATURE_WatchListClient": GO[client]})
    return Subject(command=(sys.executable, "-m", f"staleproof.fixtures.clients.{PYTHON[client]}"))


def source(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {ROLE: "source"}}, "data": data}


def a_plan(*faults: AnyFault, contract: Contract = "legal", settle: Settle = SETTLE) -> Plan:
    """There are two sources; one is changed, the other is deleted and made anew."""
    first, second = (Target(api_version="v1", kind="ConfigMap", name=name) for name in ("first", "second"))
    steps = (
        Apply(object=source("first", colour="red")),
        Apply(object=source("second", colour="green")),
        Patch(target=first, patch={"data": {"colour": "blue", "size": "large"}}),
        Delete(target=second),
        Apply(object=source("second", colour="white")),
    )
    plan = Plan(scenario="fixture-clients", steps=steps, settle=settle, faults=faults, contract=contract)
    assert contradictions(plan) == []
    return plan


def not_mirrored(objects: Live) -> str:
    """What is wrong with the state; empty when every source has its copy and there is no other copy."""
    found = {name: obj for (resource, _, name), obj in objects.items() if resource == "configmaps"}
    of = {name: (obj["metadata"].get("labels") or {}).get(ROLE) for name, obj in found.items()}
    wanted = {f"mirror-{name}": (obj["metadata"]["uid"], obj["data"]) for name, obj in found.items() if of[name] == "source"}
    copies = {
        name: (obj["metadata"]["ownerReferences"][0]["uid"], obj["data"]) for name, obj in found.items() if of[name] == "copy"
    }
    return "" if wanted == copies else f"expected the copies {wanted}, found {copies}"


def run(session: Session, plan: Plan, folder: Path, *, reached: Reached | None = None) -> History:
    trial = TrialSpec(plan=plan, folder=folder, converged=not_mirrored, reached=reached)
    return session.call(lambda environment: run_trial(trial, environment))


def how_it_settled(history: History) -> Settled:
    (found,) = [entry for entry in history.entries if isinstance(entry, Settled)]
    return found
