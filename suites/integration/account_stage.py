"""A stage for a controller of Accounts: a real API server, and behind a relay a real PostgreSQL server that keeps their roles.

The tests of the controllers and the measurement of what their ways cost share it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from staleproof.core.external import CallSeen, Change, Delete, Drift, Seen, target
from staleproof.drive.cluster.api import JSON, Api
from staleproof.drive.external.postgresql import postgresql
from staleproof.drive.external.relay import Relay, relay
from staleproof.drive.external.relayed import Relayed, behind
from staleproof.drive.external.system import ExternalSystem
from staleproof.drive.process.process import Process

from .widget_stage import ControllerStage, fixture

ACCOUNTS = "accounts.staleproof.dev"
EVERY_SECONDS = 1.0
"""The period of a controller under test."""
OBVIOUS_SECONDS = 4.0
"""What is not repaired by then is not going to be: four periods."""
_LOOK_SECONDS = 0.05


def account(status: JSON) -> tuple[str, str, int | None]:
    """What an Account's status says: Ready, why, and of which generation."""
    ready: JSON = next((each for each in status.get("conditions", ()) if each["type"] == "Ready"), {})
    return (ready.get("status", ""), ready.get("reason", ""), status.get("observedGeneration"))


class AccountStage(ControllerStage):
    """A namespace with Accounts, whose roles are in a PostgreSQL server that others use, too."""

    resources = (ACCOUNTS, "secrets", "configmaps")
    OTHER_LIMIT = 77
    """Of connections: what another user sets."""

    def __init__(self, api: Api, kubeconfig: Path, folder: Path, system: "Roles") -> None:
        super().__init__(api, kubeconfig, folder)
        self.system = system
        self.env = {**self.env, "EXTERNAL_URL": system.url}

    @asynccontextmanager
    async def keeping(self, *argv: str, every_seconds: float = EVERY_SECONDS) -> AsyncIterator[Process]:
        """A controller of this namespace that has begun to work."""
        words = ("poller: listed", " ready") if any(each in argv[-1] for each in POLLERS.values()) else (" ready",)
        before = {word: self._logged(word) for word in words}
        async with self.running(*argv, f"--every-seconds={every_seconds}", "--namespace", self.namespace) as process:
            async with self.patient("ready"):
                while any(self._logged(word) == count for word, count in before.items()):
                    await asyncio.sleep(_LOOK_SECONDS)
            yield process

    def _logged(self, words: str) -> int:
        """How often programs have said so."""
        return self.log.read_text().count(words) if self.log.exists() else 0

    def role_of(self, name: str) -> str:
        return f"{self.namespace}_{name}"

    async def role(self, name: str = "sample") -> dict[str, Any] | None:
        """An account's role as it is, read past the relay; None: there is none."""
        state = await self.system.read_state()
        return next((dict(each.fields) for each in state if (each.kind, each.name) == ("roles", self.role_of(name))), None)

    async def reported(self, name: str = "sample") -> tuple[str, str, int | None]:
        found = await self.stored(name, ACCOUNTS)
        assert found is not None
        return account(found.get("status", {}))

    async def kept(self, name: str = "sample", **fields: object) -> None:
        """Wait until the role is as the account wants it, with these fields, and the status says so."""
        async with self.patient(f"{name}: kept with {fields}"):
            while not await self.is_kept(name, **fields):
                await asyncio.sleep(_LOOK_SECONDS)

    async def is_kept(self, name: str = "sample", **fields: object) -> bool:
        stored, role = await self.stored(name, ACCOUNTS), await self.role(name)
        if stored is None or role is None:
            return False
        spec, generation = stored["spec"], stored["metadata"]["generation"]
        wanted = {"login": spec["login"], "connectionLimit": spec["connectionLimit"], "createdb": spec["createDatabases"]}
        ready, _, observed = account(stored.get("status", {}))
        return (ready, observed) == ("True", generation) and wanted | fields == {each: role[each] for each in wanted | fields}

    @asynccontextmanager
    async def patient(self, what: str) -> AsyncIterator[None]:
        """What happens in the block has to come to an end."""
        try:
            async with asyncio.timeout(60):
                yield
        except TimeoutError:
            log = self.log.read_text() if self.log.exists() else ""
            raise AssertionError(f"{what}: not so after 60 s; the controller wrote:\n{log}") from None

    async def change_role(self, name: str = "sample", *, tell: bool = False) -> None:
        """Another user gives the role another limit."""
        await self._drift(Change(kind="roles", name=self.role_of(name), fields={"connectionLimit": self.OTHER_LIMIT}), tell=tell)

    async def drop_role(self, name: str = "sample", *, tell: bool = False) -> None:
        await self._drift(Delete(kind="roles", name=self.role_of(name)), tell=tell)

    async def _drift(self, drift: Drift, *, tell: bool) -> None:
        await self.system.drift(drift)
        if tell:
            await self.system.notify(*target(drift))

    async def stays_otherwise(self, name: str = "sample", seconds: float = OBVIOUS_SECONDS) -> None:
        """Nothing repairs the role in that time."""
        end = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < end:
            assert not await self.is_kept(name)
            await asyncio.sleep(_LOOK_SECONDS)

    async def sql(self, statement: str) -> None:
        """Past the relay, so that it does not count as a call of the controller."""
        connection = await asyncpg.connect(self.system.system.url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    async def logs_in(self, password: str, name: str = "sample") -> None:
        """As the role, with this password."""
        port = urlsplit(self.system.system.url).port
        connection = await asyncpg.connect(
            host="127.0.0.1", port=port, user=self.role_of(name), password=password, database="postgres"
        )
        await connection.close()

    async def calls(self) -> int:
        """How many calls the controller has made so far."""
        return sum((await self.system.count_calls()).values())

    async def calls_about(self, name: str = "sample") -> int:
        """How many of them name the account's role."""
        await self.system.count_calls()
        calls = [each for each in self.system.seen if isinstance(each, CallSeen)]
        return sum(self.role_of(name) in (each.text, *each.values) for each in calls)


class Roles(Relayed):
    """A PostgreSQL server behind a relay, and what the relay has reported."""

    def __init__(self, system: ExternalSystem, relay: Relay, seen: list[Seen]) -> None:
        super().__init__(system, relay)
        self.seen = seen


@asynccontextmanager
async def roles_behind_a_relay(folder: Path) -> AsyncIterator[Roles]:
    """Starts both."""
    seen: list[Seen] = []
    ends: list[str] = []
    async with (
        postgresql("db") as server,
        relay([behind(server)], folder / "private", seen.append, ends.append, log=folder / "relay.log") as before,
    ):
        yield Roles(server, before, seen)
    assert ends == []


def accounts(name: str) -> tuple[str, ...]:
    """The command of a controller of Accounts: one program, or a controller with its poller."""
    if name in POLLERS:
        return fixture("together", "accounts by_status", f"accounts.status_poller {POLLERS[name]}")
    return fixture("accounts", name)


POLLERS = {"status_poller": "honest", "overwriting": "overwriting"}
