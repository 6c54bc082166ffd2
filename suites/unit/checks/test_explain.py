"""Findings in plain words."""

from dataclasses import replace
from typing import Any

import msgspec

from staleproof.checks.explain import Story, explain
from staleproof.checks.judge import judge
from staleproof.checks.verdict import Finding
from staleproof.core.entry import Answered, Asked, Competed, Continued, Listed, Refused, Stalled, Started, Stopped
from staleproof.core.fault import DropFrame, HideOwnWrite
from staleproof.core.history import History

from .script import WIDGETS, Script, against, reference, trial


def work(script: Script) -> History:
    return script.step(1, "apply Widget/w").applied("w", spec=3).creates("w-a", "w-b", "w-c").ends()


def story(history: History, slug: str) -> Story:
    judged = against(history, work(reference(1)), work(reference(2)))
    findings = next(verdict.findings for verdict in judge(judged) if verdict.requirement == slug)
    return explain(findings[0], judged)


def test_the_story_of_a_duplicate() -> None:
    script = Script(HideOwnWrite(resource="pods")).step(1, "apply Widget/w").applied("w", spec=3)
    script.hold(why="own create number 1 of pods").creates("w-a", "w-b", "w-c").step(2, "touch Widget/w").applied("w")

    assert story(script.creates("w-d").let_go().ends(), "no-duplicate-create").text() == (
        "no-duplicate-create  pod/ns/w-d is the 4th live pod of widget/w; fault-free runs never had more than 3\n"
        "     0.700 s  from here (own create number 1 of pods) its pods stream was held; "
        "it had been shown pods up to resourceVersion 100\n"
        "     1.200 s  the controller created w-a, w-b, w-c (resourceVersion 102\N{EN DASH}104)\n"
        "     2.300 s  widget/w was shown (resourceVersion 105), in step 2: touch Widget/w\n"
        "     2.400 s  it created pod/w-d, though it had not been shown its own creates 102\N{EN DASH}104\n"
        "  remedy: remember own writes until the cache has them (expectations, ConsistencyStore, read-your-writes client) "
        "or use deterministic names"
    )


def test_the_story_of_too_many_deletes() -> None:
    def scaled(script: Script) -> Script:
        script.step(1, "apply Widget/w").applied("w", spec=4).creates("w-a", "w-b", "w-c", "w-d").step(2, "patch Widget/w")
        return script

    def done(script: Script) -> History:
        return scaled(script).applied("w", spec=2).deletes("w-d", "w-c").ends()

    script = scaled(trial()).hold(why="own delete number 1 of pods").applied("w", spec=2).deletes("w-d", "w-c").applied("w")
    judged = against(script.deletes("w-b", "w-a").let_go().ends(), done(reference(1)), done(reference(2)))
    finding = judge(judged)[1].findings[0]

    assert [line for _, line in explain(finding, judged).lines] == [
        "from here (own delete number 1 of pods) its pods stream was held; it had been shown pods up to resourceVersion 105",
        "the controller deleted w-d, w-c",
        "widget/w was shown (resourceVersion 109), in step 2: patch Widget/w",
        "it deleted pod/w-b without a precondition, though it had not been shown its own deletes of w-d, w-c",
    ]


def test_the_story_of_a_deleted_stranger() -> None:
    script = trial().step(1, "apply Widget/w").applied("w").creates("w-0", generated="").step(2, "recreate pods number -1")
    script.hold(why="step 2").removed("w-0").made("w-0").step(3, "scale Widget/w").lists(WIDGETS).deletes("w-0").let_go()

    told = story(script.ends(), "no-delete-of-unseen")

    assert told.headline == "the controller deleted pod/ns/w-0 (uid ns-uid-3), an incarnation that it had never been shown"
    assert [line for _, line in told.lines] == [
        "from here (step 2) its pods stream was held; it had been shown pods up to resourceVersion 102",
        "pod/w-0 (uid ns-uid-3) was created, not by the controller",
        "a list of widgets.example.com was shown (resourceVersion 104), in step 3: scale Widget/w",
        "it deleted pod/w-0 without a precondition, though it had not been shown that incarnation (resourceVersion 104)",
    ]


def test_the_story_of_a_state_that_was_not_reached() -> None:
    script = trial().step(1, "apply Widget/w").hold().applied("w", spec=3).creates("w-a").let_go().released()

    told = story(script.settled(ok=False, why="after 10 s: 1 pod of widget/w, fault-free runs ended with 3").ends(), _CONVERGES)

    assert told.headline == "0.1 s after it could catch up: 1 pod of widget/w, fault-free runs ended with 3"
    assert [line for _, line in told.lines] == [
        "its pods stream was held, first noticed with ADDED pods ns/w-a",
        "every fault had ended: from here it could catch up",
        "it had not converged after 10 s: 1 pod of widget/w, fault-free runs ended with 3",
    ]


def test_the_story_of_a_controller_that_does_not_settle() -> None:
    script = trial().step(1, "apply Widget/w").applied("w").creates("w-a").released().settled().resynced().updates("w").updates("w")

    told = story(script.ends(), "settles")

    assert told.headline == "2 writes after it had settled and nothing had changed, the first: update widgets.example.com/w"
    assert [line for _, line in told.lines] == [
        "it had converged and was quiet",
        "it updated the status of widget/w and wrote 1 more, though nothing had changed",
    ]


def test_long_lists_and_steps_are_cut_and_unknown_witnesses_are_left_out() -> None:
    script = (
        trial().step(1, "patch Widget/w " + "x" * 100).hold().applied("w").creates("w-a", "w-b", "w-c", "w-d", "w-e").applied("w")
    )
    history = script.let_go().ends()
    created = [i for i, entry in enumerate(history.entries) if isinstance(entry, Asked) and entry.verb == "create"]
    answers = [index + 3 + (index == created[0]) for index in created]
    shown = next(i for i, entry in enumerate(history.entries) if i > answers[-1] and getattr(entry, "name", "") == "w") + 1

    told = explain(Finding("settles", "b", (0, *answers, shown, len(history.entries) - 1)), history)

    assert [line for _, line in told.lines] == [
        "the controller created w-a, w-b, w-c and 2 more (resourceVersion 102\N{EN DASH}106)",
        f"widget/w was shown (resourceVersion 107), in step 1: patch Widget/w {'x' * 54}…",
    ]


def between(script: Script) -> list[str]:
    """What a story tells besides its witnesses, the first and the last entry."""
    history = script.ends()
    told = explain(Finding("settles", "b", (0, len(history.entries) - 1)), history)
    return [line for _, line in told.lines]


def test_what_was_done_to_the_controller_meanwhile_is_told() -> None:
    script = trial().applied("w")
    script.adds(Stalled, verb="watch", resource="pods", fault=0).adds(Stalled, request=9, verb="list", resource="pods", fault=0)
    script.adds(Stopped, life=1, paused=True, fault=0).adds(Continued, life=1)
    script.adds(Stopped, life=1, fault=0).adds(Started, life=2)
    script.adds(Competed, request=3, resource="pods", name="w-a", revision=120, fault=0)

    assert between(script) == [
        "its watch of pods was kept waiting, and 1 more",
        "its process was paused",
        "its process went on",
        "its process was ended (life 1)",
        "it was started again (life 2) and had been shown nothing",
        "somebody else wrote to pods/w-a first (resourceVersion 120)",
    ]


def test_only_the_last_few_of_it_are_told() -> None:
    def restarted() -> Script:
        script = trial()
        for life in range(1, 8):
            script.adds(Stopped, life=life).adds(Started, life=life + 1)
        return script

    told = between(restarted())
    assert told[0] == "its process was ended (life 4)"
    assert len(told) == 8


def test_watches_that_a_fault_refused_are_told() -> None:
    refused = {"client": "controller", "resource": "pods", "fault": 0}
    assert between(trial().adds(Refused, code=422, watch_list=True, **refused)) == ["its WatchList of pods was refused with 422"]
    twice = trial().adds(Refused, code=0, **refused).adds(Refused, code=0, **refused)
    assert between(twice) == ["its watch of pods was cut 2 times"]
    assert between(trial().adds(Refused, client="controller", resource="pods", code=500)) == []


def test_answers_that_a_fault_gave_or_lost_are_told() -> None:
    def told(verb: str, **answer: Any) -> list[str]:  # noqa: ANN401
        script = trial().adds(Asked, request=7, client="controller", verb=verb, resource="pods", name="w-a")
        return between(script.adds(Answered, request=7, fault=0, **answer))

    assert told("update", outcome="unknown", executed=True) == ["its update of pods/w-a was executed, it never heard"]
    assert told("update", outcome="unknown", code=201, executed=True) == ["its update of pods/w-a was executed, it never heard"]
    assert told("create", outcome="fail", code=429, reason="TooManyRequests", executed=False) == [
        "its create of pods/w-a was not executed, it was told 429 TooManyRequests"
    ]
    assert told("patch", outcome="unknown") == ["its patch of pods/w-a may have been executed, it never heard"]
    assert told("get", outcome="ok", code=200) == ["its get of pods/w-a was answered from the past"]
    more = trial().adds(Answered, request=7, outcome="unknown", fault=0).adds(Answered, request=8, outcome="unknown", fault=0)
    assert between(more) == ["a request may have been executed, it never heard; 1 more of that kind"]


def test_lists_of_the_past_are_told_as_such() -> None:
    script = trial().adds(Listed, request=7, client="controller", resource="pods", revision=50, fault=0)
    assert between(script) == ["a list of the past of pods was shown (resourceVersion 50)"]


def test_a_story_under_hostile_faults_says_so_first() -> None:
    history = trial().ends()
    plan = msgspec.structs.replace(history.header.plan, faults=(DropFrame(resource="pods"),), contract="hostile")
    hostile = replace(history, header=msgspec.structs.replace(history.header, plan=plan))

    told = explain(Finding("settles", "2 writes", ()), hostile)

    heading = "Not about conformance: no API server does this. It was found under hostile faults (DropFrame):"
    assert told.heading == heading
    assert told.text().splitlines()[:2] == [heading, "settles  2 writes"]
    assert explain(Finding("settles", "2 writes", ()), history).heading == ""


_CONVERGES = "converges-after-catch-up"
