"""A real PostgreSQL server of our own, on loopback: roles and databases are its state, LISTEN and NOTIFY its notifications.

It is a process of an unprivileged user with a data folder of its own, and its data is not synced to disk: it is of no use after a
crash of the machine. Its log has every statement, passwords among them, so it lies in that folder, which is private and goes.
"""

import asyncio
import json
import secrets
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

from staleproof.core.external import Drift, ExternalObject
from staleproof.core.times import ANSWER_SECONDS, GRACE_SECONDS, PROBE_ANSWER_SECONDS, READY_SECONDS
from staleproof.drive.external.postgresql_log import LINE_PREFIX, statements, verb
from staleproof.drive.external.postgresql_programs import PostgreSQLPrograms, find_programs
from staleproof.drive.external.postgresql_state import (
    BARE,
    READ_DATABASES,
    READ_ROLES,
    READ_SLOTS,
    SLOTS,
    Statement,
    changing,
    database,
    role,
    slot,
)
from staleproof.drive.external.system import ExternalSystem
from staleproof.drive.external.unprivileged import unprivileged
from staleproof.drive.process.address import LOOPBACK, free_port
from staleproof.drive.process.private import large_root, private_folder, write_private
from staleproof.drive.process.process import Command, Process
from staleproof.errors import SetupError, UsageError

if TYPE_CHECKING:
    import asyncpg

CHANNEL = "staleproof_drift"
"""What controllers LISTEN on, and the prefix of messages in the write-ahead log; the payload is `{"kind": …, "name": …}`."""
_HARNESS, _CONTROLLER = "staleproof", "controller"
_DATABASE = "postgres"
_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "fsync": "off",
    "log_statement": "all",
    "log_line_prefix": LINE_PREFIX,
    "log_timezone": "UTC",
    "lc_messages": "C",
    "wal_level": "logical",
    "shared_buffers": "16MB",
    "autovacuum": "off",
}


@dataclass(frozen=True, slots=True)
class _Folder:
    """What the server and its clients need to know. `programs` are those that made the data."""

    path: Path
    programs: PostgreSQLPrograms
    port: int
    passwords: dict[str, str] = field(repr=False)

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def log(self) -> Path:
        return self.path / "postgresql.log"

    def command(self, *argv: str) -> Command:
        return Command(name="postgresql", argv=unprivileged(argv, self.path), log=self.log, cwd=self.path)


class PostgreSQL(ExternalSystem):
    """A PostgreSQL server that runs, or is stopped. The controller connects as a superuser of its own, so that it can be told
    apart from every other client."""

    kind: ClassVar[str] = "postgresql"
    protocol = "postgresql"
    bare = BARE
    backlog_kinds = frozenset({SLOTS})

    def __init__(self, name: str, folder: _Folder) -> None:
        self.name, self._folder = name, folder
        self.port, self.upstream = folder.port, f"{LOOPBACK}:{folder.port}"
        self.url = self.url_at(LOOPBACK, self.port)
        self._process: Process | None = None

    def url_at(self, host: str, port: int) -> str:
        """With the controller's password in it. A relay reads statements, so nothing is encrypted; some clients insist unless the
        URL says so."""
        password = quote(self._folder.passwords[_CONTROLLER])
        return f"postgresql://{_CONTROLLER}:{password}@{host}:{port}/{_DATABASE}?sslmode=disable"

    async def read_state(self) -> tuple[ExternalObject, ...]:
        async with self._connection() as connection:
            databases = await connection.fetch(READ_DATABASES)
            roles = await connection.fetch(READ_ROLES, [_HARNESS, _CONTROLLER])
            slots = await connection.fetch(READ_SLOTS)
        return (*map(database, databases), *map(role, roles), *map(slot, slots))

    async def drift(self, drift: Drift) -> None:
        planned = changing(drift)
        async with self._connection() as connection:
            for statement in planned:
                await _execute(connection, statement)

    async def notify(self, kind: str, name: str) -> None:
        async with self._connection() as connection:
            said = json.dumps({"kind": kind, "name": name})
            await connection.execute("SELECT pg_notify($1, $2), pg_logical_emit_message(true, $1, $2::text)", CHANNEL, said)

    async def stop(self) -> None:
        """As in a crash, but with nothing lost: every client is cut off at once."""
        if self._process is not None and self._process.running:
            self._process.signal(signal.SIGINT)
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE_SECONDS):
                    await self._process.wait()
            await self._process.stop(grace_seconds=0)

    async def start(self) -> None:
        if self._process is not None and self._process.running:
            return
        settings = (f"--{name}={value}" for name, value in {**_SETTINGS, "port": str(self.port)}.items())
        folder = self._folder
        self._process = await Process.start(folder.command(str(folder.programs.postgres), "-D", str(folder.data), *settings))
        await self._process.ready(self._answers, limit_seconds=READY_SECONDS)

    async def count_calls(self) -> Counter[str]:
        """From the server's log: a call counts once it has arrived there."""
        lines = (await asyncio.to_thread(self._folder.log.read_text, errors="replace")).splitlines()
        return Counter(verb(statement) for statement in statements(lines, _CONTROLLER))

    async def _answers(self) -> bool:
        with suppress(SetupError):
            async with self._connection(PROBE_ANSWER_SECONDS):
                return True
        return False

    async def _grant_controller(self) -> None:
        async with self._connection() as connection:
            password = self._folder.passwords[_CONTROLLER]
            await _execute(connection, Statement("CREATE ROLE %I SUPERUSER LOGIN PASSWORD %L", (_CONTROLLER, password)))

    @asynccontextmanager
    async def _connection(self, seconds: float = ANSWER_SECONDS) -> AsyncIterator["asyncpg.Connection"]:
        """A connection of the harness's own. SetupError when the server does not answer, UsageError when it refuses a statement."""
        import asyncpg  # only where there is such a system: it comes with staleproof[postgresql]

        try:
            connection = await asyncpg.connect(
                host=LOOPBACK,
                port=self.port,
                user=_HARNESS,
                password=self._folder.passwords[_HARNESS],
                database=_DATABASE,
                ssl=False,
                timeout=seconds,
                command_timeout=seconds,
            )
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as err:
            raise SetupError(f"external system {self.name}: PostgreSQL does not answer on port {self.port}: {err}") from err
        try:
            yield connection
        except asyncpg.PostgresConnectionError as err:
            raise SetupError(f"external system {self.name}: PostgreSQL ended the connection: {err}") from err
        except asyncpg.PostgresError as err:
            raise UsageError(f"external system {self.name}: PostgreSQL refuses that: {err}") from err
        finally:
            connection.terminate()


@asynccontextmanager
async def postgresql(name: str, *, programs: Path | None = None) -> AsyncIterator[PostgreSQL]:
    """A server that runs, with an empty state; it and its data are gone when the block is left.

    `programs` is the folder of initdb and postgres; by default they are looked for.

    Raises:
        SetupError: there is no server or no client library, or it does not start.
    """
    _require_client()
    found = find_programs(programs)
    with private_folder("postgresql", root=large_root()) as path:
        passwords = {user: secrets.token_urlsafe(18) for user in (_HARNESS, _CONTROLLER)}
        system = PostgreSQL(name, await _initialised(_Folder(path, found, free_port(), passwords)))
        try:
            await system.start()
            await system._grant_controller()
            yield system
        finally:
            await system.stop()


async def _initialised(folder: _Folder) -> _Folder:
    """The folder, with the data of a new server in it."""
    password = folder.path / "password"
    write_private(password, folder.passwords[_HARNESS].encode())
    options = (
        "--auth=scram-sha-256",
        f"--username={_HARNESS}",
        f"--pwfile={password}",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
    )
    process = await Process.start(folder.command(str(folder.programs.initdb), "-D", str(folder.data), *options))
    try:
        code = await process.wait()
    finally:
        await process.stop(grace_seconds=0)
        password.unlink()
    if code != 0:
        raise SetupError(f"postgresql: initdb ended with code {code}.\n{process.account()}")
    return folder


def _require_client() -> None:
    try:
        import asyncpg  # noqa: F401
    except ImportError as err:
        raise SetupError("postgresql: there is no client for it; install staleproof[postgresql]") from err


async def _execute(connection: "asyncpg.Connection", statement: Statement) -> None:
    await connection.execute(
        await connection.fetchval("SELECT format($1, VARIADIC $2::text[])", statement.template, statement.arguments)
    )
