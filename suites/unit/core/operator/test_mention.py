"""Which fields name other objects, in the ways in which people and Kubernetes itself write them."""

from typing import Any

import pytest

from staleproof.core.operator.mention import mentions, mentions_namespace, mentions_object


def obj(kind: str, name: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}} | fields


DATABASE, SETTINGS, CLAIM = obj("Secret", "db"), obj("ConfigMap", "settings"), obj("PersistentVolumeClaim", "disk")


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ({"secretName": "db"}, DATABASE),
        ({"existingSecret": "db"}, DATABASE),
        ({"secretRef": {"name": "db"}}, DATABASE),
        ({"credentialsRef": {"name": "db"}}, DATABASE),
        ({"auth": {"kind": "Secret", "name": "db"}}, DATABASE),
        ({"secrets": ["a", "db"]}, DATABASE),
        ({"imagePullSecrets": [{"name": "db"}]}, DATABASE),
        ({"containers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "db", "key": "k"}}}]}]}, DATABASE),
        ({"volumes": [{"name": "v", "projected": {"sources": [{"configMap": {"name": "settings"}}]}}]}, SETTINGS),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "disk"}}]}, CLAIM),
        ({"issuerRef": {"name": "ca", "kind": "ClusterIssuer"}}, obj("ClusterIssuer", "ca")),
        ({"issuerRef": {"name": "ca"}}, obj("Issuer", "ca")),
        ({"serviceAccountName": "runner"}, obj("ServiceAccount", "runner")),
    ],
)
def test_a_name_is_found_where_a_field_says_what_it_is_of(spec: dict[str, Any], meant: dict[str, Any]) -> None:
    assert mentions_object(obj("Widget", "w", spec=spec), meant)


@pytest.mark.parametrize(
    "spec",
    [
        {"database": "db"},
        {"secretName": "other"},
        {"auth": {"name": "db"}},
        {"auth": {"kind": "ConfigMap", "name": "db"}},
        {"secretRef": {"kind": "Vault", "name": "db"}},
        {"containers": [{"name": "db"}]},
        {"selector": {"app": "db"}},
    ],
)
def test_the_same_word_need_not_be_a_name(spec: dict[str, Any]) -> None:
    assert not mentions_object(obj("Widget", "w", spec=spec), DATABASE)


def test_metadata_and_status_mention_nothing() -> None:
    labelled = obj("Widget", "w", status={"secretName": "db"})
    labelled["metadata"]["labels"] = {"secret": "db"}
    assert list(mentions(labelled)) == []


def test_what_stands_outside_of_a_spec_is_read() -> None:
    binding = obj("RoleBinding", "b", roleRef={"kind": "Role", "name": "r"}, subjects=[{"kind": "ServiceAccount", "name": "s"}])
    assert mentions_object(binding, obj("Role", "r"))
    assert mentions_object(binding, obj("ServiceAccount", "s"))
    assert [each.path for each in mentions(binding)] == ["roleRef.name", "subjects[].name"]


def test_namespaces_are_found_below_fields_that_say_so() -> None:
    spec = {"sources": [{"name": "db", "namespace": "demo"}], "targetNamespace": "other", "label": "third"}
    assert [mentions_namespace(spec, each) for each in ("demo", "other", "third")] == [True, True, False]
