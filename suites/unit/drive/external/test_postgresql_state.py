"""Drifts of roles and databases as statements, and rows as objects."""

import pytest

from staleproof.core.external import Change, Create, Delete, Drift, ExternalObject
from staleproof.drive.external.postgresql_state import Statement, changing, role
from staleproof.errors import UsageError


@pytest.mark.parametrize(
    ("drift", "statements"),
    [
        (
            Create(object=ExternalObject(kind="roles", name="a", fields={"login": True, "password": "p"})),
            [
                Statement("CREATE ROLE %I", ("a",)),
                Statement("ALTER ROLE %I LOGIN", ("a",)),
                Statement("ALTER ROLE %I PASSWORD %L", ("a", "p")),
            ],
        ),
        (Create(object=ExternalObject(kind="databases", name="d")), [Statement("CREATE DATABASE %I", ("d",))]),
        (Change(kind="roles", name="a", fields={"password": ""}), [Statement("ALTER ROLE %I PASSWORD NULL", ("a",))]),
        (Change(kind="roles", name="a", fields={"login": False}), [Statement("ALTER ROLE %I NOLOGIN", ("a",))]),
        (Change(kind="databases", name="d", fields={"owner": "a"}), [Statement("ALTER DATABASE %I OWNER TO %I", ("d", "a"))]),
        (Delete(kind="roles", name="a"), [Statement("DROP ROLE %I", ("a",))]),
        (Delete(kind="databases", name="d"), [Statement("DROP DATABASE %I WITH (FORCE)", ("d",))]),
        (
            Create(object=ExternalObject(kind="slots", name="s")),
            [Statement("SELECT pg_create_logical_replication_slot(%L, %L)", ("s", "test_decoding"))],
        ),
        (
            Delete(kind="slots", name="s"),
            [
                Statement("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = %L", ("s",)),
                Statement("SELECT pg_drop_replication_slot(%L)", ("s",)),
            ],
        ),
    ],
)
def test_a_drift_is_made_by_statements(drift: Drift, statements: list[Statement]) -> None:
    assert changing(drift) == statements


@pytest.mark.parametrize(
    ("drift", "why"),
    [
        (Delete(kind="tables", name="t"), "no 'tables'; what can drift there is roles, databases and slots"),
        (Change(kind="slots", name="s", fields={"plugin": "pgoutput"}), "s: nothing of a replication slot can be changed"),
        (Change(kind="roles", name="a", fields={"colour": "red"}), "a: 'colour' cannot be changed from outside; what can is login"),
    ],
)
def test_what_is_not_known_is_refused(drift: Drift, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        changing(drift)


def test_a_password_is_a_digest() -> None:
    found = role({"name": "a", "login": True, "password": "SCRAM-SHA-256$4096:secret"})
    assert found.fields["login"] is True
    assert "secret" not in str(found)
    assert len(found.fields["password"]) == 12
    assert role({"name": "a", "password": None}).fields["password"] == ""
