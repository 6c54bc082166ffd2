"""What was done to the controller, and how long it may need after that."""

import pytest

from staleproof.checks.facts.recovery_budget import (
    EXPIRED,
    LOST,
    awaits_election,
    budget,
    ended_streams,
    expirations,
    patience,
    retry_wait,
    usual_pauses,
)
from staleproof.checks.trial import Trial
from staleproof.core.fault import Expire, Reject
from staleproof.core.history.entry import Answered, FaultFired, Refused, Started
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.step import Rest, Step, Touch
from staleproof.core.times import PACE_UNKNOWN_SECONDS

from ..script import HOLD, RESTART, SEVER, WIDGETS, Script, beside, losing

REJECT, LOSE = Reject(resource="pods", verb="create", times=None), losing()
TOUCH = Touch(target=Target("example.com/v1", "Widget", "w"))
EXPIRE = Expire(resource="pods")
LEASES = "leases.coordination.k8s.io"


def of(script: Script) -> Trial:
    return Trial(script.ends())


def patience_of(script: Script) -> tuple[float, int]:
    trial = of(script)
    return patience(trial, trial.ending[1])


def failing(times: int, script: Script | None = None) -> Script:
    script = script or Script(SEVER)
    for _ in range(times):
        script.refused("update", "w", "Conflict", resource=WIDGETS)
    return script


def refused(code: int = 503, *, resource: str = "pods", watch_list: bool = False) -> Script:
    return Script(SEVER).adds(Refused, client="controller", resource=resource, code=code, fault=0, watch_list=watch_list)


def outage() -> Script:
    return Script(HOLD).opens().fires().passes(5.0).closes()


def cut_once_while_open() -> Script:
    return Script(SEVER).opens().ended().watches().passes(5.0).closes()


@pytest.mark.parametrize(
    ("hows", "until", "resources"),
    [(LOST, 99, ["pods"]), (EXPIRED, 99, [WIDGETS]), (LOST, 4, []), (("client",), 99, ["configmaps"])],
)
def test_streams_by_how_they_ended(hows: tuple[str, ...], until: int, resources: list[str]) -> None:
    script = Script(SEVER, EXPIRE).ended("pods", "clean").ended(WIDGETS, "expired", fault=1).ended("configmaps", "client")
    script.watches(LEASES).ended(LEASES)  # the stream of bookkeeping does not count

    assert [resource for _, resource in ended_streams(of(script), hows, until)] == resources


def test_410_may_end_a_watch_or_answer_a_watch_or_a_list() -> None:
    script = refused(410, resource=WIDGETS).ended("pods", "gone").asks("list", "configmaps").asks("list", LEASES)
    script.adds(Refused, client="controller", resource=LEASES, code=410).asks("get", "pods", "w-a").asks("list", "pods")
    for index, entry in enumerate(script.entries):
        if isinstance(entry, Answered) and entry.request < 4:
            script.entries[index] = Answered(at=entry.at, request=entry.request, outcome="fail", code=410, reason="Expired")

    assert [resource for _, resource in expirations(of(script), 99)] == [WIDGETS, "pods", "configmaps"]
    assert expirations(of(script), 4) == []


BUDGETS: dict[str, tuple[Script, float]] = {
    "nothing was done": (Script(SEVER).applied("w").updates("w"), 0.0),
    # --- a client waits longer each time, up to half a minute, give or take
    "cut once": (Script(SEVER).flaps(1), 1.6),
    "cut twice": (Script(SEVER).flaps(2), 3.2),
    "cut, and refused": (Script(SEVER).ended().adds(Refused, client="controller", resource="pods", code=503, fault=0), 3.2),
    "cut often": (Script(SEVER).flaps(20), 60.0),
    "refused": (refused(), 1.6),
    "a refused WatchList is replaced at once": (refused(watch_list=True), 0.0),
    "a new life does not wait for what the last one met": (Script(SEVER).ended().restarted(), 0.0),
    # --- after an outage twice its length
    "an outage": (outage(), 10.4),
    "a stream was cut, and that was all": (cut_once_while_open(), 1.6),
    # --- what a rate limiter makes of failures, for whatever reason
    "failed once": (failing(1), 0.005),
    "failed often": (failing(14), 40.96),
    "failed and rejected": (failing(6).rejected().rejected(), 0.64),
    "failed in another life": (failing(14).restarted(), 0.0),
    "heard that something does not exist": (Script(SEVER).gets("gone").gets("gone"), 0.0),
    "was shown everything, and fails twice": (failing(20, failing(3).released().passes(1.0)), 0.02),
}


@pytest.mark.parametrize(("script", "seconds"), BUDGETS.values(), ids=BUDGETS)
def test_what_it_is_given(script: Script, seconds: float) -> None:
    assert patience_of(script)[0] == pytest.approx(seconds, abs=0.05 if seconds > 1 else 0.0005)


def test_what_it_is_shown_is_a_reason_to_try_sooner_and_to_fail_again() -> None:
    shown = failing(3, failing(10).released()).passes(2.0).applied("w")
    once_more = failing(1, failing(13).released().passes(20.0))

    assert 20.48 + 2 < patience_of(shown)[0] < 20.48 + 3
    assert 40.96 + 20 < patience_of(once_more)[0] < 40.96 + 21


def test_it_counts_from_the_last_end_of_a_stream() -> None:
    script = Script(SEVER).released().passes(3.0).ended().settled()
    _, since = patience_of(script)

    assert script.entries[since].at > 3.0
    assert not isinstance(script.entries[since], FaultFired)


def test_what_a_rate_limiter_makes_of_failures() -> None:
    assert [retry_wait(n) for n in (0, 1, 2, 14, 18, 19, 500)] == [0.0, 0.005, 0.01, 40.96, 655.36, 1000.0, 1000.0]


# --- an unknown pace


def rejected(*between: str) -> Script:
    """Creates of one pod are rejected; between two of them something is shown, or nothing."""
    script = Script(REJECT).opens().step(1, "apply").applied("w", spec=2).rejected()
    for what in between:
        script = script.applied("w", spec=3) if what == "shown" else script.passes(0.5)
        script.rejected()
    return script.closes()


def lost() -> Script:
    return Script(LOSE).opens().step(1, "apply").applied("w").asks("create", "pods").loses_the_answer()


@pytest.mark.parametrize(
    ("script", "is_unknown"),
    [
        (rejected(), True),
        (rejected("shown", "shown"), True),
        (rejected("nothing"), True),
        (rejected("nothing", "nothing"), False),
        (rejected("nothing", "shown", "nothing"), True),
        (rejected("shown", "nothing", "nothing"), False),
        (rejected().creates("w-a"), False),
        (rejected().restarted(), False),
        (lost(), True),
        (lost().creates("w-a"), False),
        (failing(5), False),
    ],
    ids=[
        "tried once", "only ever woken", "may have been woken while it looked", "tried again by itself", "woken in between",
        "in the end by itself", "tried later", "a new life has not failed", "an answer was lost", "and tried again",
        "the server's own refusals",
    ],
)  # fmt: skip
def test_only_a_retry_that_nothing_woke_tells_how_long_it_waits(script: Script, *, is_unknown: bool) -> None:
    trial = of(script)
    given = budget(trial, trial.ending[1])

    assert bool(given.unknown) is is_unknown
    assert (given.seconds > 60.0) is is_unknown


@pytest.mark.parametrize(("step", "is_unknown"), [(TOUCH, False), (Rest(seconds=4.0), True)], ids=["a touch", "a rest"])
def test_a_rest_wakes_no_controller(step: Step, *, is_unknown: bool) -> None:
    script = Script(REJECT, steps=(TOUCH, step)).opens().step(1, "touch").applied("w", spec=2).rejected().step(2, "next").closes()
    trial = of(script)

    assert bool(budget(trial, trial.ending[1]).unknown) is is_unknown


def test_pauses_are_those_of_the_references() -> None:
    trial = beside(Script(SEVER).pair(), lambda script: script.pair(pause=5.0), lambda script: script.pair(pause=7.0))

    assert [round(pause, 1) for pause in usual_pauses(trial)] == [5.2, 7.2]


def begun() -> Script:
    return Script(RESTART).applied("w").creates("w-a")


@pytest.mark.parametrize(
    ("script", "seconds", "why"),
    [
        (begun().dies().lives_again(), 15, " s after its last start it may still wait to be elected"),
        (begun().dies().adds(Started, life=2), 100, " s after its last start it had not asked for anything yet"),
        (begun().dies().lives_again(), 25, ""),
        (begun().dies().lives_again().creates("w-b"), 15, ""),
        (Script(RESTART).applied("w"), 15, ""),
    ],
    ids=["has written nothing", "has asked for nothing", "for longer than a lease", "has written", "its first life"],
)
def test_a_life_that_has_written_nothing_may_wait_to_be_elected_for_a_while(script: Script, seconds: float, why: str) -> None:
    trial = of(script.released().passes(seconds))
    found = awaits_election(trial, trial.ending[1])

    assert found.endswith(why)
    assert bool(found) == bool(why)


@pytest.mark.parametrize(
    ("generation", "later", "seconds"),
    [(1, (), PACE_UNKNOWN_SECONDS), (1, (2,), 0.0), (2, (), 0.0), (None, (), 0.0)],
    ids=["old status", "made again", "newest status", "no generation in the status"],
)
def test_a_report_that_was_refused_may_be_made_again_after_a_minute(
    generation: int | None, later: tuple[int, ...], seconds: float
) -> None:
    script = Script(SEVER).wants(2).wants(3).says(generation).says_blindly()
    for each in later:
        script.says(each)
    trial = of(script)
    given = budget(trial, len(trial.entries))

    assert given.seconds + trial.at(given.since) >= seconds
    assert (given.seconds >= PACE_UNKNOWN_SECONDS / 2) is bool(seconds)
    assert not given.unknown


def test_a_status_that_is_no_object_says_no_generation() -> None:
    trial = of(Script(SEVER).wants(2).updates("w", status="Running").says_blindly())

    assert budget(trial, len(trial.entries)).seconds < PACE_UNKNOWN_SECONDS / 2
