"""A real PostgreSQL server as an external system: its state is read and drifts, it stops and starts, its calls are counted."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from staleproof.core.external import Change, Create, Delete, Drift, ExternalObject, target
from staleproof.drive.external.postgresql import CHANNEL, PostgreSQL, postgresql
from staleproof.errors import SetupError, UsageError

ODD = 'we"ird; name'


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system() -> AsyncIterator[PostgreSQL]:
    async with postgresql("db") as running:
        yield running


async def found(system: PostgreSQL, kind: str, name: str) -> dict[str, Any] | None:
    return next((each.fields for each in await system.read_state() if (each.kind, each.name) == (kind, name)), None)


async def test_a_new_server_has_nothing_in_it(system: PostgreSQL) -> None:
    assert await system.read_state() == ()


async def test_its_state_drifts(system: PostgreSQL) -> None:
    await system.drift(Create(object=ExternalObject(kind="roles", name=ODD, fields={"login": True, "password": "it's"})))
    before = await found(system, "roles", ODD)
    assert before is not None
    assert before["login"] is True
    await system.drift(Change(kind="roles", name=ODD, fields={"login": False, "password": "other"}))
    after = await found(system, "roles", ODD)
    assert after is not None
    assert after["login"] is False
    assert after["password"] not in ("", "other", before["password"])
    await system.drift(Create(object=ExternalObject(kind="databases", name="app", fields={"owner": ODD})))
    assert await found(system, "databases", "app") == {"owner": ODD, "connectionLimit": -1}
    for drift in (Delete(kind="databases", name="app"), Delete(kind="roles", name=ODD)):
        await system.drift(drift)
        assert await found(system, *target(drift)) is None


@pytest.mark.parametrize(
    "drift",
    [Delete(kind="roles", name="missing"), Create(object=ExternalObject(kind="roles", name="pg_own"))],
    ids=["absent", "reserved"],
)
async def test_what_the_server_refuses_is_said(system: PostgreSQL, drift: Drift) -> None:
    with pytest.raises(UsageError, match="external system db: PostgreSQL refuses that: role"):
        await system.drift(drift)


async def test_only_the_controllers_calls_are_counted(system: PostgreSQL) -> None:
    before = await system.count_calls()
    connection = await asyncpg.connect(system.url)
    await connection.execute("CREATE ROLE counted")
    for _ in range(3):
        assert await connection.fetchval("SELECT count(*) FROM pg_roles WHERE rolname = $1", "counted") == 1
    await system.drift(Delete(kind="roles", name="counted"))
    assert await system.count_calls() - before == {"CREATE": 1, "SELECT": 3}
    await connection.close()


async def test_a_listener_is_notified(system: PostgreSQL) -> None:
    connection = await asyncpg.connect(system.url)
    heard: asyncio.Queue[str] = asyncio.Queue()
    await connection.add_listener(CHANNEL, lambda *given: heard.put_nowait(given[3]))
    await system.notify("roles", "app")
    assert json.loads(await asyncio.wait_for(heard.get(), 10)) == {"kind": "roles", "name": "app"}
    await connection.close()


async def test_it_is_down_and_up_again_with_its_state(system: PostgreSQL) -> None:
    await system.drift(Create(object=ExternalObject(kind="roles", name="stays")))
    connection = await asyncpg.connect(system.url)
    await system.stop()
    await system.stop()
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await connection.fetchval("SELECT 1")
    with pytest.raises(SetupError, match="PostgreSQL does not answer on port"):
        await system.read_state()
    await system.start()
    await system.start()
    assert await found(system, "roles", "stays") is not None
    await system.drift(Delete(kind="roles", name="stays"))
