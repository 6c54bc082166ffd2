"""One history, indexed once."""

import pytest

from staleproof.checks.facts.object_history import names
from staleproof.checks.trial import Span, StepRun, Trial, fact, indexed
from staleproof.core.history.entry import (
    Closed,
    Committed,
    Delivered,
    FaultIndex,
    Opened,
    RequestId,
    Settled,
    Started,
    StepBegan,
    StreamId,
)
from staleproof.core.history.history import Position

from .script import HOLD, SEVER, WIDGETS, Script, beside, losing, trial, two_references


def test_entries_are_found_by_kind() -> None:
    found = Trial(trial().applied("w").applied("w").unfinished())

    assert found.positions(Committed) == [4, 6]
    assert found.positions(Delivered, Committed) == [4, 5, 6, 7]
    assert [index for index, _ in found.every(Committed, since=4, until=6)] == [4]
    assert [index for index, _ in found.every(Committed, since=5)] == [6]
    assert list(found.every(Settled)) == []
    assert (found.first(Committed), found.first(Settled)) == (4, None)
    assert found.at(4) == 0.4


def test_requests_are_paired_and_work_is_what_counts() -> None:
    script = trial().applied("w").updates("w").refused("update", "w", "Conflict", resource=WIDGETS).gets("w", WIDGETS)
    found = Trial(script.asks("update", "leases.coordination.k8s.io", "l").unfinished())

    assert [(request.asked.verb, request.answer_index) for request in found.requests] == [
        ("update", 7),
        ("update", 9),
        ("get", 11),
        ("update", 13),
    ]
    assert [request.index for request in found.work] == [6, 8]
    assert found.request_of[RequestId(3)] is found.requests[2]


def test_a_controller_that_never_wrote_is_idle() -> None:
    assert Trial(trial().applied("w").ends()).idle == "the controller never wrote anything"
    assert Trial(trial().applied("w").updates("w").ends()).idle == ""


def test_primaries_are_the_resources_that_the_workload_applies() -> None:
    assert Trial(trial().ends()).primaries == {WIDGETS}


def test_streams_are_known_by_their_number() -> None:
    found = Trial(Script(SEVER).ended("pods", "clean").unfinished())
    stream = found.streams[StreamId(1)]

    assert (stream.opened, stream.closed) == (1, 4)
    assert isinstance(found.entries[stream.opened], Opened)
    assert isinstance(found.entries[4], Closed)
    assert found.streams[StreamId(2)].closed is None
    assert (found.resource_of(StreamId(1)), found.resource_of(StreamId(99))) == ("pods", "")


def test_each_position_belongs_to_a_life() -> None:
    script = Script(losing()).applied("w").dies()
    before = len(script.entries)
    lived = Trial(script.lives_again().unfinished())

    assert [lived.life(index) for index in (0, before - 1, before, len(lived.entries))] == [0, 0, 1, 1]
    assert lived.starts == lived.positions(Started) == [0, before]
    assert lived.life_began(before + 1) == before


def test_without_a_start_there_is_one_life_that_began_before() -> None:
    script = trial()
    script.entries.clear()

    assert (Trial(script.unfinished()).life(3), Trial(script.unfinished()).life_began(3)) == (0, 0)


def test_steps_begin_and_may_end() -> None:
    script = trial().step(1, "apply").idle(1).step(2, "touch")

    assert Trial(script.unfinished()).steps == [StepRun(1, Position(4), Position(5), idle=True), StepRun(2, Position(6))]
    assert Trial(script.unfinished()).positions(StepBegan) == [4, 6]


def test_a_trial_is_released_and_then_settled() -> None:
    script = trial().released()
    found, settled = Trial(script.unfinished()), Trial(script.settled().unfinished())

    assert (settled.released, settled.settled, settled.ending) == (4, 5, (4, 5))
    assert (found.released, found.settled) == (4, None)
    with pytest.raises(ValueError, match="no settling phase"):
        _ = found.ending


def test_only_faults_that_fired_have_done_anything() -> None:
    assert Trial(Script(SEVER, HOLD).opens(0).opens(1).ended(fault=0).unfinished()).fired == {0: SEVER}


def test_a_fault_that_never_closed_closed_with_the_release_or_with_the_end() -> None:
    script = Script(SEVER, HOLD).opens(0).closes(0).opens(1)
    cut_short, released = Trial(script.unfinished()), Trial(script.released().settled().unfinished())

    assert released.spans == {0: Span(Position(4), Position(5)), 1: Span(Position(6))}
    assert [released.closing(FaultIndex(fault)) for fault in (0, 1)] == [5, 7]
    assert cut_short.closing(FaultIndex(1)) == 6


@pytest.mark.parametrize(("index", "opened"), [(5, []), (6, []), (7, [6]), (11, [6]), (12, []), (13, [])])
def test_which_faults_acted_at_a_moment(index: int, opened: list[int]) -> None:
    found = Trial(trial().applied("w").hold().creates("w-a").let_go().unfinished())

    assert list(found.faults_open_at(index)) == opened


def test_a_fault_that_never_closed_acts_to_the_end() -> None:
    assert list(Trial(trial().hold().applied("w").ends()).faults_open_at(8)) == [4]


def test_references_know_the_trial_that_they_are_compared_with() -> None:
    found = beside(trial().pair())

    assert found.beside is found
    assert all(each.beside is found for each in found.references)
    assert {names(each) for each in found.references} == {names(found)}


def test_a_fact_is_worked_out_once_for_each_trial() -> None:
    trials: list[Trial] = []

    @fact
    def nothing(trial: Trial) -> None:
        trials.append(trial)

    first, second = Trial(trial().ends()), Trial(trial().ends())
    for each in (first, first, second, first):
        nothing(each)

    assert trials == [first, second]


def test_a_comparison_is_indexed_once_and_its_references_are_shared() -> None:
    first, second = trial().pair().ends(), trial().pair().ends()
    references = two_references()

    assert indexed(first, references) is indexed(first, references)
    assert indexed(first, references) is not indexed(second, references)
    assert indexed(first, references) is not indexed(first, references[:1])
    assert indexed(first, references).references == indexed(second, references).references
    assert names(indexed(first, references)) == names(Trial(first, references))


def test_what_was_indexed_long_ago_is_indexed_anew() -> None:
    first = trial().pair().ends()
    before = indexed(first)
    histories = [trial().pair().ends() for _ in range(20)]
    for each in histories:
        indexed(each)

    assert indexed(first) is not before
