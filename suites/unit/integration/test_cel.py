"""CEL rules as far as they ask plainly about what is there."""

import pytest

from ...integration.cel import met, met_all, named_texts

ONE_OF = "[has(self.a), has(self.b)].filter(x, x == true).size() == 1"
TYPED = "self.type == 'Service' ? has(self.port) : true"


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        ("has(self.a) || has(self.b)", {"b": 1}, True),
        ("has(self.a) || has(self.b)", {}, False),
        ("(has(self.a) && !has(self.b)) || (!has(self.a) && has(self.b))", {"a": 1, "b": 1}, False),
        (ONE_OF, {"a": 1}, True),
        (ONE_OF, {"a": 1, "b": 1}, False),
        ("[has(self.a),has(self.b)].exists_one(x,x)", {"a": 1}, True),
        ("(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) == 1", {"b": 1}, True),
        ("has(self.a) != has(self.b)", {}, False),
        ("!has(self.a) == has(self.b)", {"b": 1}, True),
        ("has(self.a.b)", {"a": {}}, False),
        (TYPED, {"type": "Service"}, False),
        (TYPED, {"type": "Other"}, True),
        ("has(self.a) ? self.a > 1 ? true : false : has(self.b)", {"a": 2}, True),
        ("has(self.a) ? self.a > 1 ? true : false : has(self.b)", {}, False),
        ("self.mode == 'Terminate' ? size(self.refs) > 0 : true", {"mode": "Terminate"}, False),  # no such key: not met
        ("self.a > 3 || has(self.b)", {"b": 1}, True),  # what is not there does not matter, then
        ("has(self.from) && self.__namespace__ == 'x'", {"from": 1, "namespace": "x"}, True),
        ("self.all(x, self.exists_one(y, x.name == y.name))", [{"name": "a"}, {"name": "b"}], True),
        ("self.all(x, self.exists_one(y, x.name == y.name))", [{"name": "a"}, {"name": "a"}], False),
        ("self.all(key, key.startsWith('x'))", {"xa": 1}, True),
        ("'a' in self.b && self.b.size() <= 2", {"b": ["a", "c"]}, True),
        ("self.matches('^a+$') && self != 'aa'", "aaa", True),
        ("self.a == '&& ? :'", {"a": "&& ? :"}, True),
        ("self == oldSelf", 1, None),
        ("self.a == oldSelf.a", {}, None),
        ("quantity(self).isGreaterThan(quantity('1'))", "2", None),
        ("has(self.a) || quantity(self.b).isInteger()", {"a": 1}, True),
        ("self.?a.orValue('') == ''", {}, None),
        ("has(self.a ? 1", {}, None),
        ("size(self.a) == 1 && __import__('os')", {"a": "x"}, None),
        ("self.a > 3", {"a": "x"}, None),
    ],
)
def test_what_a_rule_says(rule: str, value: object, expected: bool | None) -> None:  # noqa: FBT001
    assert met(rule, value) is expected


def test_all_rules() -> None:
    assert met_all(["has(self.a)", "has(self.b)"], {"a": 1, "b": 1}) is True
    assert met_all(["has(self.a)", "self == oldSelf"], {"a": 1}) is None
    assert met_all(["has(self.b)", "self == oldSelf"], {"a": 1}) is False
    assert met_all([], {}) is True


def test_texts_that_rules_name() -> None:
    rules = ["self.a == 'A' || self.a in [\"B\", 'A']", "self.b == ''", "self.c.matches(r'^x')"]
    assert named_texts(rules) == ["A", "B"]
