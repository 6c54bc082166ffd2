"""How long a trial is waited for."""

import copy
import dataclasses
from typing import Any

import pytest
from msgspec.structs import replace

from staleproof.assess.learn.patience import Goals, deadline, lacks, may_come, may_need, probe
from staleproof.checks.ends.hull import baseline
from staleproof.checks.ends.states import final_objects
from staleproof.checks.facts.step_work import changing_kinds
from staleproof.checks.trial import Trial
from staleproof.core.fault import Restart, Window
from staleproof.core.history.entry import Committed, Released, Settled, StepEnded
from staleproof.core.history.history import History, UnstableField
from staleproof.core.plan.plan import Settle
from staleproof.core.plan.step import Apply, Resync
from staleproof.core.times import ELECTION_SECONDS
from staleproof.drive.cluster.truth import Key

from ...checks.script import Script, losing, reference
from ...judged import result


@pytest.fixture(scope="module")
def innocent() -> History:
    return result("expectations-hidden-creates").history


def settling_in(reference: History, seconds: float) -> History:
    return dataclasses.replace(reference, entries=(Released(at=10.0), Settled(at=10.0 + seconds, ok=True)))


@pytest.mark.parametrize(
    ("own", "took", "patience", "expected"),
    [
        (30.0, (), 0.0, 30.0),
        (30.0, (0.5, 0.1), 0.0, 30.0),
        (30.0, (0.5, 20.0), 0.0, 100.0),
        (30.0, (0.5,), 180.0, 30.0),
        (30.0, (0.5,), 20.0, 20.0),
        (30.0, (0.5,), 5.0, 10.0),
        (30.0, (20.0,), 5.0, 100.0),
        (10.0, (0.5,), 180.0, 10.0),
        (10.0, (0.5,), 7.0, 7.0),
        (10.0, (0.5,), 1.0, 5.0),
        (10.0, (1.5,), 5.0, 7.5),
    ],
)
def test_the_deadline_is_the_plans_or_the_users_or_several_times_what_the_references_took(
    own: float, took: tuple[float, ...], patience: float, expected: float, innocent: History
) -> None:
    plan = replace(innocent.header.plan, settle=Settle(deadline_seconds=own))
    assert deadline(plan, [settling_in(innocent, seconds) for seconds in took], patience) == expected


def live(history: History, step: int | None = None) -> dict[Key, Any]:
    """What there was when a step of a reference ended, or at its end."""
    reference = Trial(history)
    objects = final_objects(reference, until=reference.steps[step - 1].ended if step else None)
    return {(resource, reference.namespace, obj["metadata"]["name"]): obj for resource, obj in objects}


def test_a_trial_has_converged_when_it_is_like_the_references_end(innocent: History) -> None:
    goals = Goals(innocent.references, innocent.header.plan)
    assert goals.missing({}) != ""
    assert goals.missing(live(innocent.references[0])) == ""


def test_what_the_run_has_shown_to_be_unstable_is_not_waited_for(innocent: History) -> None:
    state = copy.deepcopy(live(innocent.references[0]))
    (role,) = {role for role in baseline(Trial(innocent.references[0], innocent.references)).counts if role.resource == "pods"}
    for (resource, _, _), obj in state.items():
        if resource == role.resource:
            obj["metadata"]["annotations"] = {"features": "b,a"}
    plan, last = innocent.header.plan, len(innocent.header.plan.steps)
    assert "metadata.annotations.features" in Goals(innocent.references, plan).missing(state)
    goals = Goals(innocent.references, plan, (UnstableField(*role, "metadata.annotations.features"),))
    assert goals.missing(state) == ""
    assert goals.is_reached(last, state, {kind for _, kind in changing_kinds(Trial(innocent.references[0]))})


def test_a_step_is_reached_by_the_same_state_and_writes_of_the_same_kinds(innocent: History) -> None:
    goals, reference = Goals(innocent.references, innocent.header.plan), innocent.references[0]
    done = {(each.asked.verb, each.asked.resource, each.asked.subresource) for each in Trial(reference).work}
    assert goals.is_reached(1, live(reference, 1), done)
    assert not goals.is_reached(1, live(reference, 1), ())
    assert not goals.is_reached(1, {}, done)
    assert goals.is_reached(2, live(reference, 2), ())  # a touch: there is nothing to do
    assert not goals.is_reached(9, live(reference, 2), done)


def test_a_resync_comes_to_what_was_there_before_it(innocent: History) -> None:
    first, *later_steps = innocent.header.plan.steps
    goals = Goals(innocent.references, replace(innocent.header.plan, steps=(first, Resync(resource="widgets"), *later_steps)))
    reference = innocent.references[0]
    assert goals.is_reached(2, live(reference, 1), ())
    assert goals.is_reached(3, live(reference, 2), ())


def test_nothing_is_needed_before_the_release_or_by_a_controller_that_never_writes(innocent: History) -> None:
    """One that falls silent only here gets its time."""
    silent = dataclasses.replace(innocent, entries=(Released(at=1.0),))
    assert may_need(dataclasses.replace(innocent, entries=())) == 0.0
    assert may_need(dataclasses.replace(silent, references=())) == 0.0
    assert may_need(silent) > 0.0
    assert may_need(innocent) > 0.0


@pytest.mark.parametrize("writes", [False, True])
def test_a_life_that_was_started_again_may_need_the_time_of_an_election_until_it_writes(*, writes: bool) -> None:
    script = Script(Restart(window=Window(2))).applied("w").creates("w-a").dies().lives_again()
    script = script.creates("w-b") if writes else script
    history = dataclasses.replace(script.released().ends(), references=tuple(reference(number).pair().ends() for number in (1, 2)))
    trial = Trial(history)
    assert trial.released is not None
    elected_by = trial.at(trial.starts[-1]) + ELECTION_SECONDS - trial.at(trial.released)
    assert (may_need(history) >= elected_by) == (not writes)


def test_a_probe_is_what_is_applied_until_the_controller_first_writes(innocent: History) -> None:
    plan, references = innocent.header.plan, innocent.references
    found = probe(plan, references)
    assert found is not None
    assert found.steps == tuple(step for step in plan.steps[:1] if isinstance(step, Apply))
    assert found.seconds == 10.0, "it writes at once"


def test_a_controller_that_does_not_write_in_every_reference_is_not_probed(innocent: History) -> None:
    silent = dataclasses.replace(innocent.references[0], entries=(Released(at=1.0),))
    assert probe(innocent.header.plan, (innocent.references[0], silent)) is None
    assert probe(innocent.header.plan, ()) is None


def test_what_is_lacking_is_what_a_verdict_would_say(innocent: History) -> None:
    begun = next(n for n, entry in enumerate(innocent.entries) if isinstance(entry, StepEnded))
    done = tuple(entry for entry in innocent.entries if not isinstance(entry, Settled))
    assert lacks(dataclasses.replace(innocent, entries=done)) == ""
    early = innocent.entries[: next(n for n, entry in enumerate(innocent.entries) if isinstance(entry, Committed)) + 1]
    assert len(early) < begun
    assert "fault-free runs ended with" in lacks(dataclasses.replace(innocent, entries=early))


def test_a_status_that_is_behind_is_lacking() -> None:
    caught = result("mutants/gives_up_its_report").history
    done = caught.entries[: Trial(caught).settled]

    assert lacks(dataclasses.replace(caught, entries=done)) == "status.observedGeneration of generation 2"


def unheard() -> Script:
    return Script(losing("create")).applied("w").creates("w-a").loses_the_answer().released()


@pytest.mark.parametrize(
    ("script", "retry_seconds", "expected"),
    [
        (unheard(), 20.0, 30.0),
        (unheard().passes(20.0).creates("w-b"), 20.0, 0.0),
        (unheard().passes(20.0).updates("w", status=1), 20.0, 0.0),
        (unheard().passes(1.0).updates("w", status=1), 20.0, 30.0),
        (unheard(), 0.0, 0.0),
        (Script().applied("w").creates("w-a").released(), 20.0, 0.0),
        (Script(losing("create")).applied("w").creates("w-a").loses_the_answer(), 20.0, 0.0),
    ],
    ids=["not tried again", "tried again", "it has worked", "its note of the failure", "it is not known to wait", "heard", "held"],
)
def test_a_lost_write_may_come_again(script: Script, retry_seconds: float, expected: float) -> None:
    assert may_come(script.unfinished(), retry_seconds) == pytest.approx(expected, abs=0.5)
