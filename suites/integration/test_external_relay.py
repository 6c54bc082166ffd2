"""A real relay before a real PostgreSQL server: calls and notifications pass, are counted, and go wrong as the faults say."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
import pytest_asyncio

from staleproof.core.external import (
    AnswerSeen,
    CallFault,
    CallSeen,
    Create,
    Delete,
    ExternalObject,
    NotificationFault,
    Seen,
)
from staleproof.core.history.entry import (
    Broke,
    Called,
    CallEffect,
    Committed,
    Entry,
    NotificationEffect,
    Notified,
    Replied,
)
from staleproof.core.history.history import Header, decode
from staleproof.core.history.resource_version import Revision
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest
from staleproof.core.plan.stored import plain
from staleproof.drive.external.postgresql import CHANNEL, PostgreSQL, postgresql
from staleproof.drive.external.recording import ExternalRecording
from staleproof.drive.external.relay import relay
from staleproof.drive.external.relayed import Relayed, behind
from staleproof.drive.trial.event_bus import EventBus
from staleproof.drive.trial.recorder import Recorder
from staleproof.errors import SetupError, UsageError

WIDGETS = "widgets.staleproof.dev"
LATE_SECONDS = 0.4
GONE = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)


class Stage:
    """A server behind a relay, and what the relay has reported."""

    def __init__(self, server: PostgreSQL, system: Relayed, seen: list[Seen]) -> None:
        self.server, self.system, self.seen = server, system, seen

    async def has(self, name: str) -> bool:
        return any(each.name == name for each in await self.system.read_state())

    async def answers(self, text: str) -> list[AnswerSeen]:
        """Of the calls with this in them."""
        await self.system.count_calls()
        calls = {each.call for each in self.seen if isinstance(each, CallSeen) and text in each.text}
        return [each for each in self.seen if isinstance(each, AnswerSeen) and each.call in calls]

    @asynccontextmanager
    async def connected(self) -> AsyncIterator["asyncpg.Connection"]:
        connection = await asyncpg.connect(self.system.url)
        try:
            yield connection
        finally:
            connection.terminate()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    folder: Path = tmp_path_factory.mktemp("relay")
    seen: list[Seen] = []
    ends: list[str] = []
    async with (
        postgresql("db") as server,
        relay([behind(server)], folder / "private", seen.append, ends.append, log=folder / "relay.log") as before,
    ):
        yield Stage(server, Relayed(server, before), seen)
    assert ends == []


@pytest_asyncio.fixture(loop_scope="module")
async def stage(running: Stage) -> AsyncIterator[Stage]:
    yield running
    await running.system.install([])
    for each in await running.system.read_state():
        await running.system.drift(Delete(kind=each.kind, name=each.name))


async def test_calls_pass_and_are_counted_as_the_server_counts_them(stage: Stage) -> None:
    by_relay, by_server = await stage.system.count_calls(), await stage.server.count_calls()
    async with stage.connected() as connection:
        await connection.execute("CREATE ROLE a")
        for _ in range(3):
            assert await connection.fetchval("SELECT rolname FROM pg_roles WHERE rolname = $1", "a") == "a"
        async with connection.transaction():
            await connection.execute("ALTER ROLE a LOGIN")
    counted = {"CREATE": 1, "SELECT": 3, "BEGIN": 1, "ALTER": 1, "COMMIT": 1}
    assert await stage.system.count_calls() - by_relay == counted
    assert await stage.server.count_calls() - by_server == counted
    named = [each for each in stage.seen if isinstance(each, CallSeen) and each.values == ("a",)]
    assert {(each.client, each.verb) for each in named} == {("controller", "SELECT")}
    assert [(each.outcome, each.executed) for each in await stage.answers("ALTER ROLE a")] == [("ok", True)]


async def test_an_answer_that_says_no_has_its_code(stage: Stage) -> None:
    async with stage.connected() as connection:
        with pytest.raises(asyncpg.UndefinedObjectError):
            await connection.execute("DROP ROLE missing")
    assert [(each.outcome, each.code) for each in await stage.answers("DROP ROLE missing")] == [("fail", "42704")]


@pytest.mark.parametrize(("effect", "executed"), [("cut", False), ("lose-answer", True)])
@pytest.mark.parametrize("prepared", [False, True], ids=["simple", "prepared"])
async def test_a_connection_ends_before_the_call_or_before_its_answer(
    stage: Stage, effect: CallEffect, *, executed: bool, prepared: bool
) -> None:
    name = f"{effect}-{prepared}"
    await stage.system.install([CallFault(effect=effect, mentions=name, count=1)])
    async with stage.connected() as connection:
        ask = connection.fetch if prepared else connection.execute
        with pytest.raises(GONE):
            await ask(f'CREATE ROLE "{name}"')
    assert await stage.has(name) is executed
    async with stage.connected() as connection:  # it happens once
        await connection.execute(f'DROP ROLE IF EXISTS "{name}"')
    first = (await stage.answers(f'CREATE ROLE "{name}"'))[0]
    assert (first.outcome, first.executed, first.effect) == ("unknown", executed, effect)


async def test_a_call_is_executed_and_never_answered_while_the_connection_stays(stage: Stage) -> None:
    await stage.system.install([CallFault(effect="stall", changes=True, nth=2, count=1, of=3)])
    async with stage.connected() as connection:
        await connection.execute("CREATE ROLE first")
        assert await connection.fetchval("SELECT 1") == 1
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(LATE_SECONDS):
                await connection.execute("CREATE ROLE stalled")
        assert await stage.has("stalled")
    (answer,) = [each for each in stage.seen if isinstance(each, AnswerSeen) and each.effect == "stall"]
    assert (answer.outcome, answer.executed, answer.of) == ("unknown", True, 3)
    async with stage.connected() as connection:  # it happens once, and harms no other client
        await connection.execute("DROP ROLE first")
        await connection.execute("DROP ROLE stalled")


async def test_a_call_is_rejected_and_the_connection_goes_on(stage: Stage) -> None:
    await stage.system.install([CallFault(effect="reject", mentions="rejected", count=2)])
    async with stage.connected() as connection:
        for ask in (connection.execute, connection.fetch):
            with pytest.raises(asyncpg.TooManyConnectionsError):
                await ask("CREATE ROLE rejected")
        assert not await stage.has("rejected")
        await connection.execute("CREATE ROLE rejected")
        assert await stage.has("rejected")


async def test_a_late_answer_is_to_what_was_done_at_once(stage: Stage) -> None:
    await stage.system.install([CallFault(effect="delay", seconds=LATE_SECONDS, mentions="late")])
    async with stage.connected() as connection, asyncio.TaskGroup() as group:
        began = time.monotonic()
        asking = group.create_task(connection.execute("CREATE ROLE late"))
        while not await stage.has("late"):
            await asyncio.sleep(0.01)
        assert not asking.done()
        await asking
        assert time.monotonic() - began >= LATE_SECONDS


async def test_a_slow_system_answers_everything_late(stage: Stage) -> None:
    async with stage.connected() as connection:
        await stage.system.slow(LATE_SECONDS)
        began = time.monotonic()
        await connection.execute("SELECT 1")
        assert time.monotonic() - began >= LATE_SECONDS
        await stage.system.slow(0)
        began = time.monotonic()
        await connection.execute("SELECT 1")
        assert time.monotonic() - began < LATE_SECONDS


@pytest.mark.parametrize(
    ("effect", "seconds", "expected"),
    [(None, None, ["a", "b"]), ("lose", None, ["b"]), ("repeat", None, ["a", "a", "b"]), ("delay", LATE_SECONDS, ["b", "a"])],
)
async def test_notifications_are_lost_come_twice_or_late(
    stage: Stage, effect: NotificationEffect | None, seconds: float | None, expected: list[str]
) -> None:
    await stage.system.install([NotificationFault(effect=effect, seconds=seconds, mentions='"a"')] if effect else [])
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with stage.connected() as connection:
        await connection.add_listener(CHANNEL, lambda *given: heard.put_nowait(given[3]))
        for name in ("a", "b"):
            await stage.system.notify("roles", name)
        found = [await asyncio.wait_for(heard.get(), 10) for _ in expected]
        assert await connection.fetchval("SELECT 1") == 1  # the connection is as it should be
    assert found == [f'{{"kind": "roles", "name": "{name}"}}' for name in expected]
    assert heard.empty()


async def test_while_the_system_is_down_no_client_can_connect_and_later_every_one_can(stage: Stage) -> None:
    async with stage.connected() as connection:
        await stage.system.stop()
        try:
            with pytest.raises((*GONE, asyncpg.InternalClientError)):  # this one, if it asks while the server takes its leave
                await connection.fetch("SELECT 1")
            with pytest.raises(GONE):
                await asyncpg.connect(stage.system.url)
        finally:
            await stage.system.start()
    async with stage.connected() as connection:
        assert await connection.fetchval("SELECT 1") == 1


async def test_nothing_is_encrypted_and_a_client_that_insists_is_refused(stage: Stage) -> None:
    assert stage.system.url.endswith("?sslmode=disable")
    with pytest.raises(ConnectionError, match="rejected SSL upgrade"):
        await asyncpg.connect(stage.system.url.replace("sslmode=disable", "sslmode=require"))
    connection = await asyncpg.connect(stage.system.url.replace("sslmode=disable", "sslmode=prefer"))
    try:
        assert await connection.fetchval("SELECT 1") == 1
    finally:
        connection.terminate()


async def test_a_client_that_speaks_another_protocol_is_cut_off_and_no_other(stage: Stage) -> None:
    async with stage.connected() as connection:
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(stage.system.url).port)
        writer.write(b"\0\0\0\0")
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()
        assert await connection.fetchval("SELECT 1") == 1


async def test_a_question_can_be_cancelled(stage: Stage) -> None:
    async with stage.connected() as connection:
        with pytest.raises(TimeoutError):
            await connection.execute("SELECT pg_sleep(60)", timeout=0.2)
        assert await connection.fetchval("SELECT 1") == 1
    assert [(each.outcome, each.code) for each in await stage.answers("pg_sleep")] == [("fail", "57014")]


async def test_faults_that_make_no_sense_are_refused(stage: Stage) -> None:
    with pytest.raises(UsageError, match="external system db: delay: a delay needs seconds"):
        await stage.system.install([CallFault(effect="delay")])


async def test_the_log_of_the_relay_has_nothing_of_the_calls(stage: Stage) -> None:
    await stage.system.drift(Create(object=ExternalObject(kind="roles", name="canary", fields={"login": True})))
    async with stage.connected() as connection:
        await connection.execute("ALTER ROLE canary PASSWORD 'hunter2'")
    assert stage.system._relay is not None
    process = stage.system._relay.process
    assert b"hunter2" not in process.command.log.read_bytes()


HEADER = Header(plan=Plan(scenario="x", steps=(Rest(seconds=1.0),)), namespace="mine")


def widget(namespace: str, name: str, *, at: float) -> Committed:
    """What a direct watch would have shown."""
    return Committed(
        at=at,
        resource=WIDGETS,
        type="ADDED",
        namespace=namespace,
        name=name,
        uid=f"{namespace}-{name}",
        revision=Revision(1),
        object={"metadata": {"namespace": namespace, "name": name}, "status": {"conditions": []}},
    )


async def test_a_history_has_the_calls_of_its_trial_with_their_objects_and_no_secrets(tmp_path: Path) -> None:
    bus, began = EventBus(), time.monotonic()
    bus.recorder = Recorder(tmp_path / "history.jsonl", HEADER, (), began=began)
    recording = ExternalRecording(bus.take, [WIDGETS])
    bus.listeners.append(recording.see)
    for namespace in ("mine", "theirs"):
        bus.take(widget(namespace, "w-a", at=time.monotonic()))
    async with (
        postgresql("db") as server,
        relay([behind(server)], tmp_path / "private", recording.seen, recording.ended, log=tmp_path / "relay.log") as before,
    ):
        system = Relayed(server, before)
        await system.install([CallFault(effect="reject", mentions="LOGIN"), NotificationFault(effect="lose")])
        connection = await asyncpg.connect(system.url)
        await connection.add_listener(CHANNEL, lambda *_: None)
        await connection.execute("CREATE ROLE mine_w_a PASSWORD 'hunter2'")
        await connection.execute("CREATE ROLE theirs_w_a PASSWORD 'hunter2'")
        with pytest.raises(asyncpg.TooManyConnectionsError):
            await connection.execute("ALTER ROLE mine_w_a LOGIN")
        assert await connection.fetchval("SELECT rolname FROM pg_roles WHERE rolname = $1", "mine_w_a") == "mine_w_a"
        await system.notify("roles", "mine_w_a")
        await connection.fetchval("SELECT version()")
        await system.count_calls()
        connection.terminate()
    history = bus.recorder.finish()
    data = plain((tmp_path / "history.jsonl.gz").read_bytes())
    assert b"hunter2" not in data
    assert b"theirs_w_a" not in data
    assert decode(data).entries == history.entries
    calls = [each for each in history.entries if isinstance(each, Called)]
    assert [(each.verb, each.name) for each in calls] == [
        ("LISTEN", ""),
        ("CREATE", "w-a"),
        ("ALTER", "w-a"),
        ("SELECT", "w-a"),
        ("SELECT", ""),
    ]
    assert calls[1].text == "CREATE ROLE mine_w_a PASSWORD '…'"
    outcomes = {each.call: (each.outcome, each.executed) for each in history.entries if isinstance(each, Replied)}
    assert [outcomes[each.call] for each in calls] == [("ok", True), ("ok", True), ("fail", False), ("ok", True), ("ok", True)]
    assert [(each.name, each.effect) for each in history.entries if isinstance(each, Notified)] == [("w-a", "lose")]


async def test_a_relay_that_is_killed_says_so_and_lets_no_call_pass(tmp_path: Path) -> None:
    entries: asyncio.Queue[Entry] = asyncio.Queue()
    recording = ExternalRecording(entries.put_nowait)
    async with (
        postgresql("db") as server,
        relay([behind(server)], tmp_path / "private", recording.seen, recording.ended, log=tmp_path / "relay.log") as before,
    ):
        system = Relayed(server, before)
        connection = await asyncpg.connect(system.url)
        await before.process.send_signal(signal.SIGKILL)
        with pytest.raises(GONE):
            await connection.execute("SELECT 1")
        with pytest.raises(SetupError, match="the relay does not answer"):
            await system.count_calls()
        async with asyncio.timeout(60):
            while not isinstance(entry := await entries.get(), Broke):
                continue
    assert entry.where == "relay"
