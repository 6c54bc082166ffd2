"""When a controller decides anew about an owner's children."""

from collections.abc import Callable

import pytest

from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.reconcile_epochs import reconcile_epochs
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import StepEnded

from ..script import WIDGETS, Script, trial

THEN: dict[str, tuple[bool, Callable[[Script], Script]]] = {
    "the next writes": (True, lambda script: script.creates("w-b", "w-c").deletes("w-b")),
    "events of the children alone": (True, lambda script: script.removed("w-a").made("w-a")),
    "owner shown": (False, lambda script: script.applied("w")),
    "owners listed": (False, lambda script: script.lists(WIDGETS)),
    "children listed": (False, lambda script: script.lists("pods")),
    "owner written": (False, lambda script: script.updates("w", status=1)),
    "step began": (False, lambda script: script.step(2, "touch")),
    "step ended": (False, lambda script: script.adds(StepEnded, step=1, idle=False)),
    "restart": (False, lambda script: script.restarted()),
}


@pytest.mark.parametrize(("is_same", "then"), THEN.values(), ids=THEN)
def test_whether_it_is_still_the_same_decision(is_same: bool, then: Callable[[Script], Script]) -> None:  # noqa: FBT001
    script = trial().step(1, "apply").applied("w", spec=3).creates("w-a")
    since = len(script.entries) - 1
    decided = Trial(then(script).unfinished())
    child = object_history(decided).named("pods", "w-a")[-1]

    assert reconcile_epochs(decided).is_same(child.owner_uid, child.resource, since=since, before=len(decided.entries)) is is_same
