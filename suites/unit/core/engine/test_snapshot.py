"""How the past is asked for, and how a list of it becomes what the client asked for."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from staleproof.core.engine.snapshot import initial_events, is_list, single, target_at, watch_from
from staleproof.core.history.frame import FrameReader

from ..fault.asking import PODS, request

EXACT = {"resourceVersion": ["7"], "resourceVersionMatch": ["Exact"]}


def at(target: str) -> tuple[str, dict[str, list[str]]]:
    url = urlsplit(target_at(request(f"GET {target}"), target, 7))
    return url.path, parse_qs(url.query, keep_blank_values=True)


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (PODS, PODS, {}),
        (f"{PODS}?resourceVersion=0", PODS, {}),
        (f"{PODS}?resourceVersion=0&resourceVersionMatch=NotOlderThan", PODS, {}),
        (f"{PODS}?limit=500&continue=", PODS, {}),
        (
            f"{PODS}?labelSelector=a%3Db%2Cc&fieldSelector=spec.nodeName%3Dn&limit=5",
            PODS,
            {"labelSelector": ["a=b,c"], "fieldSelector": ["spec.nodeName=n"]},
        ),
        (f"{PODS}?pretty=true&includeObject=None", PODS, {"pretty": ["true"], "includeObject": ["None"]}),
        # a watch
        (f"{PODS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=300&labelSelector=a", PODS, {"labelSelector": ["a"]}),
        (f"{PODS}?watch=true&sendInitialEvents=false&timeout=30s", PODS, {}),
        ("/api/v1/watch/pods?resourceVersion=0", "/api/v1/pods", {}),
        ("/api/v1/watch/namespaces/trial/pods", PODS, {}),
        ("/apis/apps/v1/watch/namespaces/trial/deployments", "/apis/apps/v1/namespaces/trial/deployments", {}),
        ("/api/v1/namespaces/watch/pods?watch=1", "/api/v1/namespaces/watch/pods", {}),  # a namespace of that name
        ("/apis/watch/v1/watch/things", "/apis/watch/v1/things", {}),  # and a group
        ("/api/v1/watch/namespaces/trial/pods/x?resourceVersion=0", PODS, {"fieldSelector": ["metadata.name=x"]}),
        ("/api/v1/watch/namespaces/trial/pods/x?fieldSelector=metadata.name%3Dx", PODS, {"fieldSelector": ["metadata.name=x"]}),
        ("/api/v1/watch/nodes/x?fieldSelector=", "/api/v1/nodes", {"fieldSelector": ["metadata.name=x"]}),
        # one object
        (f"{PODS}/x", PODS, {"fieldSelector": ["metadata.name=x"]}),
        (f"{PODS}/x?resourceVersion=0", PODS, {"fieldSelector": ["metadata.name=x"]}),
        ("/api/v1/namespaces/trial", "/api/v1/namespaces", {"fieldSelector": ["metadata.name=trial"]}),
        ("/apis/apps/v1/deployments/x/", "/apis/apps/v1/deployments", {"fieldSelector": ["metadata.name=x"]}),
    ],
)
def test_the_list_that_shows_the_past(target: str, path: str, query: dict[str, list[str]]) -> None:
    assert at(target) == (path, query | EXACT)


@pytest.mark.parametrize(
    ("target", "query"),
    [
        (f"{PODS}?watch=1", {"watch": ["1"], "resourceVersion": ["7"]}),
        (
            f"{PODS}?watch=1&resourceVersion=0&labelSelector=a%3Db",
            {"watch": ["1"], "labelSelector": ["a=b"], "resourceVersion": ["7"]},
        ),
        (f"{PODS}?watch=1&resourceVersion=", {"watch": ["1"], "resourceVersion": ["7"]}),
    ],
)
def test_the_watch_that_goes_on_from_there(target: str, query: dict[str, list[str]]) -> None:
    url = urlsplit(watch_from(target, 7))
    assert (url.path, parse_qs(url.query)) == (PODS, query)


# --- what the list says ----------------------------------------------------------------------------------------------------------


def obj(name: str, revision: int, **fields: Any) -> dict[str, Any]:  # noqa: ANN401  # any JSON
    return {"metadata": {"name": name, "namespace": "trial", "uid": f"u-{name}", "resourceVersion": str(revision)}, **fields}


def listed(kind: str, api_version: str, *items: object, **fields: object) -> bytes:
    body = {"kind": kind, "apiVersion": api_version, "metadata": {"resourceVersion": "7"}, "items": list(items), **fields}
    return json.dumps(body).encode()


def table(*rows: object) -> bytes:
    columns = [{"name": "Name", "type": "string"}]
    body = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "7"}}
    return json.dumps(body | {"columnDefinitions": columns, "rows": list(rows)}).encode()


PODLIST = listed("PodList", "v1", obj("a", 5, spec={"städte": "東京"}), obj("b", 3))


def test_a_single_object_has_the_kind_that_lists_leave_out() -> None:
    found = single(PODLIST)
    assert found is not None
    assert json.loads(found) == {"kind": "Pod", "apiVersion": "v1", **obj("a", 5, spec={"städte": "東京"})}


@pytest.mark.parametrize(
    "body",
    [
        listed("PodList", "v1"),
        table(),
        b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"}}',
        b'{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"items":null}',
        b'{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"rows":null}',
    ],
)
def test_what_was_not_there(body: bytes) -> None:
    assert single(body) is None
    assert initial_events(body) == b""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (PODLIST, True),
        (table(), True),
        (b'{"kind":"PodList","items":null}', True),
        (b"", False),
        (b"k8s\x00", False),
        (b"[]", False),
        (b'{"items":[null]}', False),
        (b'{"items":"\xff"}', False),
        (b'{"items":' + b"[" * 100_000, False),
    ],
)
def test_what_cannot_be_read_is_no_list(body: bytes, *, expected: bool) -> None:
    assert is_list(body) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (PODLIST, [("ADDED", "trial", "a", "u-a", 5), ("ADDED", "trial", "b", "u-b", 3)]),
        (listed("DeploymentList", "apps/v1", obj("a", 5)), [("ADDED", "trial", "a", "u-a", 5)]),
    ],
)
def test_initial_events_are_frames(body: bytes, expected: list[tuple[object, ...]]) -> None:
    frames = FrameReader().feed(initial_events(body))
    assert [(frame.type, frame.namespace, frame.name, frame.uid, frame.revision) for frame in frames] == expected


def test_an_objects_own_kind_stays() -> None:
    partial = obj("a", 5) | {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    (frame,) = FrameReader().feed(initial_events(listed("PartialObjectMetadataList", "meta.k8s.io/v1", partial)))
    assert json.loads(frame.raw) == {"type": "ADDED", "object": partial}
    custom = obj("a", 5) | {"kind": "Widget", "apiVersion": "example.com/v1"}
    assert json.loads(single(listed("WidgetList", "example.com/v1", custom)) or b"") == custom


def test_a_table_is_reported_row_by_row() -> None:
    rows = [{"cells": ["a"], "object": obj("a", 5)}, {"cells": ["b"], "object": obj("b", 3)}]
    frames = FrameReader().feed(initial_events(table(*rows)))
    assert [frame.revision for frame in frames] == [5, 3]
    for frame, row in zip(frames, rows, strict=True):
        shown = json.loads(frame.raw)["object"]
        assert (shown["kind"], shown["apiVersion"], shown["rows"]) == ("Table", "meta.k8s.io/v1", [row])
        assert shown["columnDefinitions"] == [{"name": "Name", "type": "string"}]
    assert json.loads(single(table(*rows)) or b"")["metadata"] == {"resourceVersion": "5"}


@pytest.mark.parametrize("row", [{"cells": ["a"]}, {"cells": ["a"], "object": None}])
def test_a_row_without_its_object_has_the_revision_of_the_list(row: dict[str, object]) -> None:
    (frame,) = FrameReader().feed(initial_events(table(row)))
    assert frame.revision == 7
