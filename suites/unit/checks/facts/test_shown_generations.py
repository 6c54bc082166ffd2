"""Which generation the controller had been shown, and by what."""

from staleproof.checks.facts.provenance import incarnations
from staleproof.checks.facts.shown_generations import Level, shown_generations

from ..report_script import ReportScript, trial
from ..script import WIDGETS


def levels(script: ReportScript) -> tuple[int, int]:
    """In the caches, and by any means, in the end."""
    history = script.ends()
    objects = incarnations(history)
    shown = shown_generations(history, objects)[next(iter(objects))]
    end = len(script.entries) - 4  # the script's usual end lists once more
    return shown.cached.at(end), shown.known.at(end)


def test_frames_and_lists_fill_the_caches() -> None:
    assert levels(trial().wants(1)) == (1, 1)
    assert levels(trial().wants(1).hold(WIDGETS).wants(2)) == (1, 1)
    assert levels(trial().wants(1).hold(WIDGETS).wants(2).let_go(WIDGETS)) == (2, 2)
    assert levels(trial().wants(1).hold(WIDGETS).wants(2).lists(WIDGETS)) == (2, 2)


def test_live_reads_and_own_answers_tell_without_filling_them() -> None:
    assert levels(trial().wants(1).hold(WIDGETS).wants(2).gets("w", WIDGETS)) == (1, 2)
    assert levels(trial().wants(1).hold(WIDGETS).wants(2).says(1)) == (1, 2)


def test_a_new_life_has_been_shown_nothing() -> None:
    assert levels(trial().wants(1).restarted()) == (0, 0)
    assert levels(trial().wants(1).restarted().gets("w", WIDGETS)) == (0, 1)


def test_since_when_and_from_when() -> None:
    level = Level([(2, 1), (5, 3), (8, 0), (9, 2)])

    assert [level.at(index) for index in (2, 3, 6, 9, 10)] == [0, 1, 3, 0, 2]
    assert [level.reached(g, before=8) for g in (1, 2, 3, 4)] == [2, 5, 5, None]
    assert [level.reached(g, before=20) for g in (1, 2, 3)] == [9, 9, None]
    assert [level.rises(2, after=after) for after in (0, 6, 10)] == [5, 9, None]
