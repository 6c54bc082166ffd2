"""Logs: each trial gets its own part, and no token stays in what is kept."""

from pathlib import Path

import pytest

from staleproof.drive.process.logs import copy_since, mask, sizes


@pytest.fixture
def logs(tmp_path: Path) -> tuple[Path, Path]:
    """The controller's, to which something was written before, and the proxy's, which does not exist yet."""
    (tmp_path / "run").mkdir()
    (tmp_path / "trial").mkdir()
    (tmp_path / "run" / "controller.log").write_bytes(b"before\n")
    return tmp_path / "run" / "controller.log", tmp_path / "run" / "proxy.log"


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    return tmp_path / "trial"


def add(log: Path, data: bytes) -> None:
    with log.open("ab") as file:
        file.write(data)


def test_a_trial_gets_what_was_written_during_it(logs: tuple[Path, Path], trial: Path) -> None:
    controller, proxy = logs
    start = sizes(logs)
    assert start == {controller: 7, proxy: 0}
    add(controller, b"during\n")
    add(proxy, b"first\n")
    copy_since(start, trial, [])
    assert {path.name: path.read_bytes() for path in trial.iterdir()} == {"controller.log": b"during\n", "proxy.log": b"first\n"}
    assert controller.read_bytes() == b"before\nduring\n"


def test_a_log_that_never_was_is_not_made(logs: tuple[Path, Path], trial: Path) -> None:
    copy_since(sizes(logs), trial, [])
    assert {path.name: path.read_bytes() for path in trial.iterdir()} == {"controller.log": b""}


def test_tokens_are_masked_in_what_is_copied(logs: tuple[Path, Path], trial: Path) -> None:
    start = sizes(logs)
    add(logs[0], b"Bearer s3cret and t0ken, s3cret again\xff\n")
    copy_since(start, trial, ["s3cret", "t0ken"])
    assert (trial / "controller.log").read_bytes() == b"Bearer <token> and <token>, <token> again\xff\n"


def test_every_log_is_masked(logs: tuple[Path, Path], trial: Path) -> None:
    start = sizes(logs)
    for log in logs:
        add(log, b"s3cret\n")
    copy_since(start, trial, {"s3cret"})
    mask(logs, {"s3cret"})
    kept = [path.read_bytes() for folder in (trial, logs[0].parent) for path in folder.iterdir()]
    assert len(kept) == 4
    assert [data for data in kept if b"s3cret" in data] == []


@pytest.mark.parametrize(
    ("written", "secrets", "kept"),
    [
        (b"token s3cret\n", ["s3cret"], b"token <token>\n"),
        (b"s3cret-and-more\n", ["s3cret", "s3cret-and-more", ""], b"<token>\n"),  # one is part of another
        (b"token s3cret\n", [], b"token s3cret\n"),
    ],
)
def test_logs_are_masked_in_place_and_left_alone_when_clean(
    written: bytes, secrets: list[str], kept: bytes, logs: tuple[Path, Path]
) -> None:
    controller, proxy = logs
    add(controller, written)
    proxy.write_bytes(b"clean\n")
    proxy.chmod(0o400)
    mask(logs, secrets)
    assert (controller.read_bytes(), proxy.read_bytes()) == (b"before\n" + kept, b"clean\n")
