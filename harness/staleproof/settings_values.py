"""What the texts of options mean: each function makes a value of one text, or raises ValueError with what it expected.

Cheap to import, as the settings are: what a rare option needs is imported only when that is given.
"""

import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

_VARIABLE = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")  # as in a pod (apimachinery pkg/util/validation, IsEnvVarName)


def words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as err:
        raise ValueError(f"words as a shell would split them ({err})") from err


def command(text: str) -> tuple[str, ...]:
    found = words(text)
    if text and not found:
        raise ValueError("a command")
    return found


def pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not _VARIABLE.fullmatch(name):
        raise ValueError("NAME=VALUE")
    return name, value


def seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:  # as a NaN is not
        raise ValueError("a positive number of seconds")
    return found


def seconds_or_none(text: str) -> float:
    try:
        return seconds(text) if text.strip() != "0" else 0.0
    except ValueError:
        raise ValueError("a positive number of seconds, or 0") from None


def minutes(text: str) -> float | None:
    try:
        return seconds(text) if text else None
    except ValueError:
        raise ValueError("a positive number of minutes") from None


def seconds_if_any(text: str) -> float | None:
    return seconds(text) if text else None


def count(text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError("a whole number, 0 or more")
    return int(text)


def count_or_none(text: str) -> int | None:
    return count(text) if text else None


def path(text: str) -> Path:
    if not text or "\0" in text:
        raise ValueError("a path")
    return Path(text)


def path_or_none(text: str) -> Path | None:
    return Path(text) if text else None


def yes(text: str) -> bool:
    return text in ("yes", "true", "1")


def external(text: str) -> Any:  # noqa: ANN401  # what it is is imported only when the option is given
    import yaml  # as above

    from staleproof.core.declared import DeclarationError, read_declaration
    from staleproof.core.wording import not_yaml

    try:
        return read_declaration(yaml.safe_load(text))
    except DeclarationError as err:
        raise ValueError(f"an external system, for example {_AN_EXTERNAL} ({err})") from err
    except yaml.YAMLError as err:
        raise ValueError(f"an external system, for example {_AN_EXTERNAL} ({not_yaml(err)})") from err


def further(text: str) -> Any:  # noqa: ANN401  # as above
    import yaml  # as above

    from staleproof.core.plan.plan import read_program
    from staleproof.core.wording import not_yaml

    try:
        return read_program(yaml.safe_load(text))
    except ValueError as err:
        raise ValueError(f"a further program, for example {_A_PROGRAM} ({err})") from err
    except yaml.YAMLError as err:
        raise ValueError(f"a further program, for example {_A_PROGRAM} ({not_yaml(err)})") from err


def metrics_url(text: str) -> str:
    from staleproof.drive.subject.metrics import EXPECTED, is_url  # imported only when the option is given

    if not is_url(text):
        raise ValueError(EXPECTED)
    return text


def formats(text: str) -> tuple[str, ...]:
    from staleproof.report.formats import named  # as above

    return named(text)


def source(text: str) -> str:
    path, _, line = text.partition(":")
    is_line = not line or (line.isdecimal() and int(line) > 0)
    if text and (not path or path.startswith("/") or ".." in path.split("/") or not is_line):
        raise ValueError("a path in the controller's repository, PATH or PATH:LINE, relative to its root")
    return text


def companions(text: str) -> tuple[str, ...]:
    from staleproof.core.operator.companion import CompanionError, companion_names  # as above

    try:
        return companion_names(text)
    except CompanionError as err:
        raise ValueError(f"names of companions, with commas ({err})") from err


_AN_EXTERNAL = "{name: db, kind: postgresql, env: DATABASE_URL}"
_A_PROGRAM = "{name: poller, command: [./bin/poller, '--kubeconfig={kubeconfig}']}"
KINDS: dict[Callable[[str], Any], str] = {
    yes: "boolean", count_or_none: "integer",
    external: "object", further: "object",
    seconds: "number", seconds_or_none: "number", seconds_if_any: "number", minutes: "number",
}  # fmt: skip
