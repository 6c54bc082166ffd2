"""Writes that meet a competitor, or whose answer is lost, on the wire: what the API server has, and what the client knows."""

import pytest

from staleproof.core.fault import Compete, LoseAnswer
from staleproof.core.fault.calls import Code
from staleproof.core.history.entry import Answered, Asked, Competed, FaultRefused
from staleproof.core.history.flatten import flatten

from .proxy_client import MERGE, is_reset
from .proxy_protobuf import MEDIA_TYPE, config_map
from .proxy_stage import DEPLOYMENT_SPEC, ProxyStage, named
from .stage import revision_of

# --- a competing write ---------------------------------------------------------------------------------------------------------


async def test_an_update_that_meets_a_real_competitor(stage: ProxyStage) -> None:
    await stage.create("sample", data={"a": "b"})
    client = await stage.connection()
    _, found = await client.call("GET", f"{stage.path}/sample")
    await stage.play(Compete(resource="configmaps"))
    status, said = await client.call("PUT", f"{stage.path}/sample", found | {"data": {"mine": "1"}})
    assert (status, said["reason"]) == (409, "Conflict")
    truth = await stage.stored("sample")
    assert truth is not None
    assert "annotations" not in truth["metadata"]
    assert dict(flatten(truth, {})).items() <= dict(flatten(found, {})).items()  # nothing that a client could copy
    _, found = await client.call("GET", f"{stage.path}/sample")
    assert (await client.call("PUT", f"{stage.path}/sample", found | {"data": {"mine": "2"}}))[0] == 200
    assert await stage.healed() == ["0 fired"]
    (competed,) = stage.of(Competed)
    meta = truth["metadata"]
    assert (competed.name, competed.uid, competed.revision) == ("sample", meta["uid"], int(meta["resourceVersion"]))
    updates = [entry.request for entry in stage.of(Asked) if entry.verb == "update"]
    assert (competed.request, competed.fault) == (updates[0], 0)
    (conflict,) = [entry for entry in stage.of(Answered) if entry.code == 409]
    # The API server itself answered, not the fault.
    assert (conflict.request, conflict.fault, conflict.executed, conflict.outcome) == (updates[0], None, None, "fail")


async def test_another_users_edit_survives_a_refused_write_and_not_one_that_names_no_version(stage: ProxyStage) -> None:
    await stage.create("sample", data={"a": "b"})
    client = await stage.connection()
    _, found = await client.call("GET", f"{stage.path}/sample")
    edit = {"metadata": {"labels": {"theirs": "1"}}}
    await stage.play(Compete(resource="configmaps", edit=edit, times=2))
    assert (await client.call("PUT", f"{stage.path}/sample", found | {"data": {"mine": "1"}}))[0] == 409
    truth = await stage.stored("sample")
    assert truth is not None
    assert truth["metadata"]["labels"] == {"theirs": "1"}
    assert "staleproof" in {entry["manager"] for entry in truth["metadata"]["managedFields"]}
    blind = {key: value for key, value in found["metadata"].items() if key != "resourceVersion"}
    assert (await client.call("PUT", f"{stage.path}/sample", found | {"metadata": blind}))[0] == 200
    truth = await stage.stored("sample")
    assert truth is not None
    assert "labels" not in truth["metadata"]
    assert await stage.healed() == ["0 fired"]


async def test_a_status_update_and_a_table_client_meet_a_competitor(stage: ProxyStage) -> None:
    made = await stage.create("sample", "deployments.apps", spec=DEPLOYMENT_SPEC)
    path = f"/apis/apps/v1/namespaces/{stage.namespace}/deployments/sample/status"
    await stage.play(Compete(resource="deployments.apps", subresource="status"))
    client = await stage.connection()
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    assert (await client.call("PUT", path, made, Accept=f"{table},application/json"))[0] == 409
    assert await stage.healed() == ["0 fired"]
    (competed,) = stage.of(Competed)
    assert (competed.name, competed.uid) == ("sample", made["metadata"]["uid"])


async def test_a_delete_with_a_precondition_meets_a_competitor(stage: ProxyStage) -> None:
    revision = revision_of(await stage.create("sample", data={"a": "b"}))
    await stage.play(Compete(resource="configmaps", verb="delete"))
    client = await stage.connection()
    options = {"preconditions": {"resourceVersion": revision}}
    status, said = await client.call("DELETE", f"{stage.path}/sample", options)
    assert (status, said["reason"]) == (409, "Conflict")
    assert await stage.stored("sample") is not None
    assert await stage.healed() == ["0 fired"]


@pytest.mark.parametrize("content_type", ["application/json", MEDIA_TYPE])
async def test_a_create_finds_its_name_taken(content_type: str, stage: ProxyStage) -> None:
    await stage.play(Compete(resource="configmaps", verb="create"))
    client = await stage.connection()
    content = config_map("sample", {"a": b"b"}) if content_type == MEDIA_TYPE else named("sample", binaryData={"a": "Yg=="})
    status, said = await client.call("POST", stage.path, content, Content_Type=content_type, Accept=content_type)
    assert (status, said["reason"]) == (409, "AlreadyExists")
    truth = await stage.stored("sample")
    assert truth is not None
    assert truth["binaryData"] == {"a": "Yg=="}
    assert await stage.healed() == ["0 fired"]
    assert [entry.uid for entry in stage.of(Competed)] == [truth["metadata"]["uid"]]


async def test_there_is_no_competitor_for_a_generated_name(stage: ProxyStage) -> None:
    await stage.play(Compete(resource="configmaps", verb="create"))
    client = await stage.connection()
    assert (await client.call("POST", stage.path, {"metadata": {"generateName": "sample-"}}))[0] == 201
    assert await stage.healed() == ["0 refused"]
    assert "generated" in stage.of(FaultRefused)[0].why


async def test_a_competitor_needs_an_object(stage: ProxyStage) -> None:
    await stage.play(Compete(resource="configmaps", verb="delete"))
    assert (await (await stage.connection()).call("DELETE", f"{stage.path}/missing"))[0] == 404
    assert await stage.healed() == ["0 refused"]
    assert "404" in stage.of(FaultRefused)[0].why


# --- executed, but the answer is lost ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 500, 504])
async def test_a_lost_answer_was_executed(code: Code, stage: ProxyStage) -> None:
    await stage.play(LoseAnswer(resource="configmaps", code=code, times=3))
    writes: list[tuple[str, str, object, dict[str, str]]] = [
        ("POST", stage.path, named("sample"), {}),
        ("PATCH", f"{stage.path}/sample", {"data": {"a": "b"}}, {"Content_Type": MERGE}),
        ("DELETE", f"{stage.path}/sample", None, {}),
    ]
    uids: list[str] = []
    for number, (method, path, content, headers) in enumerate(writes):
        client = await stage.connection()
        if code == 0:
            assert await is_reset(client.ask(method, path, content, **headers))
        else:
            status, said = await client.call(method, path, content, **headers)
            assert (status, said["kind"], said["code"], "retry-after" in client.fields) == (code, "Status", code, False)
        truth = await stage.stored("sample")
        assert (truth is not None) is (number < 2)
        assert truth is None or truth.get("data") == (None if number == 0 else {"a": "b"})
        uids += [truth["metadata"]["uid"]] if truth is not None else uids[-1:]
    assert (await (await stage.connection()).call("POST", stage.path, named("sample")))[0] == 201
    assert await stage.healed() == ["0 fired"]
    *lost, last = stage.of(Answered)
    assert [(entry.outcome, entry.executed, entry.fault, entry.uid) for entry in lost] == [
        ("unknown", True, 0, uid) for uid in uids
    ]
    assert [entry.code for entry in lost] == [code] * 3  # what the client got
    assert (last.outcome, last.executed, last.fault) == ("ok", None, None)


async def test_only_the_answer_to_a_successful_write_is_lost(stage: ProxyStage) -> None:
    await stage.play(LoseAnswer(resource="configmaps"))
    assert (await (await stage.connection()).call("DELETE", f"{stage.path}/missing"))[0] == 404
    assert await stage.healed() == ["0 missed"]
