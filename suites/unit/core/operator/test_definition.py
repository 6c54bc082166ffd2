"""Which kinds a document brings."""

from typing import Any

import pytest

from staleproof.core.operator.definition import asks_for, defined, is_about, is_asked_for
from staleproof.core.operator.group_kind import GroupKind

SHOP = GroupKind("Shop", "example.com")


def obj(kind: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    return {"apiVersion": "acme.dev/v1", "kind": kind, "metadata": {"name": "x"}} | fields


def brings(spec: dict[str, Any], kind: str = "Blueprint") -> bool:
    return is_asked_for(SHOP, asks_for(obj(kind, spec=spec)))


@pytest.mark.parametrize(
    "spec",
    [
        {"group": "example.com", "names": {"kind": "Shop", "plural": "shops"}},
        {"claimNames": {"kind": "Shop", "plural": "shops"}},
        {"crd": {"spec": {"names": {"kind": "Shop"}}}},
        {"schema": {"apiVersion": "v1alpha1", "kind": "Shop", "spec": {"name": "string"}}},
        {"schema": {"apiVersion": "example.com/v1", "kind": "Shop"}},
        {"kinds": [{"group": "example.com", "kind": "Shop"}]},
    ],
)
def test_what_names_a_kind_and_no_object_of_it_may_ask_for_it(spec: dict[str, Any]) -> None:
    assert brings(spec)


@pytest.mark.parametrize(
    "spec",
    [
        {"names": {"kind": "Store"}},
        {"shop": {"kind": "Shop", "name": "main"}},
        {"resources": [{"template": {"kind": "Shop", "metadata": {"name": "main"}}}]},
        {"resources": [{"kind": "Shop", "metadata": {"generateName": "main-"}}]},
        {"compositeTypeRef": {"apiVersion": "example.com/v1", "kind": "Shop"}},
        {"schema": {"apiVersion": "other.com/v1", "kind": "Shop"}},
        {"kinds": [{"group": "other.com", "kind": "Shop"}]},
        {"kind": 7},
    ],
)
def test_what_names_an_object_or_another_kind_does_not(spec: dict[str, Any]) -> None:
    assert not brings(spec)


def test_what_refers_to_a_kind_is_about_it() -> None:
    composition = obj("Composition", spec={"compositeTypeRef": {"apiVersion": "example.com/v1", "kind": "Shop"}})
    assert not asks_for(composition)
    assert is_about(composition) == {SHOP}
    assert is_about(obj("Blueprint", spec={"names": {"kind": "Shop"}})) == {GroupKind("Shop")}
    assert is_about(obj("Claim", spec={"shopRef": {"kind": "Shop", "name": "main"}})) == frozenset()


def test_nothing_asks_for_its_own_kind_and_a_definition_is_no_request() -> None:
    names = {"names": {"kind": "Shop"}, "group": "example.com"}
    assert not brings(names, "Shop")
    assert not brings(names, "CustomResourceDefinition")
    assert defined(obj("CustomResourceDefinition", spec=names)) == SHOP
    assert defined(obj("CustomResourceDefinition")) is None


@pytest.mark.parametrize("group", ["", "apps", "networking.k8s.io"])
def test_what_kubernetes_has_is_not_asked_for(group: str) -> None:
    wanted = asks_for(obj("Blueprint", spec={"names": {"kind": "Shop"}}))
    assert not is_asked_for(GroupKind("Shop", group), wanted)
    assert is_asked_for(GroupKind("Shop", "kueue.x-k8s.io"), wanted)
