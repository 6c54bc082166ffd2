"""What an engine says of a container that has exited. Everything else is tried on a real engine, in suites/integration."""

from typing import Any

import pytest

from staleproof.drive.process.container import reason_of


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"ExitCode": 1, "OOMKilled": False, "Error": ""}, ""),
        ({"ExitCode": 137, "OOMKilled": True, "Error": ""}, "killed because its memory ran out"),
        ({"ExitCode": 127, "Error": "no such file"}, "no such file"),
        ({}, ""),
    ],
)
def test_what_is_known_of_an_exit_besides_its_code(state: dict[str, Any], reason: str) -> None:
    assert reason_of(state) == reason
