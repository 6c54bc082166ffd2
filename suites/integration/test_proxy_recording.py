"""Requests that are not watches: the history records what they asked for, what was answered, and which client asked."""

from staleproof.core.history.entry import Answered, Asked, Listed
from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER

from .proxy_client import until
from .proxy_protobuf import MEDIA_TYPE, delete_options
from .proxy_stage import ProxyStage, named


async def test_requests_are_recorded_with_their_answers(stage: ProxyStage) -> None:
    client = await stage.connection()
    _, made = await client.call("POST", stage.path, {"metadata": {"generateName": "sample-"}})
    meta = made["metadata"]
    await client.call("GET", f"{stage.path}/{meta['name']}")
    await client.call("GET", f"{stage.path}?labelSelector=a%3Db")
    await client.call("GET", f"{stage.path}?limit=1")
    wrong = {"preconditions": {"uid": "another", "resourceVersion": "1"}}
    assert (await client.call("DELETE", f"{stage.path}/{meta['name']}", wrong))[0] == 409
    right = {"preconditions": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}}
    assert (await client.call("DELETE", f"{stage.path}/{meta['name']}", right))[0] == 200
    await until(lambda: len(stage.of(Answered)) == 4 and len(stage.of(Listed)) == 2)
    requests, answered = stage.of(Asked), {entry.request: entry for entry in stage.of(Answered)}
    assert [entry.verb for entry in requests] == ["create", "get", "list", "list", "delete", "delete"]
    assert {(entry.client, entry.resource, entry.namespace) for entry in requests} == {
        ("controller", "configmaps", stage.namespace)
    }
    assert [(entry.precondition_uid, entry.precondition_revision) for entry in requests[4:]] == [
        ("another", "1"),
        (meta["uid"], meta["resourceVersion"]),
    ]
    created = answered[requests[0].request]
    assert (created.outcome, created.code, created.name, created.uid) == ("ok", 201, meta["name"], meta["uid"])
    assert created.revision == int(meta["resourceVersion"])
    assert [(answered[entry.request].outcome, answered[entry.request].code) for entry in requests[4:]] == [
        ("fail", 409),
        ("ok", 200),
    ]
    assert answered[requests[4].request].reason == "Conflict"
    selected, complete = stage.of(Listed)
    assert (selected.selector, selected.items, selected.request) == ("a=b", (), requests[2].request)
    assert [(item.name, item.uid, item.revision) for item in complete.items] == [(created.name, created.uid, created.revision)]


async def test_clients_are_told_apart_by_their_tokens(stage: ProxyStage) -> None:
    for token in (stage.plane.tokens[CONTROLLER], stage.plane.tokens[RUNNER], "stray"):
        client = await stage.connection(token=token)
        await client.call("GET", stage.path)
    await until(lambda: len(stage.of(Asked)) == 3 and len(stage.of(Answered)) == 1)
    assert [entry.client for entry in stage.of(Asked)] == ["controller", RUNNER, "unknown"]
    assert [entry.code for entry in stage.of(Answered)] == [401]


async def test_preconditions_are_recorded_from_protobuf_too(stage: ProxyStage) -> None:
    """Typed client-go clients write protobuf: a delete that names an incarnation must not be taken for one that names none."""
    client = await stage.connection()
    _, made = await client.call("POST", stage.path, named("sample"))
    uid, revision = made["metadata"]["uid"], made["metadata"]["resourceVersion"]
    for options, code in (
        (delete_options(uid="another"), 409),
        (delete_options(revision="1"), 409),
        (delete_options(uid=uid, revision=revision), 200),
    ):
        assert (await client.call("DELETE", f"{stage.path}/sample", options, Content_Type=MEDIA_TYPE))[0] == code
    await stage.all_recorded()
    assert [(entry.precondition_uid, entry.precondition_revision) for entry in stage.of(Asked) if entry.verb == "delete"] == [
        ("another", ""),
        ("", "1"),
        (uid, revision),
    ]
