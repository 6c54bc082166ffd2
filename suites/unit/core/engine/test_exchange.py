"""What the history says of a request, for every way in which it can be answered."""

import json
from typing import Any

import pytest

from staleproof.core.engine.exchange import Exchange, with_content
from staleproof.core.history.entry import Answered, FaultIndex, Item, Listed, Refused, RequestId
from staleproof.core.history.resource_version import Revision

from ..fault.asking import PODS, WATCH, request
from ..protobuf_writer import envelope, field

POD = {"kind": "Pod", "metadata": {"namespace": "trial", "name": "x", "uid": "u", "resourceVersion": "7"}}
CONFLICT = {"kind": "Status", "reason": "Conflict", "details": {"name": "x"}}
LIST = {"kind": "PodList", "metadata": {"resourceVersion": "9"}, "items": [POD]}
DRY = b'{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}'
DRY_IN_PROTOBUF = envelope(field(5, b"All"), "DeleteOptions")
NAMED: dict[str, Any] = {"namespace": "trial", "name": "x", "uid": "u", "revision": 7}


def exchange(line: str, **known: Any) -> Exchange:  # noqa: ANN401  # its fields
    return Exchange(RequestId(3), request(line), "c", **known)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"PUT {PODS}/x/status", "update pods/status trial/x"),
        ("POST /apis/apps/v1/namespaces/trial/deployments", "create deployments.apps trial"),
        ("GET /api/v1/nodes", "list nodes"),
    ],
)
def test_a_request_in_words(line: str, said: str) -> None:
    assert str(exchange(line)) == said


@pytest.mark.parametrize(
    ("method", "insists"), [("DELETE", ("u", "5")), ("PUT", ("", "6")), ("PATCH", ("", "6")), ("POST", ("", ""))]
)
def test_what_a_write_insists_on_is_in_its_body(method: str, insists: tuple[str, str]) -> None:
    body = b'{"metadata": {"uid": "v", "resourceVersion": "6"}, "preconditions": {"uid": "u", "resourceVersion": "5"}}'
    entry = exchange(f"{method} {PODS}/x").asked(body, 1.0)
    assert (entry.precondition_uid, entry.precondition_revision) == insists
    assert (entry.request, entry.client, entry.resource, entry.name) == (3, "c", "pods", "x")


@pytest.mark.parametrize(
    ("line", "body", "is_dry"),
    [
        (f"PUT {PODS}/x", b"{}", False),
        (f"PUT {PODS}/x?dryRun=All", b"{}", True),
        (f"PUT {PODS}/x", b'{"dryRun":["All"]}', False),  # an object's own field
        (f"DELETE {PODS}/x", b"", False),
        (f"DELETE {PODS}/x?dryRun=All", b"", True),
        (f"DELETE {PODS}/x", DRY, True),
        (f"DELETE {PODS}/x", DRY_IN_PROTOBUF, True),
        (f"DELETE {PODS}/x", envelope(field(4, b"Background"), "DeleteOptions"), False),
        (f"DELETE {PODS}", DRY, True),
        (f"DELETE {PODS}", DRY_IN_PROTOBUF, True),
        (f"DELETE {PODS}/x?dryRun=All", b'{"propagationPolicy":"Background"}', False),  # what the API server does not read
        (f"POST {PODS}/x/eviction", b'{"kind":"Eviction","deleteOptions":{"dryRun":["All"]}}', True),
        (f"POST {PODS}/x/eviction", envelope(field(2, field(5, b"All")), "Eviction"), True),
        (f"POST {PODS}/x/eviction", b'{"kind":"Eviction","deleteOptions":{}}', False),
        (f"POST {PODS}/x/eviction?dryRun=All", b'{"kind":"Eviction","deleteOptions":{}}', True),
    ],
)
def test_where_a_dry_run_is_asked_for(line: str, body: bytes, *, is_dry: bool) -> None:
    assert exchange(line).asked(body, 1.0).dry_run is is_dry
    assert with_content(request(line), "application/json", body).dry_run is is_dry


@pytest.mark.parametrize(
    ("line", "content_type", "applies"),
    [
        (f"PATCH {PODS}/x?fieldManager=c", "application/apply-patch+yaml", True),
        (f"PATCH {PODS}/x?fieldManager=c&force=true", "application/apply-patch+cbor", True),
        (f"PATCH {PODS}/x/status?fieldManager=c", "application/apply-patch+yaml; charset=utf-8", True),
        (f"PATCH {PODS}/x?fieldManager=c", "application/merge-patch+json", False),
        (f"PATCH {PODS}/x?fieldManager=c", "", False),
        (f"PUT {PODS}/x?fieldManager=c", "application/apply-patch+yaml", False),
    ],
)
def test_which_patch_is_a_server_side_apply(line: str, content_type: str, *, applies: bool) -> None:
    assert with_content(request(line), content_type, b"{}").applies is applies


@pytest.mark.parametrize(
    ("known", "code", "body", "entry"),
    [
        ({}, 200, POD, Answered(at=1.0, request=RequestId(3), outcome="ok", code=200, **NAMED)),
        ({}, 409, CONFLICT, Answered(at=1.0, request=RequestId(3), outcome="fail", code=409, reason="Conflict", name="x")),
        (  # a fault answered in place of the API server
            {"fault": 2, "executed": False, "client_status": (503, "Busy")},
            503,
            {"kind": "Status", "reason": "Busy"},
            Answered(at=1.0, request=RequestId(3), outcome="unknown", code=503, reason="Busy", fault=FaultIndex(2), executed=False),
        ),
        (  # a fault lost the answer
            {"fault": 2, "executed": True, "client_status": (0, "")},
            200,
            POD,
            Answered(at=1.0, request=RequestId(3), outcome="unknown", code=0, fault=FaultIndex(2), executed=True, **NAMED),
        ),
    ],
    ids=["done", "refused", "answered by a fault", "lost by a fault"],
)
def test_what_was_answered(known: dict[str, Any], code: int, body: dict[str, Any], entry: Answered) -> None:
    answered = exchange(f"PUT {PODS}/x", **known).answered(code, json.dumps(body).encode(), 1.0, retry_after=False)
    assert answered == entry


def test_a_list_is_a_snapshot_unless_it_failed() -> None:
    get = exchange(f"GET {PODS}?labelSelector=a", fault=1)
    items = (Item("trial", "x", "u", Revision(7)),)
    assert get.answered(200, json.dumps(LIST).encode(), 1.0, retry_after=False) == Listed(
        at=1.0,
        request=RequestId(3),
        client="c",
        resource="pods",
        namespace="trial",
        selector="a",
        revision=Revision(9),
        items=items,
        fault=FaultIndex(1),
    )
    assert isinstance(get.answered(410, b"{}", 1.0, retry_after=False), Answered)


def test_a_connection_that_broke_leaves_it_open() -> None:
    assert exchange(f"PUT {PODS}/x").broken("reset", 1.0) == Answered(
        at=1.0, request=RequestId(3), outcome="unknown", reason="reset"
    )


def test_a_watch_that_got_no_stream() -> None:
    assert exchange(WATCH, fault=1, client_status=(410, "Expired")).refused(1.0) == Refused(
        at=1.0, client="c", resource="pods", namespace="trial", start="5", code=410, reason="Expired", fault=FaultIndex(1)
    )
