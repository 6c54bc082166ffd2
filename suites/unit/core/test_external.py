"""What a drift leaves of a state."""

from typing import Any

import pytest

from staleproof.core.external import (
    OTHER,
    Change,
    Create,
    Delete,
    Drift,
    ExternalObject,
    changes_something,
    drifted,
    otherwise,
)


def role(name: str, **fields: object) -> ExternalObject:
    return ExternalObject(kind="roles", name=name, fields=fields)


STATE = (role("a", login=True), role("b", login=False))


@pytest.mark.parametrize(
    ("drift", "left"),
    [
        (Create(object=role("aa")), (STATE[0], role("aa"), STATE[1])),
        (
            Change(kind="roles", name="a", fields={"login": False, "superuser": True}),
            (role("a", login=False, superuser=True), STATE[1]),
        ),
        (Change(kind="databases", name="a", fields={"owner": "b"}), STATE),
        (Delete(kind="roles", name="a"), STATE[1:]),
        (Delete(kind="roles", name="c"), STATE),
    ],
)
def test_a_state_drifts(drift: Drift, left: tuple[ExternalObject, ...]) -> None:
    assert drifted(STATE, drift) == left


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ({"login": True, "limit": -1}, {"login": False}),
        ({"login": False, "limit": 3}, {"limit": 4}),
        ({"login": False, "limit": -1, "tags": {"a": "b"}}, {"tags": {"a": "b", OTHER: OTHER}}),
        ({"login": False, "password": "0123456789ab"}, {"password": OTHER}),
        ({"login": False, "limit": -1, "tags": {}}, {}),
        ({}, {}),
    ],
)
def test_what_another_user_changes_is_what_was_said(fields: dict[str, Any], changed: dict[str, Any]) -> None:
    assert otherwise(fields, {"login": False, "limit": -1, "tags": {}, "password": ""}) == changed


@pytest.mark.parametrize(
    ("verb", "expected"),
    [("CREATE", True), ("put", True), ("WITH", True), ("SELECT", False), ("get", False), ("BEGIN", False), ("", False)],
)
def test_what_a_call_is_there_for_is_known_by_its_verb(verb: str, *, expected: bool) -> None:
    assert changes_something(verb) is expected
