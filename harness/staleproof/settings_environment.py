"""The options of `staleproof.settings` in environment variables. Cheap to import, as the settings are."""

import difflib
import math
import os
from collections.abc import Collection, Mapping

from staleproof.errors import UsageError
from staleproof.settings import OPTIONS, PREFIX, Given, Option

_OTHERS = ("STALEPROOF_CACHE_DIR", "STALEPROOF_ATTACH")
_ALIKE = 0.88


def in_environment(environ: Mapping[str, str], *, but_for: Collection[str] = ()) -> dict[str, Given]:
    """What the variables say, but for these options. UsageError when one is set and empty, which is always a mistake."""
    found: dict[str, Given] = {}
    for option in OPTIONS:
        if option.variable in environ and option.name not in but_for:
            text = environ[option.variable]
            if not text:
                raise UsageError(f"{option.variable} is set but empty; unset it or give it a value ({option.help})")
            found[option.name] = Given(_values(option, text), option.variable, "environment")
    return found


def misspelt(environ: Mapping[str, str]) -> list[str]:
    """Variables that are no option and nearly have the name of one, in words: what they say counts for nothing."""
    names = {option.variable.removeprefix(PREFIX) for option in OPTIONS}
    found = []
    for variable in sorted(name for name in environ if name.startswith(PREFIX) and name not in _OTHERS):
        name = variable.removeprefix(PREFIX)
        if name not in names and (close := difflib.get_close_matches(name, sorted(names), n=1, cutoff=_ALIKE)):
            found.append(f"{variable} is no option and is left out; did you mean {PREFIX}{close[0]}?")
    return found


def _values(option: Option, text: str) -> tuple[str, ...]:
    """The values that a variable's text has for an option: paths are separated as in PATH; other values are the items of a YAML
    list, or the lines."""
    if not option.many:
        return (text,)
    if option.is_path:
        return tuple(text.split(os.pathsep))
    items = _items(text) if text.lstrip().startswith(("[", "- ")) or option.kind == "object" else None
    return items or tuple(line.strip() for line in text.splitlines() if line.strip()) or (text,)


def _items(text: str) -> tuple[str, ...] | None:
    """The items of a YAML list, or of one object; None when the text is neither."""
    import yaml  # imported only when there may be a list

    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    items = [found] if isinstance(found, dict) else found
    if not isinstance(items, list) or not all(isinstance(each, str | dict) for each in items):
        return None
    return tuple(each if isinstance(each, str) else yaml.safe_dump(each, default_flow_style=True, width=math.inf) for each in items)
