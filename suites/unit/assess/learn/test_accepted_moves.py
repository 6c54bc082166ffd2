"""What a run says of the changes that it tried."""

from dataclasses import replace
from functools import partial

import pytest
from msgspec import structs

from staleproof.assess.learn.accepted_moves import Broken, _run, broken_by, moves_in_words, wants_more
from staleproof.assess.trial.session import Session
from staleproof.checks.trial import Trial
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.move import Move
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Patch
from staleproof.draw.mutations.trials import Tried
from staleproof.drive.trial.workload import Refused

from ...checks.script import WIDGETS, Script, trial

SAMPLE = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 3}}
UP = Move(path="spec.size", kind="up", do={"spec": {"size": 4}}, undo={"spec": {"size": 3}}, was="3", becomes="4", live="at once")


def seen(*moves: Move, refused: tuple[str, ...] = ()) -> Observed:
    return Observed(SAMPLE, "widgets", (), (), changes=moves, refused=refused)


def test_of_nothing_there_is_nothing_to_report() -> None:
    assert moves_in_words(seen()) == ""


def test_what_is_passed_on_and_what_was_refused_is_reported() -> None:
    assert moves_in_words(seen(UP)) == "1 accepted; passed on: spec.size up (3 → 4)"
    assert (
        moves_in_words(seen(refused=("spec.a set: no",)))
        == "0 accepted; passed on: none was seen to be; 1 dropped, as spec.a set: no"
    )


def test_what_cannot_be_taken_back_is_reported() -> None:
    of = replace(seen(UP), for_good=("spec.size up (3 → 4): may only grow",))
    assert moves_in_words(of).endswith("; 1 cannot be taken back, as spec.size up (3 → 4): may only grow")


def test_what_was_not_asked_about_is_reported() -> None:
    of = replace(seen(UP, refused=("spec.a set: no",)), unasked=("spec.b set (1)", "spec.c set (1)"))
    unasked = "2 not asked about, as spec.b set (1): name those that matter with `only` in --staleproof-mutations"
    assert moves_in_words(of).endswith(f"1 dropped, as spec.a set: no; {unasked}")


LATER = structs.replace(UP, live="later")


@pytest.mark.parametrize(
    ("live", "right", "wrong", "more"),
    [
        ([], 0, 0, True),
        ([UP, UP], 1, 0, False),
        ([UP, LATER], 1, 0, True),
        ([UP], 2, 0, False),
        ([], 0, 2, True),
        ([], 1, 2, True),
        ([], 0, 4, False),
        ([], 1, 3, False),
    ],
)
def test_runs_in_which_the_controller_goes_wrong_do_not_count_but_end(live: list[Move], right: int, wrong: int, more: bool) -> None:  # noqa: FBT001  # a row
    assert wants_more(live, right, wrong) is more


PORT = structs.replace(UP, path="spec.port", do={"spec": {"port": 81}}, undo={"spec": {"port": 80}})
CHAIN = [Tried(each, (Patch(target=seen().target, patch=each.do),)) for each in (UP, PORT)]


def says(script: Script, step: int, *, valid: bool, reason: str = "ErrorPresent") -> Script:
    condition = {"type": "Valid", "status": str(valid), "reason": reason, "message": "port 81 is nobody's"}
    return script.step(step, "change").applied("w", status={"conditions": [condition]}).idle(step)


def broken(said: str, chain: list[Tried] = CHAIN, at: dict[str, list[int]] | None = None) -> Broken:
    """`said`: after each step, + for content, - for a complaint."""
    script = trial()
    for step, each in enumerate(said, 1):
        script = says(script, step, valid=each == "+")
    of = replace(seen(), resource=WIDGETS)
    return broken_by(Trial(script.ends()), of, chain, at or {UP.name: [2], PORT.name: [3]})


def test_what_the_controller_complains_of_is_no_move_to_rest_a_plan_on() -> None:
    assert broken("+++") == Broken([], 2)
    assert broken("++-") == Broken([PORT], 1)
    assert broken("+--") == Broken([UP], 0), "after it the run shows nothing of the others"


def test_what_is_taken_back_at_once_says_nothing_of_the_next() -> None:
    both = [Tried(each.move, each.steps * 2) for each in CHAIN]
    at = {UP.name: [2, 3], PORT.name: [4, 5]}
    assert broken("+-+++", chain=both, at=at) == Broken([UP], 2)


def test_a_controller_that_is_never_content_complains_of_no_move() -> None:
    assert broken("---") == Broken([], 2)


def test_what_is_only_not_ready_yet_is_no_complaint() -> None:
    script = says(says(trial(), 1, valid=True), 2, valid=False, reason="PodsMissing")
    of = replace(seen(), resource=WIDGETS)
    assert broken_by(Trial(script.ends()), of, CHAIN[:1], {UP.name: [2]}) == Broken([], 1)


class Limiting(Session):
    """The API server refuses more replicas than a limit, which a move makes lower."""

    def __init__(self) -> None:
        self.asked: list[Manifest] = []

    def watch(self, plan: Plan) -> None:  # type: ignore[override]
        raise Refused("spec.replicas must not be more than spec.limit", len(plan.steps))

    def call(self, asks: partial[object]) -> list[str]:  # type: ignore[override]
        first, *rest = asks.keywords["patches"]
        self.asked.append(first)
        return ["", *("must not be more" if first == LIMIT.do else "" for _ in rest)]


LIMIT = Move(path="spec.limit", kind="down", do={"spec": {"limit": 3}}, undo={"spec": {"limit": 4}})
FIRST, LAST = (structs.replace(LIMIT, path=f"spec.{each}", do={"spec": {each: 3}}) for each in ("a", "z"))
ON = Move(path="spec.on", kind="toggle", do={"spec": {"on": True}}, undo={"spec": {"on": None}})


@pytest.mark.parametrize(
    ("moves", "at_fault", "asked"),
    [
        ((FIRST, LIMIT, LAST), LIMIT, [FIRST.do, LIMIT.do]),
        ((FIRST, LIMIT), LIMIT, [FIRST.do]),
        ((FIRST, LAST), LAST, [FIRST.do]),
        ((LIMIT,), LIMIT, []),
    ],
)
def test_where_the_primary_may_not_grow_any_more_the_move_that_keeps_it_from_that_is_dropped(
    moves: tuple[Move, ...], at_fault: Move, asked: list[Manifest]
) -> None:
    of = replace(seen(*moves, ON), scale_path=("spec", "replicas"))
    chain = [*(Tried(move, (of.do(move),)) for move in moves), Tried(ON, (of.do(ON), of.undo(ON)))]
    session = Limiting()
    live, bad, _ = _run(session, of, chain, lambda steps: Plan(scenario="observe", steps=steps))
    assert (live, bad) == ([], (at_fault, "spec.replicas must not be more than spec.limit"))
    assert session.asked == asked
