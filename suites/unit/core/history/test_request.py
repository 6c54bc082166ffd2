"""What a request line asks for, and what the Accept header becomes: tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staleproof.core.history.request import ApiRequest, flag, is_long_running, json_only, not_allowed, parse

from ..cluster import request

APPS = "/apis/apps/v1"
WIDGETS = "/apis/staleproof.dev/v1"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # line, (verb, resource, namespace, name, subresource)
        ("GET /api/v1/pods", ("list", "pods", "", "", "")),
        ("GET /api/v1/namespaces/a/pods", ("list", "pods", "a", "", "")),
        ("GET /api/v1/namespaces/a/pods/", ("list", "pods", "a", "", "")),
        ("POST /api/v1/namespaces/a/pods", ("create", "pods", "a", "", "")),
        ("DELETE /api/v1/namespaces/a/pods", ("deletecollection", "pods", "a", "", "")),
        ("GET /api/v1/namespaces/a/pods/x", ("get", "pods", "a", "x", "")),
        ("PUT /api/v1/namespaces/a/pods/x", ("update", "pods", "a", "x", "")),
        ("PATCH /api/v1/namespaces/a/pods/x", ("patch", "pods", "a", "x", "")),
        ("DELETE /api/v1/namespaces/a/pods/x", ("delete", "pods", "a", "x", "")),
        ("OPTIONS /api/v1/namespaces/a/pods/x", ("other", "pods", "a", "x", "")),
        ("PUT /api/v1/namespaces/a/pods", ("other", "pods", "a", "", "")),
        # groups
        (f"GET {APPS}/replicasets", ("list", "replicasets.apps", "", "", "")),
        (f"GET {APPS}/namespaces/a/replicasets/x", ("get", "replicasets.apps", "a", "x", "")),
        (f"POST {WIDGETS}/namespaces/a/widgets", ("create", "widgets.staleproof.dev", "a", "", "")),
        ("GET /apis/rbac.authorization.k8s.io/v1/clusterroles/x", ("get", "clusterroles.rbac.authorization.k8s.io", "", "x", "")),
        # subresources
        (f"PUT {WIDGETS}/namespaces/a/widgets/x/status", ("update", "widgets.staleproof.dev", "a", "x", "status")),
        (f"PATCH {APPS}/namespaces/a/replicasets/x/scale", ("patch", "replicasets.apps", "a", "x", "scale")),
        ("POST /api/v1/namespaces/a/pods/x/binding", ("create", "pods", "a", "x", "binding")),
        ("POST /api/v1/namespaces/a/serviceaccounts/x/token", ("create", "serviceaccounts", "a", "x", "token")),
        ("GET /api/v1/namespaces/a/services/x/proxy/metrics/all", ("get", "services", "a", "x", "proxy")),
        # namespaces are a resource, too
        ("GET /api/v1/namespaces", ("list", "namespaces", "", "", "")),
        ("GET /api/v1/namespaces/x", ("get", "namespaces", "", "x", "")),
        ("PATCH /api/v1/namespaces/x/status", ("patch", "namespaces", "", "x", "status")),
        ("PUT /api/v1/namespaces/x/finalize", ("update", "namespaces", "", "x", "finalize")),
        # watches
        ("GET /api/v1/pods?watch=1", ("watch", "pods", "", "", "")),
        ("GET /api/v1/namespaces?watch=1", ("watch", "namespaces", "", "", "")),
        (f"GET {APPS}/namespaces/a/replicasets?watch=true&resourceVersion=7", ("watch", "replicasets.apps", "a", "", "")),
        ("GET /api/v1/namespaces/a/pods?watch=0", ("list", "pods", "a", "", "")),
        ("GET /api/v1/namespaces/a/pods?watch=0&watch=1", ("list", "pods", "a", "", "")),
        ("GET /api/v1/namespaces/a/pods/x?watch=1", ("get", "pods", "a", "x", "")),
        ("POST /api/v1/namespaces/a/pods?watch=1", ("create", "pods", "a", "", "")),
        ("GET /api/v1/watch/pods", ("watch", "pods", "", "", "")),
        ("GET /api/v1/watch/namespaces/a/pods", ("watch", "pods", "a", "", "")),
        ("GET /api/v1/watch/namespaces/a/pods/x", ("watch", "pods", "a", "x", "")),
        (f"GET {APPS}/watch/namespaces/a/replicasets", ("watch", "replicasets.apps", "a", "", "")),
        ("GET /api/v1/namespaces/watch/pods", ("list", "pods", "watch", "", "")),
        ("GET /api/v1/namespaces/watch/pods?watch", ("watch", "pods", "watch", "", "")),
        ("GET /api/v1/watch/namespaces/watch/pods", ("watch", "pods", "watch", "", "")),
        # clients may escape what need not be
        (
            "GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
            ("get", "clusterroles.rbac.authorization.k8s.io", "", "system:node", ""),
        ),
    ],
)
def test_parse(line: str, expected: tuple[str, str, str, str, str]) -> None:
    parsed = request(line)
    assert (parsed.verb, parsed.resource, parsed.namespace, parsed.name, parsed.subresource) == expected


NO_RESOURCE = """
    / /api /api/ /api/v1 /api/v1/ /api/v1/watch /api/v1/watch/ /apis /apis/apps /apis/apps/v1 /apis/apps/v1/
    /healthz /livez?verbose /version /metrics /openapi/v2 /openapi/v3/api/v1 /logs/api/v1/pods
"""


@pytest.mark.parametrize("path", ["", *NO_RESOURCE.split()])
def test_paths_that_are_not_about_a_resource(path: str) -> None:
    assert parse("GET", path) is None


NO = "limit=5 watch=0 watch=false watch=False watch=FALSE"
YES = "watch watch= watch=1 watch=true watch=no watch=00 limit=5&watch=true"


@pytest.mark.parametrize("query", ["", *NO.split(), *YES.split()])
def test_an_absent_parameter_0_and_false_mean_no_and_everything_else_yes(query: str) -> None:
    assert get(query).is_watch is (query in YES.split())


def get(query: str) -> ApiRequest:
    return request(f"GET /api/v1/namespaces/a/pods?{query}")


@pytest.mark.parametrize(
    ("query", "watch_list", "start"),
    [
        ("watch=1", False, None),
        ("watch=1&resourceVersion=", False, None),
        ("watch=1&resourceVersion=0", False, None),
        ("watch=1&resourceVersion=12", False, 12),
        ("watch=1&sendInitialEvents=false&resourceVersion=12", False, 12),
        ("watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", True, None),
        ("watch=1&sendInitialEvents=true&resourceVersion=12&resourceVersionMatch=NotOlderThan", True, None),
        ("sendInitialEvents=true", False, None),  # a LIST
    ],
)
def test_where_a_watch_starts(query: str, start: int | None, *, watch_list: bool) -> None:
    parsed = get(query)
    assert (parsed.is_watch_list, parsed.start) == (watch_list, start)


@pytest.mark.parametrize(
    ("query", "selector"),
    [
        ("", ""),
        ("labelSelector=", ""),
        ("labelSelector=app%3Dx", "app=x"),
        ("fieldSelector=metadata.name%3Dx", "metadata.name=x"),
        ("fieldSelector=spec.nodeName%3Dn&labelSelector=app%3Dx", "app=x&spec.nodeName=n"),
        ("shardSelector=0/2", "0/2"),
    ],
)
def test_the_selector_is_one_string(query: str, selector: str) -> None:
    assert get(query).selector == selector


@pytest.mark.parametrize(
    ("target", "selector"),
    [
        ("/api/v1/watch/namespaces/a/pods/x", "metadata.name=x"),
        ("/api/v1/watch/namespaces/a/pods/x?fieldSelector=", "metadata.name=x"),
        ("/api/v1/watch/namespaces/a/pods/x?fieldSelector=metadata.name%3Dx&labelSelector=b", "b&metadata.name=x"),
        ("/api/v1/watch/nodes/x", "metadata.name=x"),
        ("/api/v1/watch/namespaces/a/pods", ""),
        ("/api/v1/namespaces/a/pods/x", ""),
    ],
)
def test_a_watch_of_one_name_selects_it(target: str, selector: str) -> None:
    found = parse("GET", target)
    assert found is not None
    assert found.selector == selector


@pytest.mark.parametrize("verb", ["get", "list", "watch", "other", "create", "update", "patch", "delete", "deletecollection"])
def test_which_verbs_write(verb: str) -> None:
    assert ApiRequest(verb, "pods", "a", "", "", {}).is_write is (verb not in ("get", "list", "watch", "other"))


LONG = "pods/x/exec?command=ls pods/x/attach pods/x/portforward pods/x/log?follow=true pods/x/proxy services/x/proxy/a/b"


@pytest.mark.parametrize("path", [*LONG.split(), "pods/x/status", "pods/log"])
def test_long_running(path: str) -> None:
    assert is_long_running(parse("GET", f"/api/v1/namespaces/a/{path}")) is (path in LONG.split())
    assert not is_long_running(parse("GET", "/healthz"))


PROTOBUF, CBOR, YAML = "application/vnd.kubernetes.protobuf", "application/cbor", "application/yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
OPENAPI = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
PARTIAL = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        *((accept, accept) for accept in ("", "*/*", "application/json", TABLE, OPENAPI)),
        (PROTOBUF, "application/json"),
        (f"{PROTOBUF},application/json", "application/json"),
        (f"{PROTOBUF}, */*", "application/json,*/*"),
        (f"{PROTOBUF};stream=watch", "application/json;stream=watch"),
        (f"{PROTOBUF}{PARTIAL},application/json{PARTIAL}", f"application/json{PARTIAL}"),
        (f"{PROTOBUF}{PARTIAL},{PROTOBUF},application/json", f"application/json{PARTIAL},application/json"),
        ("application/cbor, application/json;q=0.9", "application/json,application/json;q=0.9"),
        (f"{CBOR}{PARTIAL},{PROTOBUF},application/json", f"application/json{PARTIAL},application/json"),
        ("application/cbor-seq", "application/cbor-seq"),
    ],
)
@pytest.mark.parametrize("watch", [False, True])
def test_json_only(accept: str, expected: str, watch: bool) -> None:  # noqa: FBT001  # a parameter
    assert json_only(accept, watch=watch) == expected


def test_yaml_is_no_encoding_of_a_watch() -> None:
    accept = f"{YAML}, application/json;q=0.5"
    assert json_only(accept) == "application/json,application/json;q=0.5"
    assert json_only(accept, watch=True) == "application/yaml,application/json;q=0.5"


@given(st.lists(st.sampled_from([PROTOBUF, f"{PROTOBUF}{PARTIAL}", CBOR, f"{CBOR};q=0.5", "application/json", "*/*", YAML])))
def test_json_only_leaves_nothing_else_and_needs_no_second_pass(clauses: list[str]) -> None:
    accept = json_only(", ".join(clauses))
    assert not any(other in accept for other in (PROTOBUF, CBOR, YAML))
    assert json_only(accept) == accept


@given(st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]), st.text("/abc?=&watch%namespaces.", max_size=60))
def test_any_path_has_an_answer(method: str, tail: str) -> None:
    found = parse(method, f"/api/{tail}")
    assert found is None or found.resource


def test_flag_is_about_one_parameter() -> None:
    assert flag({"a": ""}, "a")
    assert not flag({"a": ""}, "b")


def test_what_was_not_allowed_is_reported_the_commonest_first() -> None:
    assert not_allowed({"list pods": 1, "get nodes": 2, "list secrets": 14}) == [
        "asked 14 times to list secrets: not allowed by its Role",
        "asked 2 times to get nodes: not allowed by its Role",
        "asked 1 time to list pods: not allowed by its Role",
    ]
