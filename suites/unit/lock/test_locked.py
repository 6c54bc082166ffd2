"""The lock and pyproject.toml agree, on every Python for which there is a lock; and how an environment differs is reported."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ...lock.locked import differences, on_linux, pins, versions

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ASKED = [
    *PROJECT["build-system"]["requires"],
    *PROJECT["project"]["dependencies"],
    *PROJECT["project"]["optional-dependencies"]["dev"],
]
LOCK = (ROOT / "requirements.lock").read_text()
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
TWO_PYTHONS = """# by ci/lock
one==1.0 ; python_full_version < '3.12' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via staleproof
One==2.0 ; python_full_version >= '3.12' \\
    --hash=sha256:cc
two==0.1  # pure
"""


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("line", ASKED)
def test_what_is_asked_for_is_locked_as_it_is_asked_for(line: str, python: str) -> None:
    requirement = Requirement(line)
    locked = versions(pins(LOCK), on_linux(python)).get(canonicalize_name(requirement.name), [])
    assert [version in requirement.specifier for version in locked] == [True], f"{locked}: run ci/lock"


@pytest.mark.parametrize("python", PYTHONS)
def test_nothing_is_locked_twice(python: str) -> None:
    locked = versions(pins(LOCK), on_linux(python))
    assert {name: found for name, found in locked.items() if len(found) != 1} == {}


def test_everything_has_its_digests() -> None:
    assert [pin.name for pin in pins(LOCK) if not pin.digests] == []


def test_it_names_no_place_to_get_things_from() -> None:
    assert "://" not in LOCK
    assert [line for line in LOCK.splitlines() if line.startswith("-")] == []


def test_each_python_has_its_versions() -> None:
    locked = pins(TWO_PYTHONS)
    assert [pin.digests for pin in locked] == [2, 1, 0]
    assert versions(locked, on_linux("3.11")) == {"one": ["1.0"], "two": ["0.1"]}
    assert versions(locked, on_linux("3.12")) == {"one": ["2.0"], "two": ["0.1"]}


@pytest.mark.parametrize("line", ["one", "one>=1", "one==1.*", "one==1,!=2"])
def test_a_line_without_an_exact_version_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="names no exact version"):
        pins(line)


def test_differences_are_reported_by_name() -> None:
    locked = {"same": ["1"], "newer": ["1"], "gone": ["1"]}
    installed = {"same": "1", "newer": "2", "more": "3", "staleproof": "0.1", "pip": "30"}
    assert differences(locked, installed) == [("gone", "1", "-"), ("more", "-", "3"), ("newer", "1", "2")]
