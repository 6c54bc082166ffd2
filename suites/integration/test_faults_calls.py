"""Faults about single requests, on the wire: what the client is answered, what is executed, and what the history says of both."""

import asyncio

import pytest

from staleproof.core.fault import Kill, LoseAnswer, Reject, SlowAnswer
from staleproof.core.fault.calls import Code
from staleproof.core.history.entry import Answered, Asked, Committed, Competed, Delivered, FaultFired, Refused, Resumed, Stalled

from .proxy_client import JSON, MERGE, is_reset, until
from .proxy_stage import DEPLOYMENT_SPEC, ProxyStage, named
from .stage import revision_of

DEPLOYMENTS = "deployments.apps"


def deployments_of(stage: ProxyStage) -> str:
    return f"/apis/apps/v1/namespaces/{stage.namespace}/deployments"


async def everything(stage: ProxyStage) -> list[JSON]:
    """All that there is of what the requests are about."""
    return [obj for resource in ("configmaps", DEPLOYMENTS) for obj in await stage.listed(resource)]


async def all_requests(stage: ProxyStage) -> list[tuple[str, str, object, dict[str, str]]]:
    """One request of each kind: reads, writes, a subresource, a watch."""
    path, deployments = stage.path, deployments_of(stage)
    await stage.create("sample")
    made = await stage.create("sample", DEPLOYMENTS, spec=DEPLOYMENT_SPEC)
    return [
        ("GET", f"{path}/sample", None, {}),
        ("GET", path, None, {}),
        ("GET", f"{path}?watch=1&resourceVersion={await stage.revision()}", None, {}),
        ("POST", path, named("other"), {}),
        ("PUT", f"{path}/sample", named("sample", data={"a": "b"}), {}),
        ("PATCH", f"{path}/sample", {"data": {"a": "b"}}, {"Content_Type": MERGE}),
        ("PUT", f"{deployments}/sample/status", {**made, "status": {"replicas": 7}}, {}),
        ("DELETE", f"{path}/sample", None, {}),
    ]


REASONS = [(429, "TooManyRequests", "1"), (500, "InternalError", None), (503, "ServiceUnavailable", None), (504, "Timeout", None)]


@pytest.mark.parametrize(("code", "reason", "retry_after"), REASONS)
async def test_a_rejected_request_is_not_executed(code: Code, reason: str, retry_after: str | None, stage: ProxyStage) -> None:
    requests = await all_requests(stage)
    before = await everything(stage)
    await stage.play(Reject(resource="*", code=code, times=None))
    client = await stage.connection()
    for method, path, content, headers in requests:
        status, said = await client.call(method, path, content, **headers)
        assert (status, said["kind"], said["code"], said["reason"]) == (code, "Status", code, reason)
        assert client.fields.get("retry-after") == retry_after
        assert said.get("details", {}).get("retryAfterSeconds") == (int(retry_after) if retry_after else None)
    assert await stage.healed() == ["0 fired"]
    assert await everything(stage) == before
    answers = stage.of(Answered)
    assert [(entry.code, entry.reason, entry.executed, entry.fault) for entry in answers] == [(code, reason, False, 0)] * 7
    assert {entry.outcome for entry in answers} == {"fail" if retry_after else "unknown"}
    assert [(entry.code, entry.reason, entry.fault) for entry in stage.of(Refused)] == [(code, reason, 0)]


async def test_a_request_that_is_answered_by_a_reset_is_not_executed(stage: ProxyStage) -> None:
    requests = await all_requests(stage)
    before = await everything(stage)
    await stage.play(Reject(resource="*", code=0, times=None))
    for method, path, content, headers in requests:
        assert await is_reset((await stage.connection()).ask(method, path, content, **headers))
    assert await stage.healed() == ["0 fired"]
    assert await everything(stage) == before
    await until(lambda: len(stage.of(Answered)) >= 7)  # a client sees its reset before that is recorded
    answers = stage.of(Answered)
    assert [(entry.outcome, entry.code, entry.executed, entry.fault) for entry in answers] == [("unknown", 0, False, 0)] * 7
    assert [(entry.code, entry.fault) for entry in stage.of(Refused)] == [(0, 0)]


async def test_retry_after_is_what_the_plan_says(stage: ProxyStage) -> None:
    await stage.play(Reject(resource="configmaps", verb="create", code=503, retry_after=3))
    client = await stage.connection()
    assert (await client.call("POST", stage.path, named("a")))[0] == 503
    assert client.fields["retry-after"] == "3"
    assert [entry.outcome for entry in await stage.answered()] == ["fail"]  # Retry-After says that it was not executed
    assert (await client.call("POST", stage.path, named("a")))[0] == 201


async def test_requests_are_selected_by_verb_number_name_and_subresource(stage: ProxyStage) -> None:
    deployments = deployments_of(stage)
    client = await stage.connection()
    await stage.play(
        Reject(resource="configmaps", verb="create", nth=2, times=2),
        Reject(resource="configmaps", verb="write", name="chosen", code=503),
        Reject(resource=DEPLOYMENTS, subresource="status", code=504, times=None),
        Reject(resource="configmaps", verb="delete", nth=9),
    )
    statuses = [(await client.call("POST", stage.path, named(f"number-{n}")))[0] for n in range(5)]
    assert statuses == [201, 500, 500, 201, 201]
    assert (await client.call("POST", f"{stage.path}?dryRun=All", named("dry")))[0] == 201
    await stage.create("chosen")
    for name, expected in (("number-0", [200, 200]), ("chosen", [503, 200])):
        assert [(await client.call("PATCH", f"{stage.path}/{name}", {}, Content_Type=MERGE))[0] for _ in range(2)] == expected
    _, made = await client.call("POST", deployments, named("sample", spec=DEPLOYMENT_SPEC))
    assert (await client.call("PATCH", f"{deployments}/sample", {}, Content_Type=MERGE))[0] == 200
    assert (await client.call("PUT", f"{deployments}/sample/status", made))[0] == 504
    assert await stage.healed() == ["0 fired", "1 fired", "2 fired", "3 missed"]


# --- late ----------------------------------------------------------------------------------------------------------------------


async def test_the_watch_event_overtakes_a_slow_answer(stage: ProxyStage) -> None:
    """One answer waits until the faults close, the next one until its time is over."""
    watch = await stage.watch()
    await stage.play(*(SlowAnswer(resource="configmaps", verb="create", by_seconds=seconds) for seconds in (3600, 0.4)))
    client, other = await stage.connection(), await stage.connection()
    asking = stage.group.create_task(client.call("POST", stage.path, named("sample")))
    await watch.until(1)
    await until(lambda: stage.of(FaultFired) != [])
    assert not asking.done()
    assert (await other.call("POST", stage.path, named("other")))[0] == 201
    assert not asking.done()
    assert await stage.healed() == ["0 fired", "1 fired"]
    assert (await asking)[0] == 201
    await stage.all_recorded()
    kinds = [type(entry) for entry in stage.entries if isinstance(entry, Asked | Delivered | Answered)]
    assert kinds[:2] == [Asked, Delivered]
    assert [entry.name for entry in stage.of(Answered)] == ["other", "sample"]
    assert stage.of(Answered)[0].at - stage.of(Asked)[1].at >= 0.4


async def test_an_answer_is_older_than_what_the_watch_has_shown(stage: ProxyStage) -> None:
    await stage.create("sample", data={"a": "b"})
    watch, client = await stage.watch(), await stage.connection()
    _, found = await client.call("GET", f"{stage.path}/sample")
    await stage.play(SlowAnswer(resource="configmaps", verb="update", by_seconds=3600, outdated=True))
    asking = stage.group.create_task(client.call("PUT", f"{stage.path}/sample", found | {"data": {"mine": "1"}}))
    await watch.until(2)  # its own update, and another user's
    assert not asking.done()
    assert await stage.healed() == ["0 fired"]
    status, answer = await asking
    assert (status, answer["data"]) == (200, {"mine": "1"})
    truth = await stage.stored("sample")
    assert truth is not None
    assert int(revision_of(truth)) > int(revision_of(answer))
    assert truth["data"] == answer["data"], "the next writer has changed nothing"
    (competed,) = stage.of(Competed)
    assert (competed.executed, competed.revision) == (True, int(revision_of(truth)))
    assert (await client.call("PUT", f"{stage.path}/sample", answer | {"data": {"mine": "2"}}))[0] == 409


async def test_a_slow_request_is_executed_later(stage: ProxyStage) -> None:
    watch = await stage.watch()
    await stage.play(SlowAnswer(resource="configmaps", verb="create", by_seconds=0.4, moment="before"))
    client = await stage.connection()
    assert (await client.call("POST", stage.path, named("sample")))[0] == 201
    await watch.until(1)
    assert await stage.healed() == ["0 fired"]
    assert stage.of(Delivered)[0].at - stage.of(Asked)[0].at >= 0.4


async def test_a_slow_answer_leaves_when_the_faults_close(stage: ProxyStage) -> None:
    await stage.play(SlowAnswer(resource="configmaps", by_seconds=3600, times=None))
    client = await stage.connection()
    asking = stage.group.create_task(client.call("POST", stage.path, named("sample")))
    await until(lambda: stage.of(FaultFired) != [])
    assert await stage.stored("sample") is not None
    assert not asking.done()
    assert await stage.healed() == ["0 fired"]
    assert (await asking)[0] == 201


# --- the moment of a kill: the proxy's part ------------------------------------------------------------------------------------


async def test_a_write_that_was_stopped_before_it_was_sent_is_never_executed(stage: ProxyStage) -> None:
    await stage.play(Kill(resource="configmaps", moment="before", nth=2))
    client = await stage.connection()
    await client.call("POST", stage.path, named("first"))
    await client.send("POST", stage.path, named("second"))
    await until(lambda: len(stage.of(Stalled)) == 1)
    client.abort()  # as the kernel does for a killed process
    await until(lambda: len(stage.of(Answered)) == 2)
    assert await stage.stored("second") is None
    assert (await (await stage.connection()).call("POST", stage.path, named("third")))[0] == 201
    assert await stage.healed() == ["0 fired"]
    answer = stage.of(Answered)[1]
    assert (answer.request, answer.outcome, answer.executed, answer.fault) == (stage.of(Stalled)[0].request, "unknown", False, 0)
    assert len(stage.of(Resumed)) == 1


async def test_a_write_whose_client_dies_after_the_commit_was_executed(stage: ProxyStage) -> None:
    await stage.play(Kill(resource="configmaps", moment="after"))
    client = await stage.connection()
    await client.send("POST", stage.path, named("sample"))
    await until(lambda: len(stage.of(Stalled)) == 1)
    truth = await stage.stored("sample")
    assert truth is not None
    client.abort()
    (answer,) = await stage.answered()
    assert (answer.outcome, answer.executed, answer.fault, answer.uid) == ("unknown", True, 0, truth["metadata"]["uid"])
    assert await stage.healed() == ["0 fired"]
    assert stage.of(Committed) == []  # the runner records commits, not the proxy


async def test_the_first_of_several_faults_decides_about_a_request(stage: ProxyStage) -> None:
    await stage.play(
        Reject(resource="configmaps", verb="create", nth=2),
        LoseAnswer(resource="configmaps", verb="create"),
        Reject(resource="configmaps", verb="create", code=503, times=None),
    )
    client = await stage.connection()
    assert [(await client.call("POST", stage.path, named("a")))[0] for _ in range(2)] == [503, 500]
    assert await stage.healed() == ["0 fired", "1 missed", "2 fired"]


async def test_many_requests_wait_at_once_without_hindering_others(stage: ProxyStage) -> None:
    await stage.play(SlowAnswer(resource="configmaps", verb="create", by_seconds=3600, times=20))

    async def create(number: int) -> int:
        return (await (await stage.connection()).call("POST", stage.path, named(f"slow-{number}")))[0]

    slow = [stage.group.create_task(create(number)) for number in range(20)]
    other = await stage.connection()
    await until(lambda: len(stage.of(Asked)) == 20 and stage.of(FaultFired) != [])
    assert (await other.call("GET", stage.path))[0] == 200
    assert not any(task.done() for task in slow)
    assert await stage.healed() == ["0 fired"]
    assert await asyncio.gather(*slow) == [201] * 20
