"""What a life knew of an object, by what means, and why it did not know better."""

import pytest

from staleproof.checks.facts.object_history import object_history
from staleproof.checks.knowledge import Knowledge, knowledge
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import FaultIndex, Item
from staleproof.core.history.resource_version import Revision

from .script import HOLD, PAST, RESTART, SEVER, WIDGETS, Script, losing, trial


def of(script: Script, name: str) -> Knowledge:
    """At the end, of the newest object of a name."""
    found = Trial(script.unfinished())
    (*_, each) = (each for each in object_history(found).objects.values() if each.name == name)
    return knowledge(found, each.uid, before=len(found.entries))


def begun(script: Script) -> Script:
    return script.step(1, "apply").applied("w", spec=1)


@pytest.mark.parametrize(
    ("script", "name", "means"),
    [
        (begun(trial()), "w", "frame"),
        (begun(Script(HOLD)).hold().creates("w-a"), "w-a", "answer"),
        (begun(Script(RESTART)).dies().lives_again(), "w", "list"),
    ],
    ids=["an event", "the answer to a write", "a list"],
)
def test_what_it_knows_it_has_from_somewhere(script: Script, name: str, means: str) -> None:
    known = of(script, name)

    assert (known.means, known.why_not) == (means, "")
    assert known.revision == known.newest


UNKNOWN = {
    "its stream is held": (begun(Script(HOLD)).hold().made("w-a"), "w-a", "hidden"),
    "its answer was lost": (begun(Script(losing(), HOLD)).hold().creates("w-a").loses_the_answer(), "w-a", "lost answer"),
    "another life made it": (begun(Script(RESTART)).creates("w-a").dies().restarted(), "w-a", "earlier life"),
}


@pytest.mark.parametrize(("script", "name", "why_not"), UNKNOWN.values(), ids=UNKNOWN)
def test_why_it_does_not_know(script: Script, name: str, why_not: str) -> None:
    known = of(script, name)

    assert known.why_not == why_not
    assert known.revision < known.newest


def test_a_stream_that_is_gone_shows_nothing_more() -> None:
    script = begun(Script(SEVER).opens()).ended(WIDGETS, "reset").applied("w", spec=2)

    assert of(script, "w").why_not == "lost stream"


def test_an_object_that_never_was_is_an_error() -> None:
    with pytest.raises(KeyError):
        knowledge(Trial(begun(trial()).unfinished()), "nobody", before=1)


def test_an_old_list_is_a_reason() -> None:
    script = begun(Script(PAST, RESTART)).applied("w", spec=2).dies().restarted()
    item = Item(script.namespace, "w", script.uid("w", WIDGETS), Revision(1))

    assert of(script.page(WIDGETS, (item,), revision=1, fault=FaultIndex(0)), "w").why_not == "past list"
