"""What requirements.lock says, and how an environment differs from it.

It reads the lock as pip does: one requirement a line, which may go on over the next, with the Python that it is for and digests.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from packaging.markers import Marker, default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OURS = frozenset({"staleproof", "pip"})
"""What is in an environment and in no lock: ourselves, and what installs."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One version of one package; `marker`: where it is meant. Another Python may have another version of it."""

    name: str
    version: str
    marker: Marker | None
    digests: int

    def meant_for(self, environment: Mapping[str, str]) -> bool:
        return self.marker is None or self.marker.evaluate(dict(environment))


def pins(text: str) -> list[Pin]:
    """Of a lock. ValueError when a line names no exact version."""
    lines = (line.partition("#")[0].strip() for line in text.replace("\\\n", " ").splitlines())
    return [_pin(line) for line in lines if line]


def _pin(line: str) -> Pin:
    words, *digests = re.split(r"\s+--hash=", line)
    requirement = Requirement(words)
    exact = re.fullmatch(r"==([^,*]+)", str(requirement.specifier))
    if exact is None:
        raise ValueError(f"{line!r} names no exact version")
    return Pin(canonicalize_name(requirement.name), exact[1], requirement.marker, len(digests))


def on_linux(python: str) -> dict[str, str]:
    """What markers are asked about with such a Python (`3.12`)."""
    return {
        **{name: str(value) for name, value in default_environment().items()},
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "extra": "",
    }


def versions(locked: Iterable[Pin], environment: Mapping[str, str]) -> dict[str, list[str]]:
    """Of each package, what is locked for this environment: one version, if the lock is right."""
    found: dict[str, list[str]] = {}
    for pin in locked:
        if pin.meant_for(environment):
            found.setdefault(pin.name, []).append(pin.version)
    return found


def differences(locked: Mapping[str, list[str]], installed: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Package, what is locked, what is installed; a dash for nothing. By name."""
    names = sorted((locked.keys() | installed.keys()) - OURS)
    rows = ((name, ", ".join(locked.get(name, ["-"])), installed.get(name, "-")) for name in names)
    return [row for row in rows if row[1] != row[2]]
