"""Which state of a primary a life knew, and on which one its work had been done."""

from collections.abc import Mapping

import pytest

from staleproof.checks.facts.belongings import primary_of
from staleproof.checks.facts.primary_view import PrimaryView, owned_resources, primary_view
from staleproof.checks.trial import Trial

from ..script import PAST, RESTART, WIDGETS, Script


def view(script: Script) -> tuple[PrimaryView, int]:
    """And the position behind all."""
    return primary_view(Trial(script.unfinished())), len(script.entries)


def scaled() -> Script:
    script = Script(RESTART, PAST).step(1, "apply").applied("w", spec=2).creates("w-a")
    return script.applied("w", spec=4).creates("w-b")


def shown(past: Mapping[str, int]) -> Script:
    """A new life lists the widgets as they were."""
    return scaled().dies().lives_again(past={WIDGETS: past})


def reported() -> Script:
    """A newer revision wants the same."""
    script = Script(RESTART, PAST).applied("w", spec=2).updates("w", status={"replicas": 0}).creates("w-a")
    return script.dies().lives_again(past={WIDGETS: {"w": 101}})


def test_work_is_done_on_what_had_been_shown_by_then() -> None:
    script = scaled()
    then, end = view(script)

    assert [then.acted_on(script.uid(name), before=end) for name in ("w-a", "w-b")] == [101, 103]
    assert then.acted_on(script.uid("w-a"), before=1) == 0


AHEAD = {
    "an old list shows less than what had been acted on": (shown({"w": 101}), 101, ["w-b"]),
    "an old list without it is a view of it": (shown({}), 0, ["w-a", "w-b"]),
    "no list is no view of it": (scaled().dies().lives_again(slow=(WIDGETS,)), 0, []),
    "what an answer showed is known": (shown({"w": 101}).updates("w", status={"replicas": 2}), 105, []),
    "a newer revision that wants the same is no newer state": (reported(), 101, []),
    "a primary that is gone": (shown({"w": 101}).removed("w", WIDGETS), 0, []),
    "what is gone": (shown({"w": 101}).removed("w-b"), 101, []),
}


@pytest.mark.parametrize(("script", "known", "names"), AHEAD.values(), ids=AHEAD)
def test_what_was_made_on_a_later_state_than_this_life_knows(script: Script, known: int, names: list[str]) -> None:
    then, end = view(script)

    assert [child.name for child in then.ahead(before=end)] == names
    assert not known or then.known(script.uids[WIDGETS, "w"], before=end) == known


def test_the_primary_is_at_the_top_of_the_owners() -> None:
    script = Script(RESTART).applied("w").creates("rs", resource="replicasets.apps", generated="").creates("p", owner="rs")
    trial = Trial(script.made("alone", owner="").creates("stray", owner="").unfinished())
    found = [primary_of(trial, script.uid(*each)) for each in (("p",), ("rs", "replicasets.apps"), ("alone",), ("w", WIDGETS))]

    assert [each and each.name for each in found] == ["w", "w", None, None]
    assert owned_resources(trial) == {(WIDGETS, "pods"), (WIDGETS, "replicasets.apps")}
