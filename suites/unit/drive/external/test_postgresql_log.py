"""Statements as they were written by a server, PostgreSQL 18."""

import pytest

from staleproof.drive.external.postgresql_log import statements, verb

LOG = """\
2026-01-01 10:00:00.000 UTC [7] staleproof LOG:  statement: CREATE ROLE "controller" SUPERUSER
2026-01-01 10:00:00.001 UTC [8]  LOG:  checkpoint starting: time
2026-01-01 10:00:01.000 UTC [9] controller LOG:  statement: select
\t 1
\t, 2
2026-01-01 10:00:01.100 UTC [9] controller LOG:  execute __asyncpg_stmt_1__: SELECT $1::text
2026-01-01 10:00:01.100 UTC [9] controller DETAIL:  parameters: $1 = 'statement: not one'
2026-01-01 10:00:01.200 UTC [9] controller ERROR:  role "x" does not exist
2026-01-01 10:00:01.200 UTC [9] controller STATEMENT:  DROP ROLE x
something else
2026-01-01 10:00:01.300 UTC [9] controller LOG:  execute <unnamed>: DROP ROLE x"""


def test_what_the_user_asked_for() -> None:
    assert list(statements(LOG.splitlines(), "controller")) == ["select\n 1\n, 2", "SELECT $1::text", "DROP ROLE x"]


def test_an_empty_log_shows_no_user_who_asked() -> None:
    assert list(statements([], "controller")) == []


@pytest.mark.parametrize(("statement", "counted_as"), [("select\n 1", "SELECT"), ("COMMIT;", "COMMIT"), (" ", "")])
def test_what_a_statement_is_counted_as(statement: str, counted_as: str) -> None:
    assert verb(statement) == counted_as
