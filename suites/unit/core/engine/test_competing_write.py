"""The write that comes first: for which requests there is one, and what it is."""

import json

import pytest

from staleproof.core.engine.competing_write import Rival, rival_of
from staleproof.core.plan.nudge import nudge

from ..fault.asking import PODS, request
from ..protobuf_writer import envelope, field

JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
POD = json.dumps({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x", "labels": {"name": "y"}}}).encode()
GENERATED = json.dumps({"metadata": {"generateName": "x-"}}).encode()


def rival(method: str, target: str, body: bytes = b"", content_type: str = JSON) -> Rival | str:
    return rival_of(request(f"{method} {target}"), target, content_type, body, 3)


def pod(name: str, *, generate: str = "") -> bytes:
    metadata = field(1, name.encode()) if name else b""
    return envelope(field(1, metadata + field(2, generate.encode()) + field(3, b"trial")) + field(2, b"spec" * 100))


# --- which write


@pytest.mark.parametrize(("body", "content_type"), [(POD, JSON), (pod("x"), PROTOBUF)], ids=["JSON", "protobuf"])
def test_a_create_finds_the_object_there(body: bytes, content_type: str) -> None:
    assert rival("POST", f"{PODS}?fieldManager=c&pretty=true", body, content_type) == Rival("POST", PODS, content_type, body)


@pytest.mark.parametrize(
    ("body", "content_type"), [(GENERATED, JSON), (pod("", generate="x-"), PROTOBUF), (b"", JSON), (b"{", JSON)]
)
def test_a_create_of_a_generated_name_meets_no_rival(body: bytes, content_type: str) -> None:
    assert rival("POST", PODS, body, content_type) == "its name is generated (or not readable), so no other object can have it"


def test_a_create_of_a_subresource_meets_no_rival() -> None:
    assert rival("POST", f"{PODS}/x/eviction", POD) == "no other user competes for pods/eviction"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("target", [f"{PODS}/x", f"{PODS}/x?dryRun=", f"{PODS}/x/status", f"{PODS}/x/scale?fieldManager=c"])
def test_any_other_write_finds_a_newer_version(method: str, target: str) -> None:
    found = rival(method, target, POD)
    assert isinstance(found, Rival)
    assert (found.method, found.target, found.content_type) == ("PATCH", f"{PODS}/x", "application/json-patch+json")
    assert json.loads(found.body) == nudge("v1", 3)


def test_of_a_group_too() -> None:
    found = rival("PUT", "/apis/staleproof.dev/v1/namespaces/trial/widgets/w/status", POD)
    assert isinstance(found, Rival)
    assert (found.target, json.loads(found.body)) == (
        "/apis/staleproof.dev/v1/namespaces/trial/widgets/w",
        nudge("staleproof.dev/v1", 3),
    )


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_another_user_edits_the_object_under_a_name_of_their_own(method: str) -> None:
    edit = {"metadata": {"labels": {"x": "y"}}}
    target = f"{PODS}/x/status?fieldManager=c"

    found = rival_of(request(f"{method} {target}"), target, JSON, POD, 3, edit)

    expected = Rival("PATCH", f"{PODS}/x?fieldManager=staleproof", "application/merge-patch+json", json.dumps(edit).encode())
    assert isinstance(found, Rival)
    assert (found.method, found.target, found.content_type) == (expected.method, expected.target, expected.content_type)
    assert json.loads(found.body) == edit


def test_each_competition_changes_something() -> None:
    put = request(f"PUT {PODS}/x")
    assert rival_of(put, f"{PODS}/x", JSON, POD, 3) != rival_of(put, f"{PODS}/x", JSON, POD, 4)
