"""Which commands a night consists of, and what each needs of the machine."""

import os
import shutil
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from staleproof.drive.process.images import reach_engine
from staleproof.errors import SetupError

ENGINE = "a container engine"


@dataclass(frozen=True, slots=True)
class Command:
    """`ci/NAME`. Without one of its `needs` it can do nothing; what lacks one of its `parts` it leaves out, or fails, by itself."""

    name: str
    needs: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


COMMANDS = (
    Command("images", needs=(ENGINE,), parts=("go",)),
    Command("newest"),
    Command("pythons"),
    Command("properties"),
    Command("live", parts=(ENGINE,)),
    Command("crds"),
    Command("tradeoff", parts=("go",)),
    Command("soak"),
    Command("coverage", parts=(ENGINE,)),
    Command("interrupts", parts=(ENGINE,)),
    Command("slow"),
    Command("languages", parts=("mvn", "npm", "cargo")),
    Command("operators", parts=("java", "npm")),
    Command("planted"),
    Command("golden"),
    Command("repeat"),
    Command("drawn"),
)
"""Those first that are soon over: a night that is cut short has said most by then."""


def absent(root: Path, command: Command) -> str | None:
    """Why it cannot be run at all, if so."""
    if not os.access(root / "ci" / command.name, os.X_OK):
        return f"there is no ci/{command.name}"
    return _without(command.needs)


def reduced(command: Command) -> str | None:
    """What some of it will lack, if so."""
    return _without(command.parts)


def _without(tools: Sequence[str]) -> str | None:
    lacking = [tool for tool in tools if not (_engine_answers() if tool == ENGINE else shutil.which(tool))]
    return f"without {', '.join(lacking)}" if lacking else None


def _engine_answers() -> bool:
    try:
        with closing(reach_engine(instead="do without").client):
            return True
    except SetupError:
        return False
