"""What a user declares of an external system: times, and what does not go together."""

from typing import Any

import pytest

from staleproof.core.declared import (
    DeclarationError,
    DeclaredCommands,
    DeclaredHTTP,
    DeclaredPostgreSQL,
    DeclaredS3,
    Every,
    Within,
    declared_problems,
    read_declaration,
    seconds,
)


@pytest.mark.parametrize(("text", "expected"), [("30s", 30.0), ("500ms", 0.5), ("1.5m", 90.0), ("2h", 7200.0)])
def test_a_duration_in_seconds(text: str, expected: float) -> None:
    assert seconds(text) == expected


def test_what_is_said_of_repairs_and_of_looking() -> None:
    said = DeclaredPostgreSQL(name="db", repairs=Within(within="30s"), polls=Every(every="5s"))
    assert (said.repairs_within, said.polls_every) == (30.0, 5.0)
    never = DeclaredPostgreSQL(name="db", repairs="never", polls="never")
    assert (never.repairs_within, never.polls_every) == (None, None)
    silent = DeclaredPostgreSQL(name="db")
    assert (silent.repairs, silent.polls) == (None, None)


def test_each_system_needs_a_name_and_a_variable_of_its_own() -> None:
    one = DeclaredPostgreSQL(name="db")
    assert declared_problems((one,)) == []
    assert declared_problems((one, DeclaredHTTP(name="db", url="http://127.0.0.1:1", env="API"))) == [
        "name 'db' is there twice; each system needs its own"
    ]
    assert declared_problems((one, DeclaredHTTP(name="api", url="http://127.0.0.1:1"))) == [
        "env 'EXTERNAL_URL' is there twice; each system needs its own"
    ]


def test_a_free_port_is_known_to_the_command_and_to_the_url() -> None:
    command = ("serve", "--port={port}")
    assert declared_problems((DeclaredS3(name="store", url="http://127.0.0.1:{port}", command=command),)) == []
    (of_url,) = declared_problems((DeclaredHTTP(name="api", url="http://127.0.0.1:{port}", command=("serve",)),))
    assert of_url == "api: {port} is in url and not in command, which has to listen there"
    (of_command,) = declared_problems((DeclaredHTTP(name="api", url="http://127.0.0.1:1", command=command),))
    assert of_command == "api: {port} is in command and not in url, by which it is reached"


def commands(**fields: Any) -> DeclaredCommands:  # noqa: ANN401  # as declared
    return DeclaredCommands(name="runner", read=("ctl", "read"), **fields)


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        (commands(stop=("ctl", "stop")), "runner: stop is there and not start; say both"),
        (commands(start=("ctl", "start")), "runner: start is there and not stop; say both"),
        (commands(change=("ctl",)), "runner: delete is missing: what a trial leaves there has to be removed"),
        (commands(bare={"a": {}}), "runner: bare says what can be changed, and change is missing, which does it"),
        (commands(command=("serve",)), "runner: url is missing, by which is seen that what `command` starts is up"),
        (commands(url="http://127.0.0.1:{port}"), "runner: {port} is in url and not in command, which has to listen there"),
    ],
)
def test_commands_that_are_of_no_use_without_others(declared: DeclaredCommands, problem: str) -> None:
    assert declared_problems((declared,)) == [problem]
    assert declared_problems((commands(change=("c",), delete=("c",), bare={"a": {"b": 1}}),)) == []


def test_what_is_wrong_is_reported() -> None:
    assert read_declaration({"name": "db", "kind": "postgresql"}) == DeclaredPostgreSQL(name="db")
    with pytest.raises(DeclarationError, match="did you mean 'repairs'"):
        read_declaration({"name": "db", "kind": "postgresql", "repair": "never"})
    with pytest.raises(DeclarationError, match="expected an object, found str"):
        read_declaration("db")
    with pytest.raises(DeclarationError, match="env is 'my url', expected for example"):
        read_declaration({"name": "db", "kind": "postgresql", "env": "my url"})
    with pytest.raises(DeclarationError, match=r"repairs.within is 'soon', expected for example .*30s"):
        read_declaration({"name": "db", "kind": "postgresql", "repairs": {"within": "soon"}})
    with pytest.raises(DeclarationError, match="read is missing"):
        read_declaration({"name": "runner", "kind": "command"})
    with pytest.raises(DeclarationError, match="repairs is 'nver', expected one of never; did you mean 'never'"):
        read_declaration({"name": "db", "kind": "postgresql", "repairs": "nver"})
