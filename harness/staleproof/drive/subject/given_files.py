"""Configuration files that the controller's command names, with placeholders in them: a file may say where to listen.

A controller that is a program gets a copy, in which they are replaced. What is no configuration by the end of its name (a script
may have such words of its own), is not there, or has no placeholder is left as it is.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from staleproof.core.plan.plan import Subject

_ENDS = frozenset({".yaml", ".yml", ".json", ".toml", ".properties", ".conf", ".cfg", ".ini"})
_LONGEST = 1 << 20
"""In bytes: no file that is longer is a configuration."""


def texts_of(subject: Subject) -> Iterator[str]:
    """What stands in the files that its command and its arguments name."""
    for word in (*subject.command[1:], *subject.arguments):
        if text := _text(_named(word)):
            yield text


def with_files(subject: Subject, values: Mapping[str, str], folder: Path) -> Subject:
    """The subject with copies, in this folder, of those files in which one of these placeholders stands, filled."""

    def placed(word: str) -> str:
        path = _named(word)
        text = _text(path)
        if not any(placeholder in text for placeholder in values):
            return word
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)
        copy = folder / path.absolute().relative_to("/")
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy.write_text(text)
        return word.removesuffix(str(path)) + str(copy)

    return replace(
        subject,
        command=(*subject.command[:1], *map(placed, subject.command[1:])),
        arguments=tuple(map(placed, subject.arguments)),
    )


def _named(word: str) -> Path:
    """The path that a word may be: `--config=PATH`, or itself."""
    flag, _, value = word.partition("=")
    return Path(value if flag.startswith("-") and value else word)


def _text(path: Path) -> str:
    """Empty where there is none."""
    try:
        if path.suffix not in _ENDS or not path.is_file() or path.stat().st_size > _LONGEST:
            return ""
        return path.read_text()
    except (OSError, ValueError):  # unreadable, no text, or no path at all
        return ""
