"""What a person is told of each entry."""

from typing import Any

from staleproof.checks.story.explain import explain
from staleproof.checks.verdict import Finding
from staleproof.core.entry import (
    Answered,
    Asked,
    Closed,
    Committed,
    Competed,
    Continued,
    Delivered,
    Dropped,
    Entry,
    Listed,
    Metrics,
    Refused,
    Sample,
    Stalled,
    Started,
    Stopped,
    Withheld,
)
from staleproof.core.fault import Kill, Restart

from ..script import WIDGETS, Script, trial


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
        "the controller was killed",
        "the controller was started again, and had been shown nothing yet",
        "somebody else wrote to pods/w-a first (resourceVersion 120)",
    ]


def test_only_the_last_few_of_it_are_told() -> None:
    def restarted() -> Script:
        script = trial()
        for life in range(1, 8):
            script.adds(Stopped, life=life).adds(Started, life=life + 1)
        return script

    told = between(restarted())
    assert told[0] == "the controller was stopped"
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
    assert between(script) == ["it was given pods as of resourceVersion 50, a list of the past"]


def witnessed(script: Script, *kinds: type[Entry]) -> list[str]:
    """What a story tells of all entries of these kinds."""
    history = script.ends()
    witnesses = tuple(index for index, entry in enumerate(history.entries) if isinstance(entry, kinds))
    return [line for _, line in explain(Finding("settles", "b", witnesses), history).lines]


def test_what_others_did_is_told_apart_from_what_it_did_itself() -> None:
    script = trial().applied("w", spec=1).creates("w-a").made("w-b").made("w-c").applied("w", spec=2).terminating("w-b")
    script.removed("w-c").deletes("w-a")

    assert witnessed(script, Committed) == [
        "widget/w (uid ns-uid-1) was created, not by the controller",
        "the controller created pod/w-a (resourceVersion 102)",
        "pod/w-b (uid ns-uid-3), pod/w-c (uid ns-uid-4) were created, not by the controller",
        "widget/w (uid ns-uid-1) was changed, not by the controller",
        "pod/w-b (uid ns-uid-3), pod/w-c (uid ns-uid-4) were deleted, not by the controller",
        "the controller deleted pod/w-a (resourceVersion 108)",
    ]


def test_a_write_that_changed_nothing_did_not_make_what_it_is_answered_with() -> None:
    script = trial().applied("w", spec=1).terminating("w", WIDGETS).updates("w")

    assert witnessed(script, Committed) == [
        "widget/w (uid ns-uid-1) was created, not by the controller",
        "widget/w (uid ns-uid-1) was deleted, not by the controller",
    ]


def test_what_a_write_tells_its_commit_does_not_tell_again() -> None:
    assert witnessed(trial().applied("w").creates("w-a"), Asked, Committed) == [
        "widget/w (uid ns-uid-1) was created, not by the controller",
        "it created pod/w-a",
        f"it asked to list {WIDGETS}",
    ]


def test_a_live_read_is_told_with_what_it_found() -> None:
    assert witnessed(trial().applied("w").gets("w", WIDGETS).gets("x", WIDGETS), Answered) == [
        f"it read {WIDGETS}/w, x live (resourceVersion 101)",
    ]
    assert witnessed(trial().gets("x", WIDGETS), Answered) == [f"it read {WIDGETS}/x live and was told 404 NotFound"]


def test_a_write_that_was_not_done_is_told_as_a_wish() -> None:
    script = trial().adds(Asked, request=7, client="controller", verb="create", resource="pods")
    script.adds(Answered, request=7, outcome="unknown", code=500, reason="InternalError", fault=0, executed=False)
    script.adds(Asked, request=8, client="controller", verb="create", resource="pods")
    script.adds(Answered, request=8, outcome="unknown", code=500, reason="InternalError", fault=0, executed=False)
    history = script.ends()
    told = explain(Finding("backs-off", "b", (4, 6)), history)

    assert told.lines[0][1] == "it asked to create pods"


def test_a_refusal_of_the_api_server_is_told() -> None:
    assert witnessed(trial().refused("create", "w-a", "AlreadyExists"), Answered) == ["the API server answered 409 AlreadyExists"]


def test_a_server_side_apply_that_finds_nothing_is_told_as_a_create() -> None:
    script = trial().adds(Asked, request=7, client="controller", verb="patch", resource="pods", name="w-a")
    script.adds(Answered, request=7, outcome="ok", code=201, name="w-a", uid="u", revision=120)

    assert witnessed(script, Asked)[0] == "it created pods/w-a"
    assert witnessed(script, Answered) == ["the controller created w-a (resourceVersion 120)"]


def test_streams_that_ended_are_told_with_how() -> None:
    script = trial().adds(Closed, stream=1, how="reset", fault=0).adds(Closed, stream=2, how="reset", fault=0)

    assert witnessed(script.adds(Closed, stream=3, how="expired", fault=0), Closed) == [
        f"its watch of pods, {WIDGETS} ended: the connection was reset",
        "its watch of configmaps ended: 410 Expired came as an event",
    ]


def test_bookmarks_are_told_as_such() -> None:
    script = (
        trial().adds(Delivered, stream=1, type="BOOKMARK", revision=120).adds(Delivered, stream=1, type="BOOKMARK", revision=130)
    )
    script.adds(Dropped, stream=1, type="BOOKMARK", revision=140, fault=0)

    assert witnessed(script, Delivered, Dropped) == [
        "a bookmark of pods came (resourceVersion 130), 2 in all",
        "a bookmark of pods never came",
    ]


def test_what_was_kept_from_it_is_told() -> None:
    script = trial().applied("w").hold().made("w-a").made("w-b").let_go()

    assert witnessed(script, Withheld) == ["news of pods/w-a (resourceVersion 102) was kept from it, and 1 more"]


def test_what_its_metrics_said_is_told() -> None:
    sample = Sample("widget_stale_sync_skips_total", {"resource": "pods"}, 3)

    assert witnessed(trial().adds(Metrics, took=0.1, samples=(sample,)), Metrics) == [
        "its metrics were read: widget_stale_sync_skips_total of pods was 3"
    ]
    assert witnessed(trial().adds(Metrics, took=0.1), Metrics) == ["its metrics were read: nothing of this"]


def test_how_its_process_ended_is_told() -> None:
    script = Script(Kill(resource="pods"), Restart(gently=True))
    script.adds(Stopped, life=1, fault=0).adds(Started, life=2).adds(Stopped, life=2, fault=1).adds(Started, life=3)

    assert between(script) == [
        "the controller was killed",
        "the controller was started again, and had been shown nothing yet",
        "the controller was stopped",
        "the controller was started again, and had been shown nothing yet",
    ]
