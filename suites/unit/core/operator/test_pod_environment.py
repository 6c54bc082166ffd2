"""Variables as the kubelet would set them."""

from typing import Any

import pytest

from staleproof.core.operator.pod_environment import PodEnvironment, expanded
from staleproof.core.plan.manifest import Manifest

MANIFESTS: list[Manifest] = [
    {"kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns"}, "data": {"level": "info", "n": 3}},
    {"kind": "ConfigMap", "metadata": {"name": "far", "namespace": "other"}, "data": {"level": "far"}},
    {"kind": "Secret", "metadata": {"name": "s", "namespace": "ns"}, "data": {"key": "aHVudGVyMg=="}, "stringData": {"plain": "x"}},
]
WORKLOAD: Manifest = {
    "metadata": {"name": "controller"},
    "spec": {"template": {"metadata": {"labels": {"app": "widget"}}}},
}


def variables(*env: dict[str, Any], **container: Any) -> dict[str, dict[str, str]]:  # noqa: ANN401  # whatever YAML holds
    return PodEnvironment(MANIFESTS, "ns", WORKLOAD, "robot").of({"env": list(env), **container})


def origin(kind: str, **reference: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"name": "V", "valueFrom": {kind: reference}}


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"name": "V", "value": "x"}, {"env": {"V": "x"}}),
        ({"name": "V"}, {"env": {"V": ""}}),
        (origin("fieldRef", fieldPath="metadata.namespace"), {"env": {"V": "ns"}}),
        (origin("fieldRef", fieldPath="metadata.name"), {"env": {"V": "controller-0"}}),
        (origin("fieldRef", fieldPath="metadata.uid"), {"env": {"V": "c854be61-1a2a-51b0-8508-f2cef1f15977"}}),
        (origin("fieldRef", fieldPath="metadata.labels['app']"), {"env": {"V": "widget"}}),
        (origin("fieldRef", fieldPath="metadata.annotations['olm.targetNamespaces']"), {"env": {"V": ""}}),
        (origin("fieldRef", fieldPath="metadata.annotations"), {"unset": {"V": "the pod's metadata.annotations"}}),
        (origin("fieldRef", fieldPath="spec.serviceAccountName"), {"env": {"V": "robot"}}),
        (origin("fieldRef", fieldPath="spec.nodeName"), {"unset": {"V": "the pod's spec.nodeName"}}),
        (origin("configMapKeyRef", name="c", key="level"), {"env": {"V": "info"}}),
        (origin("configMapKeyRef", name="c", key="n"), {"env": {"V": "3"}}),
        (origin("configMapKeyRef", name="far", key="level"), {"unset": {"V": "key level of ConfigMap/far"}}),
        (origin("configMapKeyRef", name="c", key="no", optional=True), {}),
        (origin("secretKeyRef", name="s", key="key"), {"secret_env": {"V": "hunter2"}}),
        (origin("secretKeyRef", name="s", key="plain"), {"secret_env": {"V": "x"}}),
        (origin("secretKeyRef", name="s", key="no"), {"unset": {"V": "key no of Secret/s"}}),
        (origin("resourceFieldRef", resource="limits.cpu"), {}),
    ],
)
def test_where_a_value_comes_from(env: dict[str, Any], expected: dict[str, dict[str, str]]) -> None:
    assert variables(env) == {"env": {}, "secret_env": {}, "unset": {}} | expected


def test_whole_maps_come_first_and_later_ones_may_refer_to_earlier_ones() -> None:
    found = variables(
        {"name": "URL", "value": "$(P_level)/$(key)/$(UNKNOWN)"},
        envFrom=[{"configMapRef": {"name": "c"}, "prefix": "P_"}, {"secretRef": {"name": "s"}}, {"configMapRef": {"name": "gone"}}],
    )
    assert found["env"] == {"P_level": "info", "P_n": "3", "URL": "info/hunter2/$(UNKNOWN)"}
    assert found["secret_env"] == {"key": "hunter2", "plain": "x"}


@pytest.mark.parametrize(
    ("text", "expected"), [("$(A)-$(B)", "1-$(B)"), ("$$(A)", "$(A)"), ("$A ${A} $", "$A ${A} $"), ("$$$(A)", "$1")]
)
def test_references_are_replaced_as_the_kubelet_does(text: str, expected: str) -> None:
    assert expanded(text, {"A": "1"}) == expected
