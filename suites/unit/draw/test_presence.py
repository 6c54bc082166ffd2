"""CEL rules that only ask which fields are there."""

import pytest

from staleproof.draw.presence import lacking


@pytest.mark.parametrize(
    ("rule", "present", "expected"),
    [
        ("has(self.a) || has(self.b)", "", ["a"]),
        ("has(self.a) || has(self.b)", "b", []),
        ("(has(self.a) && !has(self.b)) || (!has(self.a) && has(self.b))", "", ["a"]),
        ("!has(self.a) || has(self.b)", "a", ["b"]),
        ("[has(self.a), has(self.b)].filter(x, x == true).size() == 1", "", ["a"]),
        ("[has(self.a),has(self.b)].exists_one(x, x)", "", ["a"]),
        ("(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) == 1", "b", []),
        ("has(self.a) == has(self.b)", "b", ["a"]),
        ("has(self.a) != has(self.b)", "", ["a"]),
        ("self.a > 3 || has(self.b)", "", []),
        ("size(self.a) == 1 && __import__('os')", "", []),
        ("has(self.a) && has(self.b) && has(self.c)", "", []),
    ],
)
def test_rules_that_ask_which_fields_are_there(rule: str, present: str, expected: list[str]) -> None:
    assert lacking([rule], ["a", "b", "c"], present) == expected
