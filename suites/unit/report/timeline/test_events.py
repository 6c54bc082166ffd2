"""What happened besides commits and requests."""

import pytest

from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import stories
from staleproof.report.timeline.trial import timeline

from ...judged import result


def kinds(name: str) -> list[str]:
    return [event.kind for event in timeline(result(name).history).events]


def test_a_life_that_begins_again_is_reported() -> None:
    found = kinds("mutants/crash_loops")
    assert found.count("started") == len(timeline(result("mutants/crash_loops").history).lives) - 1
    assert found.index("killed") < found.index("started")


def test_it_is_reported_when_a_fault_did_something_and_which_it_was() -> None:
    history = result("naive-hidden-creates").history
    (fired,) = [event for event in timeline(history).events if event.kind == "fault fired"]
    assert (fired.fault, fired.lane) == (0, "pods")
    assert fired.says.startswith("on ADDED pods")


@pytest.mark.parametrize("name", ["naive-hidden-creates", "naive-hidden-deletes", "mutants/crash_loops", "mutants/gives_up"])
def test_every_line_of_a_story_has_an_entry_in_the_picture(name: str) -> None:
    history = result(name).history
    for story in stories(judge(history), history):
        drawn = timeline(history, [story])
        every = (
            {band.entry for band in drawn.bands} | {step.entry for step in drawn.steps} | {event.entry for event in drawn.events}
        )
        every |= {entry for each in drawn.requests for entry in (each.entry, each.answer) if entry is not None}
        objects = [each for lane in drawn.lanes for each in lane.objects]
        every |= {state.entry for each in objects for state in each.revisions}
        every |= {showing.entry for each in objects for showing in each.shown}
        assert [line.says for line in drawn.tales[0].lines if every.isdisjoint(line.entries)] == []
