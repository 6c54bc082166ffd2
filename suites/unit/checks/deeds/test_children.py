"""Creates and deletes of children, with how many of the role there were by then."""

from staleproof.checks.deeds.children import child_deeds, done_in_all, step_at
from staleproof.checks.facts.roles import Role
from staleproof.checks.trial import Trial
from staleproof.core.history.history import Position

from ..script import HOLD, Script, beside

PODS = Role("Widget/w", "pods", "w-")


def scaled() -> Trial:
    """Two pods in the first step; in the second a third, by another user, and one of the controller's goes."""
    script = Script(HOLD).step(1, "apply").applied("w", spec=2).creates("w-a", "w-b").idle(1)
    return beside(script.step(2, "scale").applied("w", spec=2).made("w-c").deletes("w-a").idle(2))


def test_each_deed_has_its_step_and_its_levels() -> None:
    found = [(deed.verb, deed.child.name, deed.step, deed.live, deed.peak, deed.done) for deed in child_deeds(scaled())]

    assert found == [("create", "w-a", 1, 1, 1, 1), ("create", "w-b", 1, 2, 2, 2), ("delete", "w-a", 2, 2, 3, 1)]


def test_deeds_are_reported_in_words() -> None:
    _, second, delete = child_deeds(scaled())

    assert (second.name, second.nth) == ("pod/ns/w-b", "the 2nd live pod of widget/w")
    assert delete.left == "2 live pods of widget/w"
    assert second.request_index < second.at


def test_what_others_do_is_not_counted() -> None:
    trial = scaled()

    assert done_in_all(trial, "create", PODS) == 2
    assert done_in_all(trial, "delete", PODS) == 1
    assert [step_at(trial, Position(index)) for index in (0, len(trial.entries))] == [0, 2]
