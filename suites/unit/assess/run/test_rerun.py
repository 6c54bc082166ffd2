"""The command of a report: only one of ours, with the values that are not written down."""

from pathlib import Path

import pytest

from staleproof.assess.run.rerun import arguments, rerun
from staleproof.errors import SetupError, UsageError


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("pytest '--controller-cmd=./m -v' -k 'a or b'", ["pytest", "--controller-cmd=./m -v", "-k", "a or b"]),
        ("pytest '--controller-env=KEY=$KEY' --x='$KEY'", ["pytest", "--controller-env=KEY=value", "--x=$KEY"]),
        ("pytest --controller-env 'KEY=$KEY'", ["pytest", "--controller-env", "KEY=value"]),
        ("staleproof run '--controller-env=EMPTY='", ["staleproof", "run", "--controller-env=EMPTY="]),
    ],
)
def test_a_variable_gets_its_value_back(command: str, words: list[str]) -> None:
    assert arguments(command, {"KEY": "value"}) == words


def test_a_variable_that_is_not_set_is_asked_for() -> None:
    with pytest.raises(UsageError, match="set KEY and run again"):
        arguments("pytest '--controller-env=KEY=$KEY'", {})


@pytest.mark.parametrize("command", ["", "rm -rf /", "sh -c pytest", "pytest 'x", "/usr/bin/pytest"])
def test_no_other_command_is_run(command: str) -> None:
    with pytest.raises(UsageError, match="the report's command is none"):
        arguments(command, {})


@pytest.mark.io
@pytest.mark.parametrize("command", ["pytest --controller-cmd=x --staleproof-profile=none", "staleproof run nowhere.json"])
def test_a_command_that_makes_no_report_is_reported(command: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="ended with exit code 4 and made no report") as refused:
        rerun(command, tmp_path / "artefacts", tmp_path / "own")
    assert command in str(refused.value)
    assert not (tmp_path / "own").exists()
