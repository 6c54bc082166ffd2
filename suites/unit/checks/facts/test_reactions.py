"""What the controller did about what users wanted."""

from staleproof.checks.facts.reactions import reactions
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Asked, Called, Delivered, Listed

from ..outside import Outside
from ..script import HOLD_WIDGETS, WIDGETS


def test_the_first_thing_and_the_first_child() -> None:
    script = Outside().applied("w", spec=1).looks().says(1).creates("w-a").creates("w-b").applied("w").applied("w", spec=2)
    trial = Trial(script.looks().ends())
    made, changed = reactions(trial)
    assert made.first is not None
    assert made.child is not None
    assert changed.first is not None

    assert isinstance(trial.entries[made.shown], Delivered)
    assert isinstance(trial.entries[made.first], Called)
    entry = trial.entries[made.child]
    assert isinstance(entry, Asked)
    assert (entry.verb, entry.resource) == ("create", "pods")
    assert isinstance(trial.entries[changed.first], Called)
    assert changed.child is None


def test_what_comes_after_the_next_change_is_about_that() -> None:
    first, second = reactions(Trial(Outside().applied("w", spec=1).applied("w", spec=2).creates("w-a").ends()))
    assert first.first is None
    assert second.child is not None


def test_a_list_shows_it_as_well() -> None:
    trial = Trial(Outside(HOLD_WIDGETS).hold(WIDGETS).applied("w", spec=1).resynced().looks().ends())
    (found,) = reactions(trial)
    assert isinstance(trial.entries[found.shown], Listed)


def test_what_is_not_shown_is_left_out() -> None:
    assert reactions(Trial(Outside(HOLD_WIDGETS).hold(WIDGETS).applied("w", spec=1).released().settled().ends())) == []
