"""The fixture clients do their one job through the proxy, when nothing is wrong and when their watch is held, cut or expired.

What every other fault does to each of them is tested with the reactions. The client in Go is skipped where there is no Go.
"""

import uuid
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from staleproof.assess.trial.session import Session
from staleproof.core.fault import AnyFault, Expire, HoldStream, SeverStream, Window
from staleproof.core.history.change import WriteKind
from staleproof.core.history.entry import Asked, FaultFired
from staleproof.core.history.history import History
from staleproof.core.history.request import WRITES
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan, Settle, Subject
from staleproof.core.plan.step import Apply, Delete, Patch
from staleproof.drive.cluster.manifests import resource_type
from staleproof.drive.process.program import Program
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.spec import Live

from .mirror_stage import EVERY, ROLE, a_plan, how_it_settled, not_mirrored, run, source
from .mirror_stage import go_mirror as go_mirror
from .mirror_stage import session as session
from .mirror_stage import subject as subject

FAULTS: dict[str, AnyFault] = {
    "held until it lists again": HoldStream(resource="configmaps", release="relist", window=Window(from_step=3)),
    "reset": SeverStream(resource="configmaps", how="reset", window=Window(from_step=3)),
    "expired": Expire(resource="configmaps", window=Window(from_step=3, until_step=5)),
}


CLIENTS = [pytest.param(each, marks=[] if each in ("go-watch-list", "python") else [pytest.mark.live]) for each in EVERY]
"""The other two take the same ways, and longer: ci/live has them."""
STOP_SECONDS = 60.0
PATIENT = Settle(idle_seconds=3.0, quiet_seconds=3.0, limit_seconds=60.0, deadline_seconds=90.0)
"""A busy machine may keep a client from its work for longer than the usual quarter of a second."""


def has_mirrored(step: int, live: Live, done: Collection[WriteKind]) -> bool:
    """Whether the client has done what there was to do in a step; one in which there is nothing to do lasts as long as it may."""
    return bool(done) and not not_mirrored(live)


def writes(history: History) -> list[str]:
    return [entry.verb for entry in history.entries if isinstance(entry, Asked) and entry.verb in WRITES]


@pytest.mark.parametrize("client", CLIENTS)
def test_copies_follow_their_sources(session: Session, subject: Subject, tmp_path: Path) -> None:
    """They need no more writes than necessary: the copy of an earlier incarnation is deleted and made anew."""
    session.use(subject)
    history = run(session, a_plan(settle=PATIENT), tmp_path, reached=has_mirrored)
    assert how_it_settled(history).ok, how_it_settled(history).why
    assert writes(history) == ["create", "create", "update", "delete", "create"]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("client", CLIENTS)
def test_copies_catch_up_with_their_sources(session: Session, subject: Subject, fault: str, tmp_path: Path) -> None:
    session.use(subject)
    history = run(session, a_plan(FAULTS[fault]), tmp_path)
    assert [entry.fault for entry in history.entries if isinstance(entry, FaultFired)] == [0]
    assert how_it_settled(history).ok, how_it_settled(history).why


@pytest.mark.parametrize("client", CLIENTS)
def test_copies_are_repaired_and_foreign_objects_left_alone(session: Session, subject: Subject, tmp_path: Path) -> None:
    """A change to a copy is undone; an object that only has a copy's name is left alone as long as it exists."""
    copy = Target(api_version="v1", kind="ConfigMap", name="mirror-first")
    foreign = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": copy.name}, "data": {"whose": "not yours"}}
    steps = (
        Apply(object=foreign),
        Apply(object=source("first", colour="red")),
        Delete(target=copy),
        Patch(target=copy, patch={"data": {"colour": "brown"}}),
        Delete(target=copy),
    )
    session.use(subject)
    history = run(session, Plan(scenario="fixture-clients", steps=steps, settle=PATIENT), tmp_path, reached=has_mirrored)
    assert how_it_settled(history).ok, how_it_settled(history).why
    assert writes(history) == ["create", "update", "create"]


@pytest.mark.parametrize("client", CLIENTS)
def test_it_begins_with_existing_objects_and_stops_on_request(session: Session, subject: Subject) -> None:
    async def begin(environment: Environment) -> tuple[bool, Program]:
        namespace = f"staleproof-{uuid.uuid4().hex[:8]}"
        await environment.create_namespace(namespace)
        for manifest in (
            source("first", colour="red"),
            source("second", colour="green"),
            orphan("mirror-second"),
            orphan("mirror-third"),
        ):
            await environment.api.apply(await resource_type(manifest, environment.api), namespace, manifest)
        await environment.controller_ready()
        mirrored = await environment.bus.until(
            lambda now: not not_mirrored(environment.truth.live(namespace)) or now + 0.05, limit_seconds=60.0
        )
        assert environment.lives.program is not None
        return mirrored, environment.lives.program

    session.use(subject)
    mirrored, controller = session.call(begin)
    assert mirrored, controller.account()
    assert session.call(lambda _: controller.stop(grace_seconds=STOP_SECONDS)) == 0, controller.account()


def orphan(name: str) -> dict[str, Any]:
    """A copy whose source is gone, or has come back as another incarnation."""
    owner = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": name.removeprefix("mirror-"),
        "uid": str(uuid.uuid4()),
        "controller": True,
    }
    metadata = {"name": name, "labels": {ROLE: "copy"}, "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"colour": "grey"}}
