"""`staleproof check`: a stored history is judged again, without a cluster; its exit code is a pipeline's answer."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from staleproof.checks.verdict import Outcome, Verdict
from staleproof.cli.check import check, exit_code
from staleproof.errors import UsageError

from ..judged import HISTORIES


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(check, [str(argument) for argument in arguments], standalone_mode=False)


def verdicts(*outcomes: Outcome) -> tuple[Verdict, ...]:
    return tuple(Verdict("x", outcome) for outcome in outcomes)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((Outcome.PASS,), 0),
        ((Outcome.NOT_EXERCISED,), 0),
        ((Outcome.NOT_EXERCISED, Outcome.PASS), 0),
        ((Outcome.PASS, Outcome.INCONCLUSIVE, Outcome.NOT_EXERCISED), 10),
        ((Outcome.INCONCLUSIVE, Outcome.FAIL, Outcome.PASS), 1),
    ],
)
def test_the_exit_code_is_the_worst(outcomes: tuple[Outcome, ...], expected: int) -> None:
    assert exit_code(verdicts(*outcomes)) == expected


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_provisional_requirement_never_changes_it(outcome: Outcome) -> None:
    assert exit_code((Verdict("no-blind-retry", outcome), Verdict("settles", Outcome.PASS))) == 0


def test_a_guilty_history_is_told_and_exits_1() -> None:
    done = invoke(HISTORIES / "naive-hidden-creates.jsonl")
    assert done.return_value == 1
    assert "hide own creates of pods, then touch" in done.stdout
    assert "  ✗ no-duplicate-create" in done.stdout
    assert "is the 4th live pod of widget/sample; fault-free runs never had more than 3" in done.stdout
    assert "      remedy: " in done.stdout


def test_an_innocent_history_exits_0() -> None:
    done = invoke(HISTORIES / "expectations-hidden-creates.jsonl")
    assert done.return_value == 0
    assert "  ✓ no-duplicate-create" in done.stdout
    assert "✗" not in done.stdout


def test_a_folder_stands_for_the_history_in_it(tmp_path: Path) -> None:
    data = (HISTORIES / "naive-hidden-creates.jsonl").read_bytes()
    (tmp_path / "history.jsonl").write_bytes(data)
    assert invoke(tmp_path).return_value == 1


def test_a_truncated_history_is_noted_and_inconclusive(tmp_path: Path) -> None:
    data = (HISTORIES / "naive-hidden-creates.jsonl").read_bytes()
    (tmp_path / "history.jsonl").write_bytes(data[:-20])
    done = invoke(tmp_path)
    assert done.return_value == 10
    assert "note: line" in done.stdout
    assert "is truncated and was left out" in done.stdout


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot read"),
        (b"", "the file is empty; expected a header"),
        (b'{"entry":"ended","at":1}\n', "line 1: expected a header"),
        (b"\xff\xfe\n{}\n", "line 1: "),
    ],
)
def test_what_is_no_history_is_refused_with_its_path(content: bytes | None, told: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    if content is not None:
        path.write_bytes(content)
    done = invoke(path)
    assert isinstance(done.exception, UsageError)
    assert str(path) in str(done.exception)
    assert told in str(done.exception)
    assert done.stdout == ""


def test_a_folder_without_a_history_is_refused(tmp_path: Path) -> None:
    done = invoke(tmp_path)
    assert isinstance(done.exception, UsageError)
    assert "give a history.jsonl or the folder of a trial" in str(done.exception)
