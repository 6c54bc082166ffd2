"""What is read in the body of an answer, and in the body of a delete."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.engine.answer import (
    Answer,
    outcome_of,
    read_answer,
    read_dry_run,
    read_name,
    read_preconditions,
    read_revision,
)
from staleproof.core.history.entry import Item
from staleproof.core.history.resource_version import Revision

META = {"name": "x", "namespace": "a", "uid": "u", "resourceVersion": "5"}
OBJECT = Answer(namespace="a", name="x", uid="u", revision=Revision(5))
TWO = (Item("a", "x", "u", Revision(5)), Item("", "y", "", None))
PARTIALS = [{"metadata": META}, {"metadata": {"name": "y"}}]


def listed(*items: Any, kind: str = "PodList", more: str | None = None) -> dict[str, Any]:  # noqa: ANN401  # any JSON
    metadata = {"resourceVersion": "9"} | ({} if more is None else {"continue": more})
    return {"kind": kind, "metadata": metadata, "items": list(items)}


def table(rows: Any) -> dict[str, Any]:  # noqa: ANN401  # any JSON
    return {"kind": "Table", "metadata": {"resourceVersion": "9"}, "rows": rows}


def status(**fields: Any) -> dict[str, Any]:  # noqa: ANN401  # any JSON
    return {"kind": "Status", "metadata": {}, "details": {"name": "x", "kind": "pods"}} | fields


DOCUMENTS: list[tuple[str, Any, Answer]] = [
    ("object", {"kind": "Pod", "metadata": META, "spec": {}}, OBJECT),
    ("empty object", {}, Answer()),
    ("list", listed(*PARTIALS), Answer(revision=Revision(9), items=TWO)),
    ("empty list", listed(), Answer(revision=Revision(9))),
    ("null list", listed() | {"items": None}, Answer(revision=Revision(9))),
    ("page", listed(*PARTIALS, more="t"), Answer(revision=Revision(9), items=TWO, more=True)),
    ("last page", listed(*PARTIALS, more=""), Answer(revision=Revision(9), items=TWO)),
    ("metadata only", listed(*PARTIALS, kind="PartialObjectMetadataList"), Answer(revision=Revision(9), items=TWO)),
    ("Table", table([{"cells": ["x"], "object": each} for each in PARTIALS]), Answer(revision=Revision(9), items=TWO)),
    ("Table without objects", table(None), Answer(revision=Revision(9))),
    ("failure", status(status="Failure", reason="Conflict", code=409), Answer(name="x", reason="Conflict")),
    ("deleted", status(status="Success", details={"name": "x", "kind": "pods", "uid": "u"}), Answer(name="x", uid="u")),
    ("bare Status", {"kind": "Status", "status": "Failure"}, Answer()),
    ("an Event's reason is not a Status's", {"kind": "Event", "metadata": META, "reason": "Started"}, OBJECT),
    ("an object's own items", {"kind": "Menu", "metadata": META, "items": {"soup": 3}}, OBJECT),
    ("an object's own details", {"kind": "Menu", "metadata": META, "details": "hot"}, OBJECT),
    ("an object's own reason", {"kind": "Menu", "metadata": META, "reason": ["hunger"]}, OBJECT),
]


@pytest.mark.parametrize(("document", "expected"), [case[1:] for case in DOCUMENTS], ids=[case[0] for case in DOCUMENTS])
def test_documents(document: dict[str, Any], expected: Answer) -> None:
    assert read_answer(json.dumps(document).encode()) == expected


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"ok",
        b"404 page not found\n",
        b"null",
        b"[1, 2]",
        b'{"kind": "Pod", "metadata": {"name": 5}}',
        b'{"kind": "Table", "rows": 5}',
        b'{"kind": "Pod", "metadata": {"name": "x"',
        b"k8s\x00\n\x0f\n\x02v1\x12\tPod",
        b'{"kind": "Pod", "metadata": {"name": "\xff"}}',
        b'{"spec": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=["empty", "ok", "text", "null", "array", "wrong type", "wrong rows", "cut", "protobuf", "not UTF-8", "too deep"],
)
def test_what_we_cannot_read_has_nothing_in_it_for_us(body: bytes) -> None:
    assert read_answer(body) == Answer()


@given(st.binary())
def test_any_body_has_an_answer(body: bytes) -> None:
    read_answer(body)
    texts = read_name(body), read_revision(body), *read_preconditions(body), *read_preconditions(body, evicts=True)
    assert all(isinstance(each, str) for each in texts)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b'{"kind":"Pod","metadata":{"name":"x","labels":{"name":"y"}}}', "x"),
        (b'{"metadata":{"generateName":"x-"}}', ""),
        (b'{"metadata":{"name":5}}', ""),
        (b'{"metadata":null}', ""),
        (b'{"metadata":{"name":"\xff"}}', ""),
        (b"apiVersion: v1\nkind: Pod\n", ""),
        (b"", ""),
        (b"k8s\x00\x12\x05\n\x03\n\x01x", "x"),
        (b"k8s\x00", ""),
    ],
)
def test_the_name_in_a_body(body: bytes, name: str) -> None:
    assert read_name(body) == name


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"metadata":{"name":"x","resourceVersion":"5"}}', "5"),
        (b'[{"op":"test","path":"/metadata/resourceVersion","value":"5"}]', ""),
        (b'{"metadata":{"resourceVersion":null}}', ""),
        (b"k8s\x00\x12\x08\n\x06\n\x01x2\x015", "5"),
        (b"k8s\x00\x12\x05\n\x03\n\x01x", ""),
        (b"", ""),
    ],
)
def test_the_revision_in_a_body(body: bytes, expected: str) -> None:
    assert read_revision(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", ("", "")),
        (b"{}", ("", "")),
        (b'{"kind": "DeleteOptions", "propagationPolicy": "Background"}', ("", "")),
        (b'{"preconditions": null}', ("", "")),
        (b'{"preconditions": {}}', ("", "")),
        (b'{"preconditions": {"uid": null, "resourceVersion": null}}', ("", "")),
        (b'{"preconditions": {"uid": "u"}}', ("u", "")),
        (b'{"preconditions": {"resourceVersion": "5"}}', ("", "5")),
        (b'{"preconditions": {"uid": "u", "resourceVersion": "5"}, "dryRun": ["All"]}', ("u", "5")),
        (b'{"preconditions": {"uid": 5}}', ("", "")),
        (b"k8s\x00\n\x13\n\x02v1\x12\rDeleteOptions", ("", "")),
        (b"[" * 100_000, ("", "")),
    ],
)
def test_preconditions(body: bytes, expected: tuple[str, str]) -> None:
    assert read_preconditions(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"metadata": {"name": "w-0"}}', ("", "")),
        (b'{"metadata": {"name": "w-0"}, "deleteOptions": null}', ("", "")),
        (b'{"deleteOptions": {"preconditions": {"uid": "u", "resourceVersion": "5"}}}', ("u", "5")),
        (b'{"preconditions": {"uid": "u"}}', ("", "")),
        (b"k8s\x00\x12\x0c\n\x03\n\x01x\x12\x05\x12\x03\n\x01u", ("u", "")),
        (b"k8s\x00\x12\x05\n\x03\n\x01x", ("", "")),
    ],
)
def test_preconditions_of_an_eviction(body: bytes, expected: tuple[str, str]) -> None:
    assert read_preconditions(body, evicts=True) == expected


@pytest.mark.parametrize(
    ("body", "evicts", "expected"),
    [
        (b"", False, False),
        (b'{"dryRun": null}', False, False),
        (b'{"dryRun": []}', False, False),
        (b'{"dryRun": ["All"]}', False, True),
        (b'{"dryRun": "All"}', False, False),
        (b'{"dryRun": ["All"]}', True, False),
        (b'{"deleteOptions": {"dryRun": ["All"]}}', True, True),
        (b"k8s\x00\x12\x05\x2a\x03All", False, True),
        (b"k8s\x00\x12\x07\x12\x05\x2a\x03All", True, True),
        (b"k8s\x00\x12\x07\x12\x05\x2a\x03All", False, False),
    ],
)
def test_a_dry_run_in_delete_options(body: bytes, *, evicts: bool, expected: bool) -> None:
    assert read_dry_run(body, evicts=evicts) is expected


@pytest.mark.parametrize(
    ("code", "retry_after", "outcome"),
    [
        (200, False, "ok"),
        (201, False, "ok"),
        (304, False, "fail"),
        (404, False, "fail"),
        (409, False, "fail"),
        (429, True, "fail"),
        (429, False, "fail"),
        (500, True, "fail"),
        (503, True, "fail"),
        (500, False, "unknown"),
        (502, False, "unknown"),
        (503, False, "unknown"),
        (504, False, "unknown"),
    ],
)
def test_only_a_5xx_without_retry_after_leaves_it_open(code: int, *, retry_after: bool, outcome: str) -> None:
    assert outcome_of(code, retry_after=retry_after) == outcome
