"""Which writes went to what neither belongs to the workload nor is mentioned by it."""

from typing import Any

import pytest

from staleproof.checks.deeds.foreign_writes import foreign_writes
from staleproof.checks.trial import Trial

from ..script import Script, trial


def applied(**spec: Any) -> Script:  # noqa: ANN401  # JSON
    return trial().applied("theirs", "configmaps").applied("w", **spec)


def writes(script: Script) -> Script:
    return script.updates("theirs", "configmaps", subresource="", data=1)


CASES = {
    "the workload and what it owns": (applied().creates("w-a").updates("w", status=1).deletes("w-a"), []),
    "another user's": (writes(applied()), ["theirs"]),
    "mentioned in a path": (writes(applied(spec={"from": ["configmaps/theirs"]})), []),
    "mentioned in a status only": (writes(applied(status={"from": "theirs"})), ["theirs"]),
    "refused": (applied().refused("update", "theirs", "Conflict", resource="configmaps"), []),
}


@pytest.mark.parametrize(("script", "names"), CASES.values(), ids=CASES)
def test_foreign_writes(script: Script, names: list[str]) -> None:
    assert [each.name for _, each in foreign_writes(Trial(script.unfinished()))] == names
