"""Asked later of any position, a timeline answers what a plain dictionary would have said then."""

from hypothesis import given
from hypothesis import strategies as st

from staleproof.checks.view.timeline import Timeline

KEYS = "abc"
Change = tuple[str, int]
"""A key gets a value."""
CHANGES = st.lists(st.tuples(st.sampled_from(KEYS), st.integers(1, 9)))


def noted(changes: list[Change]) -> Timeline[str, int]:
    timeline: Timeline[str, int] = Timeline(0)
    for index, change in enumerate(changes):
        timeline.note(index, *change)
    return timeline


@given(CHANGES)
def test_it_answers_of_every_position_what_was_known_then(changes: list[Change]) -> None:
    timeline, none = noted(changes), dict.fromkeys(KEYS, 0)

    for index in range(len(changes) + 1):
        assert {key: timeline.before(index, key) for key in KEYS} == none | dict(changes[:index])
    assert {key: timeline.now(key) for key in KEYS} == none | dict(changes)
    assert set(timeline) == set(dict(changes))


@given(CHANGES, st.integers(0, 9))
def test_the_changes_of_a_key_from_a_position_on(changes: list[Change], since: int) -> None:
    for key in KEYS:
        mine = [(index, value) for index, (changed, value) in enumerate(changes) if changed == key and index >= since]
        assert list(noted(changes).since(since, key)) == mine


def test_a_position_may_bring_several_changes_of_which_the_last_counts() -> None:
    timeline: Timeline[str, int] = Timeline(0)
    timeline.note(3, "a", 1)
    timeline.note(3, "a", 2)

    assert [timeline.before(index, "a") for index in (3, 4)] == [0, 2]
