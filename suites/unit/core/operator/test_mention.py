"""Which fields name other objects, in the ways in which people and Kubernetes itself write them."""

from typing import Any

import pytest

from staleproof.core.operator.group_kind import GroupKind
from staleproof.core.operator.mention import Means, mentions, mentions_namespace


def obj(kind: str, name: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}} | fields


def means(manifest: dict[str, Any], other: dict[str, Any]) -> Means | None:
    """How surely one mentions the other."""
    name, kind = other["metadata"]["name"], GroupKind.of(other)
    return max((found for each in mentions(manifest) if each.name == name and (found := each.means(kind))), default=None)


def mentions_object(manifest: dict[str, Any], other: dict[str, Any]) -> bool:
    return means(manifest, other) is Means.STATED


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


QUEUE, FLAVOR = "acme.example.com/v1", "flavors.acme.example.com/v1"


def custom(kind: str, name: str, version: str = QUEUE, **fields: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    return obj(kind, name, **fields) | {"apiVersion": version}


@pytest.mark.parametrize(
    ("spec", "meant", "how"),
    [
        ({"queueName": "q"}, custom("LocalQueue", "q"), Means.SUGGESTED),
        ({"resourceGroups": [{"flavors": [{"name": "spot"}]}]}, custom("ResourceFlavor", "spot"), Means.SUGGESTED),
        ({"flavors": ["spot"]}, custom("ResourceFlavor", "spot"), Means.SUGGESTED),
        ({"policies": ["p"]}, custom("BackupPolicy", "p"), Means.SUGGESTED),
        ({"addresses": ["a"]}, custom("IPAddress", "a"), Means.SUGGESTED),
        ({"pool": {"id": "p"}}, custom("IPAddressPool", "p"), Means.SUGGESTED),
        ({"clusterQueue": "q"}, custom("ClusterQueue", "q"), Means.STATED),
        ({"tier": "gold"}, custom("ServiceLevel", "gold"), Means.PERHAPS),
        ({"group": {"name": "spot"}}, custom("ResourceFlavor", "spot"), Means.PERHAPS),
        ({"resourceGroups": [{"name": "spot"}]}, custom("ResourceFlavor", "spot"), None),
        ({"queueRef": {"kind": "RemoteQueue", "name": "q"}}, custom("LocalQueue", "q"), None),
        ({"containers": [{"name": "q"}]}, custom("LocalQueue", "q"), None),
        ({"selector": {"queue": "q"}}, custom("LocalQueue", "q"), None),
        ({"template": {"metadata": {"labels": {"queue": "q"}}}}, custom("LocalQueue", "q"), None),
        ({"queueName": "r"}, custom("LocalQueue", "q"), None),
    ],
)
def test_how_sure_it_is(spec: dict[str, Any], meant: dict[str, Any], how: Means | None) -> None:
    assert means(custom("Batch", "b", spec=spec), meant) is how


@pytest.mark.parametrize(
    ("label", "version", "how"),
    [
        ("acme.example.com/queue-name", QUEUE, Means.SUGGESTED),
        ("acme.example.com/of", FLAVOR, Means.SUGGESTED),
        ("flavors.acme.example.com/of", QUEUE, Means.SUGGESTED),
        ("app.kubernetes.io/instance", QUEUE, None),
        ("queue-name", QUEUE, None),
        ("acme.example.com/queue-name", "v1", None),
    ],
)
def test_labels_and_annotations_of_a_kinds_own_group_may_have_its_name(label: str, version: str, how: Means | None) -> None:
    meant = custom("LocalQueue", "q", version)
    for where in ("labels", "annotations"):
        labelled = obj("Job", "j")
        labelled["metadata"][where] = {label: "q"}
        assert means(labelled, meant) is how
        assert means(obj("Job", "j", spec={"template": {"metadata": {where: {label: "q"}}}}), meant) is how


def test_metadata_and_status_mention_nothing() -> None:
    labelled = obj("Widget", "w", status={"secretName": "db"})
    labelled["metadata"]["labels"] = {"secret": "db"}
    assert list(mentions(labelled)) == []


def test_annotations_of_a_template_are_no_references() -> None:
    template = {"metadata": {"annotations": {"secrets.example.com/secret": "db"}}}
    assert means(obj("Widget", "w", spec={"template": template}), DATABASE) is None


def test_what_stands_outside_of_a_spec_is_read() -> None:
    binding = obj("RoleBinding", "b", roleRef={"kind": "Role", "name": "r"}, subjects=[{"kind": "ServiceAccount", "name": "s"}])
    assert mentions_object(binding, obj("Role", "r"))
    assert mentions_object(binding, obj("ServiceAccount", "s"))
    assert [each.path for each in mentions(binding)] == ["roleRef.name", "subjects[].name"]


def test_namespaces_are_found_below_fields_that_say_so() -> None:
    spec = {"sources": [{"name": "db", "namespace": "demo"}], "targetNamespace": "other", "label": "third"}
    assert [mentions_namespace(spec, each) for each in ("demo", "other", "third")] == [True, True, False]
