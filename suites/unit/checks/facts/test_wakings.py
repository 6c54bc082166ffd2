"""What may have woken a controller to look at a primary."""

import pytest

from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.wakings import wakings
from staleproof.checks.trial import Trial

from ..script import RESTART, WIDGETS, Script, trial


def begun(script: Script) -> Script:
    return script.step(1, "apply").wants(1).creates("w-a", "w-b").applied("v").idle(1)


def woken(script: Script, *besides: str) -> list[str]:
    """The kinds of entries that wake it after the first step."""
    found = Trial(script.ends())
    objects = object_history(found).objects.values()
    (of,) = [each for each in objects if (each.resource, each.name) == (WIDGETS, "w")]
    uids = {each.uid for each in objects if each.name in besides}
    since = found.steps[0].ended
    assert since is not None
    entries = wakings(found, of, since=since, before=len(found.entries), besides=uids)
    return list(dict.fromkeys(type(found.entries[index]).__name__ for index in entries))


@pytest.mark.parametrize(
    ("script", "kinds"),
    [
        (begun(trial()), []),
        (begun(trial()).applied("w"), ["Committed"]),
        (begun(trial()).removed("w-a"), ["Committed"]),
        (begun(trial()).applied("v"), []),
        (begun(trial()).creates("w-c"), []),
        (begun(trial()).ended(WIDGETS, fault=None).watches(WIDGETS), ["Closed"]),
        (begun(Script(RESTART)).restarted(), ["Started"]),
    ],
)
def test_what_is_of_the_primary_and_not_its_own_wakes_it(script: Script, kinds: list[str]) -> None:
    assert [each for each in woken(script) if each != "Delivered"] == kinds


def test_what_is_said_to_be_known_does_not() -> None:
    assert woken(begun(trial()).removed("w-a"), "w-a") == []
