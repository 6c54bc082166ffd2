"""What all faults have in common: what they concern, what makes no sense in them, how they are called."""

from typing import Any, get_args

import msgspec
import pytest

from staleproof.core.fault import AnyFault, HoldStream, LoseAnswer, PastSnapshot, Reject, Seat, Skew, Window
from staleproof.core.fault.decision import PASS, AnswerDecision, FrameDecision, Pass, RequestDecision
from staleproof.core.fault.legality import ROWS
from staleproof.core.fault.model import CallFault, Fault, Verb

from .asking import ADDED, BOOKMARK, PODS, WATCH, place, request

KINDS: tuple[type[AnyFault], ...] = get_args(AnyFault)


def test_the_fault_that_does_nothing() -> None:
    nothing = Fault(resource="pods")
    assert nothing.on_frame(ADDED, place()) == PASS
    assert nothing.on_request(request(WATCH), 1) == PASS
    assert nothing.on_answer(request(WATCH), 1) == PASS
    assert (nothing.trigger, nothing.on_open, nothing.on_close) == (None, None, None)
    assert (nothing.trickles, nothing.refuses_connections) == (False, False)
    assert nothing.window == Window(from_step=1, until_step=None, seconds=None)


@pytest.mark.parametrize("union", [FrameDecision, RequestDecision, AnswerDecision])
def test_every_decision_may_be_to_pass_and_none_can_be_changed(union: object) -> None:
    kinds = get_args(union)
    assert Pass in kinds
    assert all(kind.__struct_config__.frozen for kind in kinds)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_says_by_which_row_it_is_what_it_is(kind: type[AnyFault]) -> None:
    rows = [ROWS[number] for number in kind.row.split(", ")]
    assert {row.contract for row in rows} == {kind.contract}
    assert kind.contract != "legal" or not any(row.done.startswith("no") for row in rows)
    assert kind.__doc__


@pytest.mark.parametrize("kind", KINDS)
def test_only_a_hostile_fault_breaks_a_property(kind: type[AnyFault]) -> None:
    assert kind.breaks in ("", "Reliable", "Unique", "Ordered", "Atomic")
    assert not kind.breaks or kind.contract == "hostile"


def test_the_names_of_the_requirements_are_there() -> None:
    assert {str(kind.__struct_config__.tag) for kind in KINDS} >= {
        "AddBookmarks", "Coalesce", "Compete", "Delay", "DropBookmarks", "DropFrame", "Expire", "Hang", "HideOwnWrite", "Hold",
        "Kill", "LoseAnswer", "NoEndBookmark", "PastSnapshot", "Pause", "Refuse", "RefuseWatchList", "Reject", "Reorder",
        "RepeatFrame", "Restart", "Sever", "Skew", "SlowAnswer", "SlowStart", "StaleRead",
    }  # fmt: skip
    assert HoldStream(resource="pods").tag == "Hold"


# --- what it concerns ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "resource", "concerns"),
    [
        (HoldStream(resource="pods"), "pods", True),
        (HoldStream(resource="pods"), "services", False),
        (HoldStream(resource="pods"), "pods.example.com", False),
        (HoldStream(resource="*"), "deployments.apps", True),
        (HoldStream(resource="*"), "leases.coordination.k8s.io", False),
        (HoldStream(resource="*"), "events", False),
        (HoldStream(resource="*"), "events.events.k8s.io", False),
        (HoldStream(resource="leases.coordination.k8s.io"), "leases.coordination.k8s.io", True),
    ],
)
def test_resources(fault: Fault, resource: str, *, concerns: bool) -> None:
    assert fault.concerns(resource) is concerns


@pytest.mark.parametrize(
    ("fields", "watch", "ordinal", "concerns"),
    [
        ({}, WATCH, 1, True),
        ({"stream": 2}, WATCH, 1, False),
        ({"stream": 2}, WATCH, 2, True),
        ({"namespace": "trial"}, WATCH, 1, True),
        ({"namespace": "other"}, WATCH, 1, False),
        ({"namespace": "trial"}, "GET /api/v1/pods?watch=1", 1, True),  # a stream of all namespaces has it, too
        ({"name": "x"}, WATCH, 1, True),  # its frames are asked about one by one
        ({}, "GET /api/v1/namespaces/trial/services?watch=1", 1, False),
    ],
)
def test_streams(fields: dict[str, str | int], watch: str, ordinal: int, *, concerns: bool) -> None:
    fault = HoldStream(resource="pods", **fields)  # type: ignore[arg-type]  # from a table
    assert fault.concerns_stream(Seat(request(watch), ordinal)) is concerns


@pytest.mark.parametrize(
    ("fields", "event", "bookmark"),
    [
        ({}, True, True),
        ({"namespace": "trial"}, True, True),
        ({"namespace": "other"}, False, True),  # a bookmark is of no namespace
        ({"name": "x"}, True, False),
        ({"name": "y"}, False, False),
        ({"namespace": "other", "name": "x"}, False, False),
    ],
)
def test_frames(fields: dict[str, str], *, event: bool, bookmark: bool) -> None:
    fault = HoldStream(resource="pods", **fields)  # type: ignore[arg-type]  # from a table
    assert (fault.concerns_frame(ADDED), fault.concerns_frame(BOOKMARK)) == (event, bookmark)


@pytest.mark.parametrize(
    ("fields", "line", "concerns"),
    [
        ({}, f"GET {PODS}", True),
        ({}, "GET /api/v1/namespaces/trial/services", False),
        ({"namespace": "trial"}, f"GET {PODS}", True),
        ({"namespace": "other"}, f"GET {PODS}", False),
        ({"namespace": "other"}, "GET /api/v1/pods", True),
        ({"name": "x"}, f"GET {PODS}/x", True),
        ({"name": "y"}, f"GET {PODS}/x", False),
        ({"name": "x"}, f"GET {PODS}", False),
        # verbs and their groups
        ({"verb": "read"}, f"GET {PODS}", True),
        ({"verb": "read"}, WATCH, True),
        ({"verb": "read"}, f"POST {PODS}", False),
        ({"verb": "write"}, f"POST {PODS}", True),
        ({"verb": "write"}, f"DELETE {PODS}", True),
        ({"verb": "write"}, f"GET {PODS}/x", False),
        ({"verb": "update"}, f"PUT {PODS}/x", True),
        ({"verb": "update"}, f"PATCH {PODS}/x", False),
        ({"verb": "deletecollection"}, f"DELETE {PODS}", True),
        ({"verb": "delete"}, f"DELETE {PODS}", False),
        # subresources
        ({"verb": "update"}, f"PUT {PODS}/x/status", True),
        ({"verb": "update", "subresource": ""}, f"PUT {PODS}/x/status", False),
        ({"verb": "update", "subresource": ""}, f"PUT {PODS}/x", True),
        ({"verb": "update", "subresource": "status"}, f"PUT {PODS}/x/status", True),
        ({"verb": "update", "subresource": "status"}, f"PUT {PODS}/x", False),
        # a dry run does nothing, so nothing is done to it
        ({"verb": "write"}, f"POST {PODS}?dryRun=All", False),
    ],
)
def test_requests(fields: dict[str, str], line: str, *, concerns: bool) -> None:
    fault = Reject(resource="pods", **fields)  # type: ignore[arg-type]  # from a table
    assert fault.concerns_request(request(line)) is concerns


@pytest.mark.parametrize("verb", [verb for verb in get_args(Verb) if verb not in ("*", "read", "write")])
def test_every_verb_is_itself_and_in_one_group(verb: Verb) -> None:
    lines = {
        "get": f"GET {PODS}/x",
        "list": f"GET {PODS}",
        "watch": WATCH,
        "create": f"POST {PODS}",
        "update": f"PUT {PODS}/x",
        "patch": f"PATCH {PODS}/x",
        "delete": f"DELETE {PODS}/x",
        "deletecollection": f"DELETE {PODS}",
    }
    sent = request(lines[verb])
    by_verb: dict[Verb, Reject] = {word: Reject(resource="pods", verb=word) for word in get_args(Verb)}
    assert [word for word, fault in by_verb.items() if fault.concerns_request(sent)] in (["*", "read", verb], ["*", "write", verb])


@pytest.mark.parametrize(
    ("nth", "times", "hit"),
    [(1, 1, [1]), (2, 1, [2]), (1, 3, [1, 2, 3]), (2, 2, [2, 3]), (1, None, [1, 2, 3, 4, 5]), (4, None, [4, 5])],
)
def test_the_nth_and_so_many_in_a_row(nth: int, times: int | None, hit: list[int]) -> None:
    fault = CallFault(resource="pods", nth=nth, times=times)
    assert [number for number in range(1, 6) if fault.hits(number)] == hit


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_fault_says_in_words_what_it_does(kind: type[AnyFault]) -> None:
    written: dict[str, Any] = {"fault": kind.__struct_config__.tag, "resource": "pods"}
    if "by_seconds" in kind.__struct_fields__:
        written["bySeconds"] = {"pods": 1.0} if kind is Skew else 1.0
    phrase = msgspec.convert(written, AnyFault).phrase
    assert phrase
    assert "{" not in phrase


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (HoldStream(resource="pods"), "its pods stream was held"),
        (HoldStream(resource="*"), "all its streams were held"),
        (PastSnapshot(), "reads of everything at any resourceVersion (0, or none in a watch) were answered from the past"),
        (
            PastSnapshot(resource="*"),
            "reads of everything at any resourceVersion (0, or none in a watch) were answered from the past",
        ),
        (Reject(resource="pods", code=503), "requests about pods were answered 503 and not executed"),
        (Reject(resource="*", code=0), "requests about everything were cut off and not executed"),
        (LoseAnswer(resource="pods"), "answers about pods were lost, the requests executed"),
        (LoseAnswer(resource="pods", code=504), "answers about pods were lost and replaced by 504, the requests executed"),
    ],
)
def test_what_a_fault_does_in_words(fault: AnyFault, words: str) -> None:
    assert fault.phrase == words
