"""Which texts are revisions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.history.resource_version import revision


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("4711", 4711),
        ("9223372036854775808", 2**63),
        (str(2**128 - 1), 2**128 - 1),
        ("", None),
        ("0", None),  # "any state": not a revision
        ("007", None),
        ("-1", None),
        ("+1", None),
        (" 1", None),
        ("1_000", None),
        ("1.5", None),
        ("abc", None),
        ("٣", None),  # a digit to Python, not to Kubernetes
        ("²", None),
        ("1" * 40, None),
    ],
)
def test_a_revision_is_a_plain_positive_decimal(text: str, expected: int | None) -> None:
    assert revision(text) == expected


@given(st.integers(min_value=1, max_value=2**128 - 1))
def test_every_revision_of_up_to_128_bit_is_read_back(number: int) -> None:
    assert revision(str(number)) == number


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    assert revision(text) is None or text == str(revision(text))
