"""A night goes on after a failure, says what it left out, and ends what runs when it has to stop."""

import re
import signal
import threading
from pathlib import Path

import pytest
from rich.console import Console

from staleproof.errors import UsageError

from ...nightly import commands
from ...nightly.__main__ import table
from ...nightly.choice import chosen
from ...nightly.commands import COMMANDS, ENGINE, Command
from ...nightly.night import Night, Row


def script(root: Path, name: str, text: str) -> Command:
    path = root / "ci" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return Command(name)


def results(night: Night) -> list[tuple[str, str]]:
    return [(row.name, row.result) for row in night.rows]


@pytest.mark.io
def test_it_goes_on_after_a_failure(tmp_path: Path) -> None:
    night = Night(tmp_path)
    night.spend([script(tmp_path, "bad", "exit 3"), script(tmp_path, "good", "test -x ci/good")])
    assert results(night) == [("bad", "failed, exit code 3"), ("good", "passed")]
    assert [row.failed for row in night.rows] == [True, False]


@pytest.mark.io
def test_what_is_not_there_is_reported_and_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_engine_answers", lambda: False)
    script(tmp_path, "some", "exit 0")
    night = Night(tmp_path)
    night.spend(
        [
            Command("none"),
            Command("some", needs=("no-such-tool", "sh")),
            Command("some", needs=(ENGINE,)),
            Command("some", parts=(ENGINE, "no-such-tool", "sh")),
        ]
    )
    assert results(night) == [
        ("none", "left out: there is no ci/none"),
        ("some", "left out: without no-such-tool"),
        ("some", "left out: without a container engine"),
        ("some", "passed, without a container engine, no-such-tool"),
    ]
    assert not any(row.failed for row in night.rows)


@pytest.mark.io
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_what_runs_with_all_its_children(tmp_path: Path, number: signal.Signals) -> None:
    script(
        tmp_path,
        "child",
        f"trap 'touch stopped; exit 0' {number.name.removeprefix('SIG')}; touch begun; while :; do sleep 0.05; done",
    )
    both = [script(tmp_path, "long", "ci/child; exit 0"), script(tmp_path, "next", "touch next")]
    night = Night(tmp_path)
    stopping = threading.Thread(target=stop_when, args=(tmp_path / "begun", night, number))
    stopping.start()
    night.spend(both)
    stopping.join()
    assert results(night) == [("long", f"interrupted ({number.name})"), ("next", "not begun")]
    assert (tmp_path / "stopped").exists()
    assert not (tmp_path / "next").exists()


@pytest.mark.io
def test_a_command_that_does_not_end_is_killed(tmp_path: Path) -> None:
    deaf = script(tmp_path, "deaf", "trap '' TERM; touch begun; while :; do sleep 0.05; done")
    night = Night(tmp_path, grace_seconds=0.3)
    stopping = threading.Thread(target=stop_when, args=(tmp_path / "begun", night, signal.SIGTERM))
    stopping.start()
    night.spend([deaf])
    stopping.join()
    assert results(night) == [("deaf", "interrupted (SIGTERM)")]


def stop_when(there: Path, night: Night, number: int) -> None:
    while not there.exists():
        threading.Event().wait(0.02)
    night.stop(number)


def test_the_table_says_how_long_what_took() -> None:
    console = Console(width=80)
    with console.capture() as shown:
        console.print(table([Row("golden", 150.0, "passed"), Row("images", None, "left out: without a container engine")]))
    assert re.search(r"golden +│ +2\.5 │ passed", shown.get())
    assert re.search(r"images +│ +│ left out: without a container engine", shown.get())


def test_names_choose_and_keep_their_order() -> None:
    assert [command.name for command in chosen(["repeat", "golden"], COMMANDS)] == ["repeat", "golden"]
    assert chosen([], COMMANDS) == list(COMMANDS)
    with pytest.raises(UsageError, match="there is no gold, demo; name any of images, newest"):
        chosen(["gold", "golden", "demo"], COMMANDS)


def test_no_command_is_named_twice() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
