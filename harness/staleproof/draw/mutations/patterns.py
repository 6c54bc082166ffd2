"""Which patterns Python's `re` may search for ever. The API server's are RE2, and take time in proportion to the text; Python tries
each way to divide a text among the repetitions of a group, and there may be twice as many with each letter: `([a-z]+)+`.

Only one way is tried where each repetition begins, or ends, with a character that is nowhere else in it, as the labels of a host
name do: `(\\.[a-z]+)*`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

_TOKEN = re.compile(
    r"(?P<atom>\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\])|(?P<open>\((?:\?(?:P?<\w+>|[a-zA-Z-]*:))?)|(?P<close>\))"
    r"|(?P<bar>\|)|(?P<count>[*+?]|\{\d+(?:,\d*)?\})\??|(?P<other>.)",
    re.DOTALL,
)
_EXACT = re.compile(r"\{\d+\}")
_ONCE = ("?", "{1}", "{0,1}")
_ASCII = frozenset(map(chr, range(128)))


@dataclass(slots=True)
class _Group:
    """A group of a pattern, as far as it has been read.

    Attributes:
        parts: what follows one another in it: an atom, or a group.
        counted: which of those have a quantifier.
        varies: it matches texts of several lengths.
        is_either: it has alternatives.
    """

    parts: list["str | _Group"] = field(default_factory=list)
    counted: set[int] = field(default_factory=set)
    varies: bool = False
    is_either: bool = False

    @property
    def atoms(self) -> Iterator[str]:
        for part in self.parts:
            yield from (part,) if isinstance(part, str) else part.atoms

    @property
    def is_delimited(self) -> bool:
        """Whether it begins, or ends, with one character that is nowhere else in it."""
        return not self.is_either and any(self._is_delimiter(number) for number in {0, len(self.parts) - 1})

    def _is_delimiter(self, number: int) -> bool:
        part = self.parts[number]
        if not isinstance(part, str) or number in self.counted or not (own := _characters(part)):
            return False
        atoms = list(self.atoms)
        return all(own.isdisjoint(_characters(each)) for each in (atoms[1:] if number == 0 else atoms[:-1]))


def may_take_for_ever(pattern: str) -> bool:
    """Whether a group is repeated in it that can be divided in several ways."""
    groups = [_Group()]
    for token in _TOKEN.finditer(pattern):
        here = groups[-1]
        match token.lastgroup:
            case "open":
                here.parts.append(_Group())
                groups.append(here.parts[-1])  # type: ignore[arg-type]  # it is that group
            case "close" if len(groups) > 1:
                groups.pop()
                groups[-1].varies |= here.varies
            case "bar":
                here.varies = here.is_either = True
            case "count" if here.parts:
                if _is_repeated(here.parts[-1], token["count"]):
                    return True
                here.varies |= _EXACT.fullmatch(token["count"]) is None
                here.counted.add(len(here.parts) - 1)
            case _:
                here.parts.append(token[0])
    return False


def _is_repeated(part: str | _Group, count: str) -> bool:
    """Whether a group that can be divided in several ways is."""
    return isinstance(part, _Group) and count not in _ONCE and part.varies and bool(part.parts) and not part.is_delimited


@cache
def _characters(atom: str) -> frozenset[str]:
    """Which it matches; all, where that does not show. An anchor matches none."""
    try:
        found = re.compile(atom, re.ASCII)
    except re.error:
        return _ASCII
    return frozenset(each for each in _ASCII if found.fullmatch(each))
