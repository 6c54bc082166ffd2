"""The command of a report: only one of ours, with the values that are not written down."""

import pytest

from staleproof.assess.run.rerun import arguments
from staleproof.errors import UsageError


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
