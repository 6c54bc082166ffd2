"""The table of published bugs holds what its head promises."""

from collections import Counter

from suites.published.table import bugs, half_of


def test_each_bug_has_one_row() -> None:
    assert [name for name, count in Counter(each.name for each in bugs()).items() if count > 1] == []


def test_halves_are_worked_out_from_the_row() -> None:
    assert [each.name for each in bugs() if each.half != half_of(each.project, each.number)] == []


def test_links_lead_to_what_the_row_names() -> None:
    for each in bugs():
        assert each.link.startswith(f"https://github.com/{each.project}/")
        assert each.link.endswith(f"/{each.number}")


def test_there_are_enough_of_each_half() -> None:
    halves = Counter(each.half for each in bugs())
    assert min(halves.values()) >= 20
    assert sum(halves.values()) >= 40
