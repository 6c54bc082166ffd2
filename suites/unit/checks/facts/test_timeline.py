"""Asked later of any position, a timeline answers what a plain dictionary would have said then."""

from hypothesis import given
from hypothesis import strategies as st

from staleproof.checks.facts.timeline import Timeline

KEYS = "abc"
Change = tuple[str, int] | None
"""A key gets a value; None: a life begins."""
CHANGES = st.lists(st.none() | st.tuples(st.sampled_from(KEYS), st.integers(1, 9)))


def noted(changes: list[Change]) -> Timeline[str, int]:
    timeline: Timeline[str, int] = Timeline(0)
    for index, change in enumerate(changes):
        if change is None:
            timeline.forget(index)
        else:
            timeline.note(index, *change)
    return timeline


def known(changes: list[Change]) -> dict[str, int]:
    """Refolded from the start."""
    found = dict.fromkeys(KEYS, 0)
    for change in changes:
        found = dict.fromkeys(KEYS, 0) if change is None else found | {change[0]: change[1]}
    return found


@given(CHANGES)
def test_it_answers_of_every_position_what_was_known_then(changes: list[Change]) -> None:
    timeline = noted(changes)

    for index in range(len(changes) + 1):
        assert {key: timeline.before(index, key) for key in KEYS} == known(changes[:index])
    assert {key: timeline.now(key) for key in KEYS} == known(changes)


@given(CHANGES, st.integers(0, 9), st.none() | st.integers(0, 9))
def test_its_steps_are_the_changes_of_a_key_between_two_positions(changes: list[Change], since: int, until: int | None) -> None:
    for key in KEYS:
        mine = [(i, 0 if change is None else change[1]) for i, change in enumerate(changes) if change is None or change[0] == key]
        assert list(noted(changes).steps(key)) == mine
        between = [(index, value) for index, value in mine if since <= index < (len(changes) if until is None else until)]
        assert list(noted(changes).steps(key, since=since, until=until)) == between


def test_a_position_may_bring_several_changes_of_which_the_last_counts() -> None:
    timeline: Timeline[str, int] = Timeline(0)
    timeline.note(3, "a", 1)
    timeline.note(3, "a", 2)

    assert [timeline.before(index, "a") for index in (3, 4)] == [0, 2]
