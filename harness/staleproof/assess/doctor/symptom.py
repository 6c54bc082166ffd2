"""What a row of the table of symptoms says: a cause, the signs by which it shows itself, and what cures it."""

import re
from dataclasses import dataclass
from typing import Literal

Source = Literal["log", "answer"]


@dataclass(frozen=True, slots=True)
class Sign:
    """How a cause shows itself: `pattern` finds it in a line, of which `example` is one."""

    source: Source
    pattern: re.Pattern[str]
    example: str


@dataclass(frozen=True, slots=True)
class Symptom:
    """A row of the table. `cure` names the option that helps, or says what else does."""

    cause: str
    cure: str
    signs: tuple[Sign, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a line means, in words."""

    cause: str
    cure: str
