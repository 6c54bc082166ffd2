"""What fault-free runs do of the same."""

from dataclasses import replace

import msgspec

from staleproof.checks.but_for import in_alike, in_calm, in_references, is_compared, most_often, roles, unheard_of
from staleproof.checks.deeds.children import child_deeds
from staleproof.checks.trial import Trial

from .script import HOLD, Script, beside, trial, two_references


def applied(script: Script, *names: str) -> Script:
    return script.step(1, "apply").applied("w", spec=len(names)).creates(*names)


def levels(run: Trial) -> list[int]:
    return [deed.live for deed in child_deeds(run)]


def test_what_any_reference_shows_is_not_unheard_of() -> None:
    def two(script: Script) -> Script:
        return applied(script, "w-a", "w-b")

    found = beside(applied(Script(HOLD), "w-a", "w-b", "w-c", "w-d"), lambda script: applied(script, "w-a"), two)

    assert list(unheard_of(found, levels, str)) == [3, 4]
    assert list(unheard_of(found, levels, lambda level: level % 2)) == []
    assert list(unheard_of(found, levels, str, usual=lambda _: [4])) == [1, 2, 3]
    assert most_often(found, levels, lambda level: level > 0) == {True: 2}


def test_which_references_are_asked() -> None:
    """All of them about ends, those of the whole workload about steps, those without a restart about what that would excuse."""
    first, second = two_references(applied)
    runs = [first, replace(second, header=msgspec.structs.replace(second.header, role="final"))]
    found = Trial(trial().ends(), runs)

    def name(run: Trial) -> str:
        return run.role

    assert list(in_references(found, name)) == ["reference", "final"]
    assert list(in_alike(found, name)) == list(in_calm(found, name)) == ["reference"]
    assert roles(found) == ["reference", "final"]
    assert is_compared(found)
    assert not is_compared(Trial(trial().ends()))
