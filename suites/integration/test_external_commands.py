"""Systems that commands read and change: a real supervisor of real processes, which crash; and commands that are not as they should
be."""

import sys
from pathlib import Path

import aiohttp
import pytest

from staleproof.core.declared import DeclaredCommands
from staleproof.core.external import Change, Create, Delete, ExternalObject
from staleproof.drive.external.commands import Commands
from staleproof.drive.external.launch import running_systems
from staleproof.drive.external.system import NotImplementedByAdapter
from staleproof.drive.process.address import NEARBY
from staleproof.errors import SetupError, UsageError

PROCESSES = (sys.executable, "-m", "staleproof.fixtures.external.processes")
SUPERVISOR = DeclaredCommands(
    name="runner",
    url="http://127.0.0.1:{port}",
    command=(*PROCESSES, "serve", "--port={port}", "--folder={folder}"),
    read=(*PROCESSES, "read", "--folder={folder}"),
    create=(*PROCESSES, "create", "--folder={folder}", "{name}", "{fields}"),
    change=(*PROCESSES, "change", "--folder={folder}", "{name}", "{fields}"),
    delete=(*PROCESSES, "delete", "--folder={folder}", "{name}"),
    bare={"processes": {"running": False}},
)


def process(name: str, *, running: bool, label: str = "") -> ExternalObject:
    return ExternalObject(kind="processes", name=name, fields={"running": running, "label": label})


async def test_processes_are_read_crash_are_removed_and_are_there_again_with_their_supervisor(tmp_path: Path) -> None:
    async with (
        running_systems([SUPERVISOR], tmp_path, tmp_path / "private", lambda _: None, NEARBY) as running,
        aiohttp.ClientSession() as client,
    ):
        runner = running["runner"].relayed
        assert runner.capabilities() == {"read_state", "drift", "stop", "start", "slow", "count_calls"}
        for name in ("a b", "c"):
            async with client.put(f"{runner.url}/{name}", json={"label": "x"}) as answer:
                assert answer.status == 200
        there = process("a b", running=True, label="x")
        assert await runner.read_state() == (there, process("c", running=True, label="x"))
        await runner.drift(Change(kind="processes", name="c", fields={"running": False}))
        await runner.drift(Create(object=process("d", running=False, label="theirs")))
        crashed = process("c", running=False, label="x"), process("d", running=False, label="theirs")
        assert await runner.read_state() == (there, *crashed)
        await runner.stop()
        await runner.start()
        assert await runner.read_state() == (there, *crashed), "what had crashed stays so, and what ran is started again"
        await runner.drift(Delete(kind="processes", name="a b"))
        assert await runner.read_state() == crashed
        assert (await runner.count_calls())["PUT"] == 2
        await running.reset()
        assert await runner.read_state() == ()


async def test_without_a_url_its_state_is_known_and_no_call(tmp_path: Path) -> None:
    declared = DeclaredCommands(name="disk", read=(sys.executable, "-c", 'print(\'{"kind": "files", "name": "f"}\')'))
    async with running_systems([declared], tmp_path, tmp_path / "private", lambda _: None, NEARBY) as running:
        disk = running["disk"].relayed
        assert disk.capabilities() == {"read_state"}
        assert await disk.read_state() == (ExternalObject(kind="files", name="f"),)
        assert running.env == {}
        await running.reset()
        with pytest.raises(NotImplementedByAdapter, match="Commands does not implement stop"):
            await disk.stop()
        with pytest.raises(NotImplementedByAdapter, match="does not implement slow"):
            await disk.slow(1.0)


def prints(code: str, *, answers: str = "10s") -> Commands:
    return Commands(DeclaredCommands(name="runner", read=(sys.executable, "-c", code), answers=answers), None)


@pytest.mark.parametrize(
    ("system", "error", "message"),
    [
        (
            Commands(DeclaredCommands(name="runner", read=("/nowhere/ctl",)), None),
            SetupError,
            r"external system runner: the command for `read` \(/nowhere/ctl\) cannot be started: No such file or directory",
        ),
        (prints("print('{}')"), UsageError, r"line 1 of what `read` prints is no JSON object with kind, name .*: \{\}"),
        (prints("print()\nprint('all is well')"), UsageError, r"line 2 of what `read` prints is no JSON .*: all is well"),
        (prints("import sys; sys.exit('no rights')"), SetupError, "ended with code 1: no rights"),
        (prints("import time; time.sleep(60)", answers="300ms"), SetupError, "took longer than 0.3 s; make it quicker, or say"),
    ],
)
async def test_a_command_that_is_not_as_it_should_be_is_reported(system: Commands, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        await system.read_state()


async def test_a_step_for_which_there_is_no_command_is_reported() -> None:
    with pytest.raises(UsageError, match="a step needs to change something, and there is no command for that; declare `change`"):
        await prints("").drift(Change(kind="processes", name="a", fields={"running": False}))
