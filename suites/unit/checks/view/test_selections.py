"""What a list with a selector would have held."""

from typing import Any

import pytest

from staleproof.checks.trial import Trial
from staleproof.checks.view.selections import Selections

from ..script import Script

X: dict[str, Any] = {"metadata": {"labels": {"app": "x"}}}


def found() -> tuple[Selections, dict[str, str]]:
    """`a` is made at 102 and leaves app=x at 103, `b` is made at 104 and gone at 105; `c` has no label, and is made at 106."""
    script = Script().applied("w").made("a", **X).labelled("a", to="y", shown_as="").made("b", **X).removed("b").made("c")
    trial = Trial(script.unfinished())
    return Selections((commit.entry for commit in trial.commits), trial.namespace), {
        uid: name for (_, name), uid in script.uids.items()
    }


HELD = {
    ("app=x", 101): set(),
    ("app=x", 102): {"a"},
    ("app=x", 103): set(),
    ("app=x", 104): {"b"},
    ("app=x", 106): {"b"},  # as it was at its end
    ("app=y", 106): {"a"},
    ("!app", 106): {"c"},
    ("spec.nodeName=n", 106): {"a", "b", "c"},  # that cannot be known
    ("spec.nodeName=n", 104): {"a", "b"},
}


@pytest.mark.parametrize(("selector", "revision", "names"), [(*key, names) for key, names in HELD.items()])
def test_what_a_list_may_have_held(selector: str, revision: int, names: set[str]) -> None:
    truth, name_of = found()

    assert {name_of[uid] for uid in truth.may_hold("pods", "ns", selector, revision, but=set())} == names
    assert {name_of[uid] for uid in truth.may_hold("pods", "", selector, revision, but=set())} == names
    assert list(truth.may_hold("pods", "elsewhere", selector, revision, but=set())) == []
    assert list(truth.may_hold("nodes", "", selector, revision, but=set())) == []


def test_what_an_object_begins_in_and_when_it_is_over() -> None:
    truth, name_of = found()
    uid = {name: uid for uid, name in name_of.items()}

    assert [truth.begins_in(uid["a"], selector) for selector in ("", "app=x", "app=y", "spec.nodeName=n")] == [
        True,
        True,
        False,
        False,
    ]
    assert [truth.is_over(uid["b"], revision) for revision in (103, 104, 105, 106)] == [False, False, True, True]
    assert [truth.lives_on(uid["a"], revision) for revision in (102, 103, 104)] == [True, True, False]
    assert not truth.lives_on(uid["b"], 105)
    assert (truth.is_over("unheard-of", 1), truth.lives_on("unheard-of", 1), truth.begins_in("unheard-of", "app")) == (
        True,
        False,
        False,
    )
