"""`python -m suites.lock`: how the environment of this Python differs from what requirements.lock names for it."""

import sys
from importlib.metadata import distributions
from pathlib import Path

from packaging.utils import canonicalize_name
from rich.console import Console
from rich.table import Table

from .locked import differences, on_linux, pins, versions

LOCK = Path(__file__).parents[2] / "requirements.lock"


def main() -> None:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    locked = versions(pins(LOCK.read_text()), on_linux(python))
    installed: dict[str, str] = {canonicalize_name(found.metadata["Name"]): found.version for found in distributions()}
    rows = differences(locked, installed)
    console = Console()
    console.print(
        f"Python {python}: {len(rows)} packages are not as in requirements.lock, which names {len(locked)}", soft_wrap=True
    )
    table = Table("package", "locked", "here")
    for row in rows:
        table.add_row(*row)
    if rows:
        console.print(table)


if __name__ == "__main__":
    main()
