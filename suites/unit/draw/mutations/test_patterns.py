"""Which patterns Python may search for ever, and that the usual ones are none of them."""

from typing import Any

import pytest

from staleproof.draw.mutations.patterns import may_take_for_ever
from staleproof.draw.mutations.schema import Schema
from staleproof.draw.mutations.texts import near_text

SLOW = [
    "^([a-z0-9]+)+$",
    "^([a-z0-9]+[.]?)+$",
    "^[a-z0-9]+([.]*[a-z0-9]+)*$",
    "^(a|aa)+$",
    "^(?:[a-z][a-z]?)*$",
    "^((\\.[a-z]+)|[.a-z])*$",
    "^(?P<name>\\w+\\s?)*$",
    "^(x(y+)+)$",
    "^([a-z]+){2,}$",
    "^(\\b[a-z]+)*$",
    "^(.[a-z]+)*$",
    "^([]a-z]+)+$",
]
USUAL = [
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
    "^(/[^/]+)+$",
    "^([a-z]+[,;])*[a-z]+$",
    "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
    "^(?i)(abort|warn)?$",
    "^[(+*]+$",
    "^\\(+$",
    "^([0-9]{2}){3}$",
]


@pytest.mark.parametrize("pattern", SLOW)
def test_what_can_be_divided_in_several_ways_is_left_to_the_api_server(pattern: str) -> None:
    assert may_take_for_ever(pattern)


@pytest.mark.parametrize("pattern", USUAL)
def test_usual_patterns_are_searched(pattern: str) -> None:
    assert not may_take_for_ever(pattern)


@pytest.mark.parametrize("pattern", [*SLOW, *USUAL])
def test_a_text_is_found_in_no_time(pattern: str) -> None:
    schema: dict[str, Any] = {"type": "string", "pattern": pattern}
    text = "abcdefghijklmnopqrstuvwxyz0123456789." * 3
    assert len(list(near_text(text, Schema(schema, {})))) <= 1


@pytest.mark.parametrize("text", ["(", ")", "[", "a)b", "*", "(*", "{1}", "|", "\\"])
def test_what_is_no_pattern_is_no_error(text: str) -> None:
    assert may_take_for_ever(text) is False
