"""Numbers and texts near a value."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.draw.mutations.schema import Schema
from staleproof.draw.mutations.texts import fits, near_number, near_text

JSON = dict[str, Any]


@given(st.integers(-5, 5), st.integers(-5, 0), st.integers(0, 5))
def test_numbers_stay_in_their_range(value: int, least: int, most: int) -> None:
    found = list(near_number(value, Schema({"type": "integer", "minimum": least, "maximum": most}, {})))
    assert all(least <= float(str(number)) <= most and number != value for _, number in found)
    assert len({number for _, number in found}) == len(found)


@given(st.text(max_size=8), st.integers(0, 4), st.integers(5, 12))
def test_texts_stay_in_their_length(value: str, least: int, most: int) -> None:
    found = list(near_text(value, Schema({"type": "string", "minLength": least, "maxLength": most}, {})))
    assert all(least <= len(str(text)) <= most and text != value for _, text in found)


@pytest.mark.parametrize(
    ("said", "text", "expected"),
    [
        ({"pattern": "^a+$"}, "aa", True),
        ({"pattern": "^a+$"}, "ab", False),
        ({"pattern": "^(?i)(abort|warn)?$"}, "WARN", True),  # as Go writes it
        ({"pattern": "^(?i)(abort|warn)?$"}, "sample", False),
        ({"pattern": "(?P<Go"}, "anything", True),  # the API server will decide
        ({"pattern": "a{1001}"}, "anything", True),  # RE2 repeats a thousand times at most
        ({"allOf": [{"pattern": "a"}, {"pattern": "b"}]}, "ab", True),
        ({"allOf": [{"pattern": "a"}, {"pattern": "b"}]}, "a", False),
        ({"pattern": "^\\d$"}, "٤", False),
        ({"pattern": "^([a-z0-9]+[.]?)+$"}, f"{'a' * 60}!", False),  # Python's `re` would search for ever
        ({"pattern": "^(a|aa)+$"}, "a" * 60, True),
        ({"x-kubernetes-validations": [{"rule": "self.matches('^b')"}]}, "a", False),
        ({"x-kubernetes-validations": [{"rule": "self.matches('^a\\\\.b$')"}]}, "a.b", True),
        ({"x-kubernetes-validations": [{"rule": "self.matches(r'^a\\.b$')"}]}, "a.b", True),
        ({"x-kubernetes-validations": [{"rule": "self.matches('a') || self.matches('b')"}]}, "c", True),
    ],
)
def test_patterns_of_all_places_count(said: JSON, text: str, expected: bool) -> None:  # noqa: FBT001  # a row
    assert fits(text, Schema({"type": "string", **said}, {})) is expected
