"""Which webhooks are the controller's, where it serves them, and how the API server is led there."""

import base64
from typing import Any

import pytest

from staleproof.core.operator.webhooks import led_to, webhooks_of, without_admission
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import WebhookServer

TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"app": "widget", "tier": "x"}}, "spec": {}}
CONTAINER: dict[str, Any] = {"ports": [{"name": "hooks", "containerPort": 9999}, {"containerPort": 1}]}


def config(service: str = "hooks", namespace: str = "ns", **more: Any) -> dict[str, Any]:  # noqa: ANN401  # whatever YAML holds
    return {"service": {"name": service, "namespace": namespace, **more}}


def admission(*configs: dict[str, Any], kind: str = "ValidatingWebhookConfiguration") -> Manifest:
    hooks = [{"name": f"h{number}.example.com", "clientConfig": each} for number, each in enumerate(configs)]
    return {"kind": kind, "metadata": {"name": "v"}, "webhooks": hooks}


def service(selector: dict[str, str], *ports: dict[str, Any], name: str = "hooks") -> Manifest:
    return {"kind": "Service", "metadata": {"name": name, "namespace": "ns"}, "spec": {"selector": selector, "ports": list(ports)}}


def crd(client_config: dict[str, Any] | None) -> Manifest:
    conversion = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client_config}}
    spec = {"group": "example.com"} | ({"conversion": conversion} if client_config else {})
    return {"kind": "CustomResourceDefinition", "metadata": {"name": "d"}, "spec": spec}


def server(*manifests: Manifest, template: dict[str, Any] | None = None, mounts: Any = ()) -> WebhookServer | None:  # noqa: ANN401
    return webhooks_of(manifests, template or TEMPLATE, "ns", {**CONTAINER, "volumeMounts": mounts})[0]


def kept(*manifests: Manifest) -> list[str]:
    """The webhooks that are left."""
    found = webhooks_of(manifests, TEMPLATE, "ns", CONTAINER)[1]
    return [hook["name"] for manifest in found for hook in manifest.get("webhooks", ())]


@pytest.mark.parametrize(
    ("manifests", "port"),
    [
        ([admission(config())], 9443),
        ([crd(config())], 9443),
        ([admission(config()), service({"app": "widget"}, {"port": 443, "targetPort": 9876})], 9876),
        ([admission(config()), service({"app": "widget"}, {"port": 443, "targetPort": "hooks"})], 9999),
        ([admission(config()), service({"app": "widget"}, {"port": 443})], 443),
        ([admission(config(port=8000)), service({"app": "widget"}, {"port": 443}, {"port": 8000, "targetPort": 1})], 1),
    ],
)
def test_where_it_serves_them(manifests: list[Manifest], port: int) -> None:
    found = server(*manifests)
    assert found is not None
    assert (found.services, found.port) == (("ns/hooks",), port)


@pytest.mark.parametrize(
    "manifests",
    [
        [],
        [crd(None)],
        [admission(config(namespace="other"))],
        [admission(config()), service({"app": "gadget"})],
        [admission({"url": "https://x"})],
    ],
    ids=["none", "no conversion", "of another namespace", "of another's pods", "at an address of its own"],
)
def test_it_serves_none(manifests: list[Manifest]) -> None:
    assert server(*manifests) is None
    assert kept(*manifests) == []


def test_of_a_configuration_only_its_own_are_left() -> None:
    assert kept(admission(config("far", "other"), config(), {"url": "https://x"})) == ["h1.example.com"]


@pytest.mark.parametrize(
    ("volumes", "expected"),
    [
        ({}, "/tmp/k8s-webhook-server/serving-certs"),
        ({"cert": "/certs/"}, "/certs"),
        ({"metrics-certs": "/m", "webhook-certs": "/w"}, "/w"),
        ({"data": "/data"}, "/tmp/k8s-webhook-server/serving-certs"),
    ],
)
def test_where_it_looks_for_its_certificate(volumes: dict[str, str], expected: str) -> None:
    spec = {"volumes": [{"name": name, "secret": {"secretName": name}} for name in volumes]}
    mounts = [{"name": name, "mountPath": path} for name, path in volumes.items()]
    found = server(admission(config()), template={**TEMPLATE, "spec": spec}, mounts=mounts)
    assert found is not None
    assert found.cert_dir == expected


def test_the_api_server_is_led_to_it() -> None:
    ours = WebhookServer(services=("ns/hooks",))
    led = {"url": "https://127.0.0.1:5/validate", "caBundle": base64.b64encode(b"PEM").decode()}
    manifest = led_to(admission(config(path="/validate"), config("far")), ours, "https://127.0.0.1:5", b"PEM")
    assert [hook["clientConfig"] for hook in manifest["webhooks"]] == [led, config("far")]
    converting = led_to(crd(config()), ours, "https://127.0.0.1:5", b"PEM")["spec"]["conversion"]
    assert converting["webhook"] == {"conversionReviewVersions": ["v1"], "clientConfig": led | {"url": "https://127.0.0.1:5/"}}
    assert converting["strategy"] == "Webhook"
    for other in (crd(None), service({})):
        assert led_to(other, ours, "https://127.0.0.1:5", b"PEM") == other


def test_where_no_webhook_could_be_called_there_is_no_admission() -> None:
    assert without_admission([admission(config()), crd(None), admission(kind="MutatingWebhookConfiguration")]) == [crd(None)]
