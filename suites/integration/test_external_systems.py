"""External systems of a run: started as they are declared, reset between trials, and reported clearly when they cannot be had."""

import asyncio
import sys
from pathlib import Path

import asyncpg
import pytest

from staleproof.core.declared import AnyDeclared, DeclaredHTTP, DeclaredOwn, DeclaredPostgreSQL, DeclaredS3
from staleproof.core.external import CallFault, Create, ExternalObject
from staleproof.core.history.entry import Called, Entry
from staleproof.drive.external.launch import RunningSystems, running_systems
from staleproof.drive.process.address import NEARBY, free_port
from staleproof.errors import SetupError, UsageError

ADAPTER = """
from contextlib import asynccontextmanager
from staleproof.core.external import ExternalObject
from staleproof.drive.external.http_service import HTTPService

class Mine(HTTPService):
    kind = "mine"

    async def read_state(self):
        return (ExternalObject(kind="things", name="one", fields={"size": 1}),)

@asynccontextmanager
async def mine(name):
    yield Mine(name, "http://127.0.0.1:%d")

@asynccontextmanager
async def other(name):
    yield name
"""


async def test_each_is_reached_by_its_variable_and_a_reset_takes_away_what_a_trial_left(tmp_path: Path) -> None:
    port, entries = free_port(), list[Entry]()
    command = (sys.executable, "-m", "staleproof.fixtures.external.buckets", f"--port={port}", f"--folder={tmp_path}")
    declared = (
        DeclaredPostgreSQL(name="db", env="DATABASE_URL"),
        DeclaredS3(name="store", env="STORE_URL", url=f"http://127.0.0.1:{port}", command=command),
    )
    async with running_systems(declared, tmp_path, tmp_path / "private", entries.append, NEARBY) as running:
        assert running.env.keys() == {"DATABASE_URL", "STORE_URL"}
        (password,) = running.secrets
        assert password in running.env["DATABASE_URL"]
        database = running["db"].relayed
        await database.drift(Create(object=ExternalObject(kind="roles", name="owner")))
        await database.drift(Create(object=ExternalObject(kind="databases", name="app", fields={"owner": "owner"})))
        await running["store"].relayed.drift(Create(object=ExternalObject(kind="buckets", name="b")))
        await database.install([CallFault(effect="reject")])
        await database.stop()
        await running.reset()
        connection = await asyncpg.connect(running.env["DATABASE_URL"])
        assert await connection.fetchval("SELECT 1") == 1
        connection.terminate()
        assert await database.read_state() == ()
        assert await running["store"].relayed.read_state() == ()
        await database.count_calls()
        with pytest.raises(UsageError, match="there is no external system 'dv'; there are: db, store"):
            running["dv"]
    assert [each.text for each in entries if isinstance(each, Called) and each.system == "db"][-1] == "SELECT 1"


async def test_an_adapter_of_the_users_is_one_like_others(tmp_path: Path) -> None:
    (tmp_path / "adapters.py").write_text(ADAPTER % free_port())
    own = DeclaredOwn(name="things", adapter=f"{tmp_path / 'adapters.py'}:mine")
    async with running_systems([own], tmp_path, tmp_path / "private", lambda _: None, NEARBY) as running:
        assert [each.name for each in await running["things"].relayed.read_state()] == ["one"]
        assert running["things"].relayed.kind == "mine"


async def test_two_that_are_started_with_a_free_port_do_not_meet(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "staleproof.fixtures.external.buckets", "--port={port}", f"--folder={tmp_path}")
    store = DeclaredS3(name="store", url="http://127.0.0.1:{port}", command=command)
    async with (
        running_systems([store], tmp_path, tmp_path / "one", lambda _: None, NEARBY) as one,
        running_systems([store], tmp_path, tmp_path / "two", lambda _: None, NEARBY) as two,
    ):
        assert one["store"].relayed.upstream != two["store"].relayed.upstream
        assert not one["store"].relayed.is_shared
        fixed = DeclaredS3(name="store", url=f"http://{one['store'].relayed.upstream}", command=command)
        with pytest.raises(SetupError, match=r"something listens at .* already, .*write \{port\} in `url` and in `command`"):
            async with running_systems([fixed], tmp_path, tmp_path / "three", lambda _: None, NEARBY):
                pass


async def test_a_service_that_runs_is_shared_and_one_trial_at_a_time_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    command = (sys.executable, "-m", "staleproof.fixtures.external.buckets", "--port={port}", f"--folder={tmp_path}")
    store = DeclaredS3(name="store", url="http://127.0.0.1:{port}", command=command)
    async with running_systems([store], tmp_path, tmp_path / "store", lambda _: None, NEARBY) as theirs:
        there = DeclaredS3(name="store", url=f"http://{theirs['store'].relayed.upstream}")
        async with (
            running_systems([there], tmp_path, tmp_path / "one", lambda _: None, NEARBY) as one,
            running_systems([there], tmp_path, tmp_path / "two", lambda _: None, NEARBY) as two,
        ):
            done = list[str]()

            async def trial(name: str, running: RunningSystems, begun: asyncio.Event) -> None:
                async with running.alone:
                    begun.set()
                    await running[there.name].relayed.drift(Create(object=ExternalObject(kind="buckets", name=name)))
                    await asyncio.sleep(0.5)
                    done.append(",".join(each.name for each in await running[there.name].relayed.read_state()))
                    await running.reset()

            begun = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                group.create_task(trial("a", one, begun))
                await begun.wait()
                await trial("b", two, asyncio.Event())
            assert done == ["a", "b"]
            async with theirs.alone, one.alone:  # what the run has started is its own
                pass


@pytest.mark.parametrize(
    ("declared", "error", "message"),
    [
        (DeclaredHTTP(name="api", url="http://127.0.0.1:1"), SetupError, "nothing listens at 127.0.0.1:1; start it, or say with"),
        (DeclaredHTTP(name="api", url="http://user:hunter2@x"), UsageError, "expected http://HOST:PORT/PATH, found http://x"),
        (DeclaredHTTP(name="api", url="https://user:hunter2@x"), UsageError, "cannot stand before TLS"),
        (DeclaredPostgreSQL(name="db", programs="/nowhere"), SetupError, r"no PostgreSQL server was found \(/nowhere\)"),
        (DeclaredOwn(name="own", adapter="nowhere.py:mine"), UsageError, "there is no file nowhere.py"),
        (DeclaredOwn(name="own", adapter="adapters.py:yours"), UsageError, "adapters.py has no yours"),
        (DeclaredOwn(name="own", adapter="adapters.py:other"), UsageError, "made str; an adapter is an ExternalSystem"),
    ],
)
async def test_what_cannot_be_had_is_reported(
    declared: AnyDeclared, error: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adapters.py").write_text(ADAPTER % 1)
    with pytest.raises(error, match=message) as refused:
        async with running_systems([declared], tmp_path, tmp_path / "private", lambda _: None, NEARBY):
            pass
    assert "hunter2" not in str(refused.value)
