"""Whether the workload came back to what it had asked for, and what is left of the way."""

import pytest

from staleproof.checks.facts.way_back import left_behind, way_back
from staleproof.checks.trial import Trial
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.step import Apply, Delete, Patch, Rest, Step

from ..script import Script

WIDGET = Apply(object={"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"on": True}})
TARGET = Target("example.com/v1", "Widget", "w")
OFF, ON = (Patch(target=TARGET, patch={"spec": {"on": value}}) for value in (False, True))
MAPS, CLAIMS = "configmaps", "persistentvolumeclaims"


def run(*steps: Step, idle: bool = True) -> Script:
    """It comes to rest on the first."""
    script = Script(steps=steps, role="trial").step(1, "apply").applied("w").creates("w-first", resource=MAPS, generated="")
    return script.idle(1) if idle else script


def back(script: Script) -> tuple[int | None, Trial]:
    trial = Trial(script.ends())
    return way_back(trial), trial


@pytest.mark.parametrize(
    ("script", "is_back"),
    [
        (run(WIDGET, OFF, ON, Rest(seconds=0.1)), True),
        (run(WIDGET, OFF), False),
        (run(WIDGET, Rest(seconds=0.1)), False),
        (run(WIDGET, OFF, ON, idle=False), False),
        (run(WIDGET, Delete(target=TARGET), WIDGET), False),
    ],
    ids=["there and back", "there", "nothing was changed", "never at rest at first", "another of its name"],
)
def test_it_came_back(script: Script, is_back: bool) -> None:  # noqa: FBT001  # a row
    assert (back(script)[0] is not None) is is_back


def left(script: Script) -> list[tuple[str, int, int, list[str]]]:
    since, trial = back(script)
    assert since is not None
    found = left_behind(trial, since, len(trial.entries))
    return [(each.resource, each.before, each.after, [child.name for child in each.objects]) for each in found]


def there_and_back() -> Script:
    return run(WIDGET, OFF, ON)


def test_what_stays_is_left_behind_and_what_never_comes_back_is_lacking() -> None:
    assert left(there_and_back().creates("w-second", resource=MAPS, generated="")) == [(MAPS, 1, 2, ["w-second"])]
    assert left(there_and_back().deletes("w-first", resource=MAPS)) == [(MAPS, 1, 0, ["w-first"])]


def test_one_in_the_place_of_another_is_as_good() -> None:
    assert left(there_and_back().deletes("w-first", resource=MAPS).creates("w-2", resource=MAPS, generated="")) == []


def test_what_keeps_data_and_what_others_made_does_not_count() -> None:
    assert left(there_and_back().creates("w-data", resource=CLAIMS, generated="").made("w-theirs", MAPS)) == []
