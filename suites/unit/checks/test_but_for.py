"""What fault-free runs do of the same."""

from staleproof.checks.but_for import most_often, unheard_of
from staleproof.checks.deeds.children import child_deeds
from staleproof.checks.trial import Trial

from .script import HOLD, Script, beside


def applied(script: Script, *names: str) -> Script:
    return script.step(1, "apply").applied("w", spec=len(names)).creates(*names)


def levels(run: Trial) -> list[int]:
    return [deed.live for deed in child_deeds(run)]


def test_what_any_reference_shows_is_not_unheard_of() -> None:
    def two(script: Script) -> Script:
        return applied(script, "w-a", "w-b")

    trial = beside(applied(Script(HOLD), "w-a", "w-b", "w-c", "w-d"), lambda script: applied(script, "w-a"), two)

    assert list(unheard_of(trial, levels, str)) == [3, 4]
    assert list(unheard_of(trial, levels, lambda level: level % 2)) == []
    assert list(unheard_of(trial, levels, str, usual=lambda _: [4])) == [1, 2, 3]
    assert most_often(trial, levels, lambda level: level > 0) == {True: 2}
