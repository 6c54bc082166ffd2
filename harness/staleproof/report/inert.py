"""Texts of others (names, messages, log lines, answers of an API server) as what they are: text, in one direction.

What a terminal, a browser or an editor acts on is spelt out: an escape character is four letters, `\\x1b`. Each format quotes by
its own rules besides; this is what none of them has a rule for.
"""

import re
from typing import TypeVar

import msgspec

_ACTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed: ANSI escapes begin with one
    "\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # what is not seen, and turns the direction
    "\ud800-\udfff\ufffe\uffff"  # halves of characters, and what is none: no UTF-8 and no XML has them
    "\U000e0000-\U000e007f]"  # letters that are not seen
)
MOST = 20_000
"""Of a text so many characters are shown: the story of a finding has a tenth of them."""

T = TypeVar("T")


def inert(text: str, most: int | None = MOST) -> str:
    """The text, with what acts on a reader's program spelt out, and no longer than `most` characters and the count of the rest."""
    cut = text if most is None or len(text) <= most else f"{text[:most]}… ({len(text) - most} characters more)"
    return _ACTIVE.sub(lambda found: _spelt(ord(found[0])), cut)


def all_inert(value: T, most: int | None = MOST) -> T:
    """The same struct with every text in it inert, names in mappings too."""
    return msgspec.convert(_inert(msgspec.to_builtins(value), most), type(value))


def in_one_line(text: str, most: int | None = MOST) -> str:
    """Inert, and without line breaks."""
    return " ".join(inert(text, most).split())


def _inert(value: object, most: int | None) -> object:
    match value:
        case str():
            return inert(value, most)
        case dict():
            return {_inert(name, most): _inert(each, most) for name, each in value.items()}
        case list() | tuple():
            return [_inert(each, most) for each in value]
    return value


def _spelt(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
