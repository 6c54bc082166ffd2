"""What clients ask for and what they get: protocols, encodings, and documents other than the object itself."""

import base64

import pytest
import yaml

from staleproof.core.history.entry import Answered, Delivered, Listed, Refused

from .proxy_client import WATCH_LIST
from .proxy_protobuf import MEDIA_TYPE, config_map, document, field
from .proxy_stage import ProxyStage, named
from .stage import revision_of, text

PREFERS_PROTOBUF = f"{MEDIA_TYPE},application/json"  # a typed client-go client
COMPRESSED_FROM = 128 << 10  # kube-apiserver's own threshold
EVERY_BYTE = bytes(range(256)) * 16


@pytest.mark.parametrize(
    ("offered", "agreed"), [(("h2",), None), (("h2", "http/1.1"), "http/1.1"), (("http/1.1",), "http/1.1"), ((), None)]
)
async def test_a_client_that_offers_http_2_is_served_by_http_1(
    stage: ProxyStage, offered: tuple[str, ...], agreed: str | None
) -> None:
    client = await stage.connection(alpn=offered)
    assert client.protocol == agreed
    assert (await client.call("GET", stage.path))[0] == 200
    watch = await stage.watch(on=client)
    await stage.create("sample")
    await watch.until(1)


@pytest.mark.parametrize(
    "accept",
    [
        PREFERS_PROTOBUF,
        f"{MEDIA_TYPE}, */*",
        f"{MEDIA_TYPE};stream=watch",
        "*/*",
        "application/json",
        "application/cbor, application/json",
    ],
)
async def test_whatever_a_client_accepts_it_gets_json(stage: ProxyStage, accept: str) -> None:
    await stage.create("sample")
    client = await stage.connection()
    for path, kind in ((f"{stage.path}/sample", "ConfigMap"), (stage.path, "ConfigMapList"), (f"{stage.path}/none", "Status")):
        _, found = await client.call("GET", path, Accept=accept)
        assert (found["kind"], client.fields["content-type"]) == (kind, "application/json")
    watch = await stage.watch_at(f"{stage.path}?watch=1&resourceVersion={await stage.revision()}", Accept=accept)
    assert watch.connection.fields["content-type"] == "application/json"
    _, found = await client.call("POST", stage.path, named("other"), Accept=accept)
    assert (found["kind"], client.fields["content-type"]) == ("ConfigMap", "application/json")
    await watch.until(1)
    assert watch.events == [("ADDED", "other")]


@pytest.mark.parametrize("accept", ["application/yaml", "application/yaml, application/json"])
async def test_a_client_of_yaml_reads_json_and_is_refused_a_watch_as_by_the_api_server(stage: ProxyStage, accept: str) -> None:
    """JSON is YAML. The API server has no stream of YAML, and looks no further than the first encoding that it knows."""
    await stage.create("sample")
    for direct in (True, False):
        client = await stage.connection(direct=direct)
        assert await client.ask("GET", f"{stage.path}/sample", Accept=accept) == 200
        assert yaml.safe_load(await client.body())["metadata"]["name"] == "sample"
        assert await client.ask("GET", f"{stage.path}?watch=1", Accept=accept) == 406
        await client.body()
    await stage.all_recorded()
    assert [entry.code for entry in stage.of(Refused)] == [406]
    assert [entry.name for entry in stage.of(Answered)] == ["sample"]


@pytest.mark.parametrize("encoding", [MEDIA_TYPE, "application/json"])
@pytest.mark.parametrize(
    ("one", "many"), [("PartialObjectMetadata", "PartialObjectMetadataList"), ("Table", "Table")], ids=["metadata", "table"]
)
async def test_metadata_and_tables_come_as_they_were_asked_for(stage: ProxyStage, encoding: str, one: str, many: str) -> None:
    def accept(kind: str) -> str:
        return f"{encoding};as={kind};g=meta.k8s.io;v=v1,{encoding}"

    await stage.create("sample")
    start = await stage.revision()
    client = await stage.connection()
    assert (await client.call("GET", f"{stage.path}/sample", Accept=accept(one)))[1]["kind"] == one
    assert (await client.call("GET", stage.path, Accept=accept(many)))[1]["kind"] == many
    watch = await stage.watch_at(f"{stage.path}?watch=1&resourceVersion={start}", Accept=accept(one))
    revision = int(revision_of(await stage.create("other")))
    await watch.until(1)
    assert [(frame["type"], frame["object"]["kind"]) for frame in watch.frames] == [("ADDED", one)]
    await stage.all_recorded()
    assert [[item.name for item in entry.items] for entry in stage.of(Listed)] == [["sample"]]  # a Table lists its rows
    assert [entry.revision for entry in stage.of(Delivered)] == [revision]


async def test_a_body_in_protobuf_is_written_as_it_was_sent(stage: ProxyStage) -> None:
    client = await stage.connection()
    headers = {"Content_Type": MEDIA_TYPE, "Accept": PREFERS_PROTOBUF}
    status, made = await client.call("POST", stage.path, config_map("sample", {"bytes": EVERY_BYTE}), **headers)
    assert (status, made["binaryData"]) == (201, {"bytes": base64.b64encode(EVERY_BYTE).decode()})
    changed = config_map("sample", {"bytes": EVERY_BYTE[::-1]})
    assert (await client.call("PUT", f"{stage.path}/sample", changed, **headers))[0] == 200
    stored = await stage.stored("sample")
    assert stored is not None
    assert base64.b64decode(stored["binaryData"]["bytes"]) == EVERY_BYTE[::-1]
    lease = document("coordination.k8s.io/v1", "Lease", field(1, field(1, "leader")) + field(2, field(1, "candidate")))
    path = f"/apis/coordination.k8s.io/v1/namespaces/{stage.namespace}/leases"
    status, made = await client.call("POST", path, lease, **headers)
    assert (status, made["spec"]) == (201, {"holderIdentity": "candidate"})
    await stage.all_recorded()
    assert [(entry.outcome, entry.name) for entry in stage.of(Answered)] == [
        ("ok", "sample"),
        ("ok", "sample"),
        ("ok", "leader"),
    ]


async def test_compressed_answers_are_readable_for_the_client_and_for_us(stage: ProxyStage) -> None:
    revision = int(revision_of(await stage.create("large", data=text(2 * COMPRESSED_FROM))))
    direct, client = await stage.connection(direct=True), await stage.connection()
    for path in (stage.path, f"{stage.path}/large"):
        status, expected = await direct.call("GET", path, Accept_Encoding="gzip")
        assert (status, direct.fields["content-encoding"]) == (200, "gzip")
        _, found = await client.call("GET", path, Accept_Encoding="gzip")
        assert found.get("items", found) == expected.get("items", expected)
    await stage.all_recorded()
    assert [[(item.name, item.revision) for item in entry.items] for entry in stage.of(Listed)] == [[("large", revision)]]
    assert [(entry.name, entry.revision) for entry in stage.of(Answered)] == [("large", revision)]


@pytest.mark.parametrize("query", ["", WATCH_LIST])
async def test_a_watch_is_never_compressed(stage: ProxyStage, query: str) -> None:
    revision = int(revision_of(await stage.create("large", data=text(2 * COMPRESSED_FROM))))
    start = "" if query else str(revision - 1)
    watch = await stage.watch_at(f"{stage.path}?watch=1&resourceVersion={start}{query}", Accept_Encoding="gzip")
    await watch.until(1)
    assert "content-encoding" not in watch.connection.fields
    assert watch.events[0] == ("ADDED", "large")
    await stage.all_recorded()
    assert [entry.revision for entry in stage.of(Delivered)][:1] == [revision]
