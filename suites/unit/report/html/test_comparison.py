"""What a trial did beside what runs without its faults did."""

from staleproof.checks.trial import Trial, with_references
from staleproof.report.html.comparison import comparison, writes
from staleproof.report.html.document import Deed

from ...judged import result


def trial(name: str) -> Trial:
    return with_references(result(name).history)


def test_writes_that_changed_something_are_counted_by_step() -> None:
    made = comparison(trial("naive-hidden-creates"))

    assert made is not None
    assert made.steps == ("1 apply", "2 touch")
    assert Deed(what="create pods", did=(6, 3), least=(3, 0), most=(3, 0)) in made.deeds
    assert Deed(what="delete pods", did=(0, 6), least=(0, 0), most=(0, 0)) in made.deeds


def test_what_is_left_at_the_end_is_counted_too() -> None:
    made = comparison(trial("naive-hidden-deletes"))

    assert made is not None
    assert [deed.what for deed in made.left] == ["pods", "widgets"]


def test_a_controller_that_does_right_creates_and_deletes_as_without_the_faults() -> None:
    made = comparison(trial("expectations-hidden-creates"))

    assert made is not None
    same = {deed.what for deed in (*made.deeds, *made.left) if deed.least <= deed.did <= deed.most}
    assert same == {"create pods", "pods", "widgets"}


def test_without_a_run_to_compare_with_there_is_none() -> None:
    alone = Trial(result("naive-hidden-creates").history)
    assert comparison(alone) is None
    assert writes(alone) == 18
