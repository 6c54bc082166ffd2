"""Decisions are values: equal when they say the same, and told apart by their type."""

from itertools import combinations
from typing import get_args

import pytest

from staleproof.core.fault import decision
from staleproof.core.fault.decision import (
    DROP,
    HOLD,
    PASS,
    AnswerDecision,
    Delay,
    Drop,
    FrameDecision,
    Hold,
    Pass,
    RequestDecision,
    Sever,
)


def test_nothing_is_said_in_two_ways() -> None:
    plain = [kind() for kind in (Pass, Hold, Drop, decision.Repeat, decision.Follow, decision.Cut)]
    assert all(one != other for one, other in combinations(plain, 2))
    assert (Pass(), Hold(), Drop()) == (PASS, HOLD, DROP)


def test_what_is_discarded_or_overtaken_must_be_said() -> None:
    assert Delay(1.0) == Delay(1.0, overtaken=False)
    assert Sever("clean") == Sever("clean", discard=True)


@pytest.mark.parametrize("union", [FrameDecision, RequestDecision, AnswerDecision])
def test_everything_may_pass_and_nothing_can_be_changed(union: object) -> None:
    kinds = get_args(union)
    assert Pass in kinds
    assert all(kind.__struct_config__.frozen for kind in kinds)
