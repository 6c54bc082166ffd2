"""Which groups are the project's own, as PROJECT, sources in several languages, or Roles tell."""

from typing import Any

import pytest

from staleproof.assess.learn.own_groups import own_groups, owned_in

MINE, THEIRS = "shop.example.com", "cert-manager.io"
BOTH = {MINE, THEIRS}


def role(*resources: str, group: str = MINE, verbs: tuple[str, ...] = ("patch",)) -> dict[str, Any]:
    return {"kind": "ClusterRole", "rules": [{"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}]}


def found(*sources: str, project: dict[str, Any] | None = None, roles: tuple[dict[str, Any], ...] = ()) -> set[str] | None:
    groups = own_groups(BOTH, project or {}, sources, roles)
    return None if groups is None else set(groups)


@pytest.mark.parametrize(
    "source",
    [
        "// +groupName=shop.example.com\npackage v1",
        'var GroupVersion = schema.GroupVersion{Group: "shop.example.com", Version: "v1"}',
        'const GroupName = "shop.example.com"',
        '@Group("shop.example.com")\npublic class Web {}',
        '#[derive(CustomResource)]\n#[kube(\n  group = "shop.example.com", version = "v1")]',
        "@kopf.on.create('shop.example.com', 'v1', 'webs')",
        "@kopf.on.update('webs.shop.example.com')",
        "@kopf.on.event('shop.example.com/v1', 'webs')",
        '[KubernetesEntity(Group = "shop.example.com", ApiVersion = "v1")]',
    ],
)
def test_a_source_that_defines_the_group(source: str) -> None:
    assert found("package main", source) == {MINE}


@pytest.mark.parametrize(
    "source",
    [
        "//+kubebuilder:rbac:groups=cert-manager.io,resources=issuers,verbs=get",
        'issuer := schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Issuer"}',
        "// +groupName=other.example.com",
        "@kopf.on.create('my-cert-manager.io', 'v1', 'webs')",
    ],
)
def test_a_source_that_only_mentions_a_group_tells_nothing(source: str) -> None:
    assert found(source) is None


def test_kubebuilders_file_counts_most() -> None:
    api = {"crdVersion": "v1"}
    resources = [
        {"api": api, "group": "shop", "domain": "example.com", "kind": "Web"},
        {"api": api, "group": "cert-manager", "domain": "io", "kind": "Issuer", "external": True},
        {"group": "cert-manager", "domain": "io", "kind": "Certificate"},
    ]
    project = {"domain": "example.com", "resources": resources}
    assert found("// +groupName=cert-manager.io", project=project) == {MINE}
    assert found("// +groupName=cert-manager.io", project={"resources": "none"}) == {THEIRS}


def test_only_a_controller_that_reconciles_objects_writes_their_status() -> None:
    assert found(roles=(role("webs/status"), role("issuers", group=THEIRS))) == {MINE}
    assert found(roles=(role("webs/finalizers"),)) == {MINE}
    assert found(roles=(role("webs/status", verbs=("get",)), role("webs"))) is None
    assert list(owned_in({"rules": None})) == list(owned_in({"rules": ["odd"]})) == []


def test_one_group_is_no_question_and_no_source_is_read() -> None:
    def never() -> Any:  # noqa: ANN401
        raise AssertionError
        yield

    assert own_groups({MINE}, {}, never(), ()) == frozenset({MINE})
