"""When a controller decides anew about an owner's children."""

import pytest

from staleproof.checks.facts.reconcile_epochs import Decisions
from staleproof.checks.trial import Trial
from staleproof.core.entry import StepEnded

from ..script import WIDGETS, Script, trial


def same(then: Script, since: int) -> bool:
    evidence = Trial(then.unfinished(), ())
    made = Decisions(evidence)
    for index, entry in enumerate(evidence.history.entries):
        made.advance(index, entry)
    return made.is_same(evidence.population.children[then.uid("w-a")], since)


def begun() -> tuple[Script, int]:
    script = trial().step(1, "apply").applied("w", spec=3).creates("w-a")
    return script, len(script.entries) - 1


def test_the_next_writes_belong_to_the_same_decision() -> None:
    script, since = begun()

    assert same(script.creates("w-b", "w-c").deletes("w-b"), since)


def test_events_of_the_children_alone_are_no_new_decision() -> None:
    script, since = begun()

    assert same(script.removed("w-a").made("w-a"), since)


@pytest.mark.parametrize(
    "then",
    [
        lambda script: script.applied("w"),
        lambda script: script.lists(WIDGETS),
        lambda script: script.lists("pods"),
        lambda script: script.updates("w", status=1),
        lambda script: script.step(2, "touch"),
        lambda script: script.adds(StepEnded, step=1, idle=False),
        lambda script: script.restarted(),
    ],
    ids=["owner shown", "owners listed", "children listed", "owner written", "step began", "step ended", "restart"],
)
def test_a_new_look_is_a_new_decision(then: object) -> None:
    script, since = begun()

    assert not same(then(script), since)  # type: ignore[operator]
