"""The statements in a PostgreSQL server's log, as `log_statement=all` writes them."""

import re
from collections.abc import Iterable, Iterator

LINE_PREFIX = "%m [%p] %u "
"""What `log_line_prefix` has to be, so that a line says which client asked."""
_BEGIN = re.compile(
    r"^\S+ \S+ \S+ \[\d+\] (?P<user>\S*) (?:LOG|ERROR|FATAL|DETAIL|STATEMENT|HINT|WARNING|CONTEXT|NOTICE):  (?P<said>.*)$"
)
_STATEMENT = re.compile(r"^(?:statement|execute [^:]*): (?P<text>.*)$", re.DOTALL)


def statements(lines: Iterable[str], user: str) -> Iterator[str]:
    """What this user asked for, in order: a statement that is prepared once counts each time that it is executed."""
    for client, said in _messages(lines):
        if client == user and (found := _STATEMENT.match(said)) is not None:
            yield found["text"]


def verb(statement: str) -> str:
    """The first word, in capitals, by which statements are counted; empty for an empty one."""
    words = statement.split(maxsplit=1)
    return words[0].rstrip(";").upper() if words else ""


def _messages(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """User and text. A message of several lines goes on with a tab."""
    client, said = "", [""]
    for line in lines:
        if line.startswith("\t"):
            said.append(line[1:])
            continue
        yield client, "\n".join(said)
        found = _BEGIN.match(line)
        client, said = (found["user"], [found["said"]]) if found else ("", [""])
    yield client, "\n".join(said)
