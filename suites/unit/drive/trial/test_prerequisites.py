"""What was given is no part of what a trial came to, as long as it is not changed."""

from staleproof.drive.cluster.api import JSON
from staleproof.drive.trial.prerequisites import without

DB, POD = ("secrets", "trial", "db"), ("pods", "trial", "w-0")


def at(revision: str) -> JSON:
    return {"metadata": {"resourceVersion": revision}}


def test_what_is_as_it_was_given_is_left_out() -> None:
    assert without({DB: at("4"), POD: at("7")}, {DB: "4"}) == {POD: at("7")}


def test_what_was_changed_since_counts() -> None:
    assert without({DB: at("8"), POD: at("7")}, {DB: "4"}) == {DB: at("8"), POD: at("7")}


def test_where_nothing_was_given_everything_counts() -> None:
    assert without({POD: at("7")}, {}) == {POD: at("7")}
