"""What a requirement says of itself."""

import pytest

from staleproof.checks.requirement import Level, Requirement


@pytest.mark.parametrize(("level", "scored"), [("core", True), ("extended", True), ("provisional", False)])
def test_only_provisional_ones_are_not_scored(level: Level, *, scored: bool) -> None:
    sound = Requirement(
        slug="sound", must="", level=level, source="", faults=(), remedy="", kind="deed", wrong="", check=lambda _: iter(())
    )
    assert sound.scored == scored
