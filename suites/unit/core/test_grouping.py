"""Values by what they have in common."""

from staleproof.core.grouping import grouped


def test_values_stay_in_order_and_so_do_groups() -> None:
    assert list(grouped([("b", 1), ("a", 2), ("b", 0)]).items()) == [("b", [1, 0]), ("a", [2])]
    assert grouped([]) == {}
