"""Which children were made from an input that was shown late, and are replaced by others."""

from staleproof.checks.ends.outdated import content, is_outdated, is_usual
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.trial import Trial

from ..script import Script, beside, trial


def made(script: Script, *states: str, resource: str = "pods") -> Script:
    """One child for each state of an input, as it is shown."""
    for state in states:
        script.creates(f"w-{state}", resource=resource, spec={"of": state})
    return script


def applied(script: Script, *states: str) -> Script:
    return made(script.step(1, "apply").applied("w", spec=1), *states)


def last(script: Script) -> Script:
    """Without faults it is made from the last state of the input."""
    return applied(script, "new")


def child(of: Trial, name: str, resource: str = "pods") -> Incarnation:
    return object_history(of).named(resource, name)[-1]


def outdated(script: Script, *names: str) -> list[str]:
    then = beside(script, last)
    return [name for name in names if is_outdated(then, child(then, name))]


def test_what_is_made_anew_as_fault_free_runs_make_it_was_outdated() -> None:
    assert outdated(applied(trial(), "old", "older", "new"), "w-old", "w-older", "w-new") == ["w-old", "w-older"]


def test_what_nothing_usual_follows_is_not_outdated() -> None:
    assert not outdated(applied(trial(), "old"), "w-old")
    assert not outdated(applied(trial(), "old", "older"), "w-old", "w-older")
    assert not outdated(applied(trial(), "new", "old"), "w-new", "w-old")


def test_what_is_usual_is_not_outdated() -> None:
    assert not outdated(applied(trial(), "new").deletes("w-new").creates("w-x", spec={"of": "new"}), "w-new")


def test_a_child_of_another_role_does_not_count() -> None:
    script = made(applied(trial(), "old"), "new", resource="secrets")
    then = beside(script, lambda each: made(last(each), "new", resource="secrets"))
    assert is_usual(then, child(then, "w-new", "secrets"))
    assert not is_outdated(then, child(then, "w-old"))


def test_only_what_the_controller_made_counts() -> None:
    assert not outdated(applied(trial(), "old").made("w-x", spec={"of": "new"}), "w-old")
    assert not outdated(applied(trial()).made("w-x", spec={"of": "old"}).creates("w-y", spec={"of": "new"}), "w-x")


def test_what_is_made_with_its_own_name_is_alike_under_any_name() -> None:
    def named(script: Script, *called: str) -> Script:
        script.applied("w", spec=1)
        for name in called:
            script.creates(name, generated="", spec={"host": name, "of": "new"})
        return script

    then = beside(named(trial(), "w-a", "w-b"), lambda script: named(script, "w-a"))
    one, other = child(then, "w-a"), child(then, "w-b")
    assert content(then, one) == content(then, other)
    assert is_usual(then, one)


def test_without_fault_free_runs_nothing_is_usual() -> None:
    alone = Trial(applied(trial(), "old", "new").ends())
    assert not is_usual(alone, child(alone, "w-new"))
    assert not is_outdated(alone, child(alone, "w-old"))
