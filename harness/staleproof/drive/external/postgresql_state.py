"""Roles, databases and replication slots of a PostgreSQL server: how they are read, and the statements that change them.

Names and values are quoted by the server itself (`format`), so nothing that is in them can be taken for a statement.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from staleproof.core.external import Change, Create, Delete, Drift, ExternalObject, target
from staleproof.errors import UsageError

ROLES, DATABASES, SLOTS = "roles", "databases", "slots"
BARE: Mapping[str, Mapping[str, Any]] = {
    ROLES: {"login": False, "connectionLimit": -1, "createdb": False, "createrole": False, "superuser": False, "password": ""},
    DATABASES: {"connectionLimit": -1},
}
"""What `CREATE ROLE` and `CREATE DATABASE` make of a name alone."""
READ_ROLES = """
    SELECT rolname AS name, rolcanlogin AS login, rolsuper AS superuser, rolcreatedb AS createdb, rolcreaterole AS createrole,
           rolconnlimit AS "connectionLimit", rolpassword AS password,
           ARRAY(SELECT g.rolname::text FROM pg_auth_members m JOIN pg_authid g ON g.oid = m.roleid WHERE m.member = r.oid 
                 ORDER BY 1) AS "memberOf"
    FROM pg_authid r WHERE rolname !~ '^pg_' AND rolname <> ALL($1) ORDER BY rolname"""
READ_DATABASES = """
    SELECT datname AS name, pg_get_userbyid(datdba) AS owner, datconnlimit AS "connectionLimit"
    FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY datname"""
READ_SLOTS = """
    SELECT slot_name::text AS name, plugin::text AS plugin FROM pg_replication_slots WHERE NOT temporary ORDER BY slot_name"""
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement to be made by `format`: `%I` is a name, `%L` a value, `%s` neither and never from outside."""

    template: str
    arguments: tuple[str, ...]


def role(row: Mapping[str, Any]) -> ExternalObject:
    """A row of `READ_ROLES`. Its password is there as a digest, which changes whenever it is set, even to what it was."""
    fields = {name: value for name, value in row.items() if name != "name"}
    stored = fields["password"]
    fields["password"] = hashlib.sha256(stored.encode()).hexdigest()[:_DIGITS] if stored else ""
    return ExternalObject(kind=ROLES, name=row["name"], fields=fields)


def database(row: Mapping[str, Any]) -> ExternalObject:
    """A row of `READ_DATABASES`."""
    return ExternalObject(kind=DATABASES, name=row["name"], fields={name: row[name] for name in ("owner", "connectionLimit")})


def slot(row: Mapping[str, Any]) -> ExternalObject:
    """A row of `READ_SLOTS`. How far it has been read is no field: that changes by itself."""
    return ExternalObject(kind=SLOTS, name=row["name"], fields={"plugin": row["plugin"] or ""})


def changing(drift: Drift) -> list[Statement]:
    """The statements that make a drift, in order. UsageError for a kind or a field that is not known here."""
    match drift:
        case Create(object=ExternalObject(kind="roles", name=name, fields=fields)):
            return [Statement("CREATE ROLE %I", (name,)), *_fields(_ROLE_FIELDS, name, fields)]
        case Create(object=ExternalObject(kind="databases", name=name, fields=fields)):
            return [Statement("CREATE DATABASE %I", (name,)), *_fields(_DATABASE_FIELDS, name, fields)]
        case Change(kind="roles", name=name, fields=fields):
            return list(_fields(_ROLE_FIELDS, name, fields))
        case Change(kind="databases", name=name, fields=fields):
            return list(_fields(_DATABASE_FIELDS, name, fields))
        case Delete(kind="roles", name=name):
            return [Statement("DROP ROLE %I", (name,))]
        case Delete(kind="databases", name=name):
            return [Statement("DROP DATABASE %I WITH (FORCE)", (name,))]
    kind, name = target(drift)
    if kind == SLOTS:
        return _of_slot(drift, name)
    raise UsageError(f"a PostgreSQL server has no {kind!r}; what can drift there is {ROLES}, {DATABASES} and {SLOTS}")


def _of_slot(drift: Drift, name: str) -> list[Statement]:
    """A client that reads it at that moment is cut off."""
    match drift:
        case Create(object=ExternalObject(fields=fields)):
            return [Statement("SELECT pg_create_logical_replication_slot(%L, %L)", (name, fields.get("plugin", _PLUGIN)))]
        case Delete():
            cut = Statement("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = %L", (name,))
            return [cut, Statement("SELECT pg_drop_replication_slot(%L)", (name,))]
    raise UsageError(f"{name}: nothing of a replication slot can be changed; it can be deleted, and created")


_PLUGIN = "test_decoding"
_Field = Callable[[str, Any], list[Statement]]


def _flag(word: str) -> _Field:
    return lambda name, value: [Statement(f"ALTER ROLE %I {'' if value else 'NO'}{word}", (name,))]


def _password(name: str, value: object) -> list[Statement]:
    if not value:
        return [Statement("ALTER ROLE %I PASSWORD NULL", (name,))]
    return [Statement("ALTER ROLE %I PASSWORD %L", (name, str(value)))]


def _limit(what: str) -> _Field:
    return lambda name, value: [Statement(f"ALTER {what} %I CONNECTION LIMIT {int(value)}", (name,))]


_ROLE_FIELDS: dict[str, _Field] = {
    "login": _flag("LOGIN"),
    "superuser": _flag("SUPERUSER"),
    "createdb": _flag("CREATEDB"),
    "createrole": _flag("CREATEROLE"),
    "connectionLimit": _limit("ROLE"),
    "password": _password,
    "memberOf": lambda name, value: [Statement("GRANT %I TO %I", (group, name)) for group in value],
}
_DATABASE_FIELDS: dict[str, _Field] = {
    "owner": lambda name, value: [Statement("ALTER DATABASE %I OWNER TO %I", (name, str(value)))],
    "connectionLimit": _limit("DATABASE"),
}


def _fields(known: Mapping[str, _Field], name: str, fields: Mapping[str, Any]) -> Iterator[Statement]:
    for field, value in fields.items():
        if field not in known:
            raise UsageError(f"{name}: {field!r} cannot be changed from outside; what can is {', '.join(known)}")
        yield from known[field](name, value)
