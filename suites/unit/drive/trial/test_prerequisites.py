"""What was there before is no part of what a trial came to, as long as it is as it was."""

import pytest

from staleproof.core.history.given import Given, content_of
from staleproof.core.history.scope import Scope
from staleproof.drive.cluster.api import JSON
from staleproof.drive.trial.prerequisites import given, without

DB, POD = ("secrets", "trial", "db"), ("pods", "trial", "w-0")


def at(revision: str, *, uid: str = "1", **content: str) -> JSON:
    return {"metadata": {"name": "db", "uid": uid, "resourceVersion": revision}, "data": content}


@pytest.mark.parametrize(
    ("now", "is_left_out"),
    [
        (at("4"), True),
        (at("8"), True),  # changed, and changed back
        (at("8", password="x"), False),
        (at("8", uid="2"), False),  # made anew
    ],
)
def test_what_is_as_it_was_is_left_out(now: JSON, *, is_left_out: bool) -> None:
    left = without({DB: now, POD: at("7")}, {DB: at("4")})
    assert left == ({POD: at("7")} if is_left_out else {DB: now, POD: at("7")})


def test_where_nothing_was_there_everything_counts() -> None:
    assert without({POD: at("7")}, {}) == {POD: at("7")}


def test_the_history_calls_it_as_it_calls_everything() -> None:
    elsewhere = ("widgets", "shared", "w-0f1e2d3c")
    scope = Scope("trial", [elsewhere], mark="-0f1e2d3c", shared="shared")
    (found,) = given({elsewhere: at("4")}, scope)
    assert found == Given("widgets", "w", "1", content_of(at("4") | {"metadata": {"name": "w"}}, "trial"))
