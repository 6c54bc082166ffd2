"""The webhooks that a controller serves to the API server: which they are, where it serves them, how the API server is led there.

Admission webhooks are in configurations of their own, conversion webhooks in CustomResourceDefinitions; both name a Service.
"""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import WebhookServer

HOOKS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
CRD = "CustomResourceDefinition"
_HTTPS = 443


def labels_of(manifest: Mapping[str, Any]) -> dict[str, str]:
    return (manifest.get("metadata") or {}).get("labels") or {}


def client_config(hook: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of an admission webhook, or of the conversion webhook in a CustomResourceDefinition."""
    if "spec" in hook:
        hook = (hook["spec"].get("conversion") or {}).get("webhook") or {}
    found: Mapping[str, Any] = hook.get("clientConfig") or {}
    return found


def service_of(config: Mapping[str, Any]) -> str:
    """`namespace/name` of the Service that a client configuration names; empty when it names none."""
    service = config.get("service") or {}
    return f"{service.get('namespace', '')}/{service['name']}" if service.get("name") else ""


def webhooks_of(
    manifests: Sequence[Manifest], template: Mapping[str, Any], namespace: str, container: Mapping[str, Any]
) -> tuple[WebhookServer | None, list[Manifest]]:
    """Where the controller serves its webhooks, and all manifests without the webhooks that others serve: none would answer."""
    every = [(each["metadata"], each) for each in manifests if each["kind"] == "Service"]
    services = {f"{metadata['namespace']}/{metadata['name']}": each for metadata, each in every}
    labels = labels_of(template)

    def is_ours(config: Mapping[str, Any]) -> bool:
        called = service_of(config)
        selector = (services[called].get("spec") or {}).get("selector") or {} if called in services else None
        if selector is None:
            return called.startswith(f"{namespace}/")
        return bool(selector) and selector.items() <= labels.items()

    kept = [each for manifest in manifests for each in _with_ours(manifest, is_ours)]
    ours = [config for each in kept for config in _client_configs(each) if is_ours(config)]
    if not ours:
        return None, kept
    ports = [_port(services.get(service_of(config)), config, container) for config in ours]
    server = WebhookServer(services=tuple(sorted({service_of(config) for config in ours})), port=ports[0])
    mounted = _certificates(template, container)
    return (replace(server, cert_dir=mounted) if mounted else server), kept


def _client_configs(manifest: Manifest) -> list[Mapping[str, Any]]:
    if manifest["kind"] in HOOKS:
        return [client_config(hook) for hook in manifest.get("webhooks") or ()]
    return [client_config(manifest)] if manifest["kind"] == CRD else []


def _with_ours(manifest: Manifest, is_ours: Callable[[Mapping[str, Any]], bool]) -> Iterator[Manifest]:
    """The manifest, of whose admission webhooks only those are left that are ours; nothing if none is left."""
    if manifest["kind"] not in HOOKS:
        yield manifest
    elif hooks := [hook for hook in manifest.get("webhooks") or () if is_ours(client_config(hook))]:
        yield {**manifest, "webhooks": hooks}


def _port(service: Manifest | None, config: Mapping[str, Any], container: Mapping[str, Any]) -> int:
    """The port of the container that the Service leads to."""
    named = {each["name"]: each["containerPort"] for each in container.get("ports") or () if "name" in each}
    wanted = config["service"].get("port") or _HTTPS
    for port in ((service or {}).get("spec") or {}).get("ports") or ():
        if port["port"] == wanted:
            target = port.get("targetPort", wanted)
            return int(named.get(target, WebhookServer(services=()).port)) if isinstance(target, str) else int(target)
    return WebhookServer(services=()).port


def _certificates(template: Mapping[str, Any], container: Mapping[str, Any]) -> str:
    """The folder where the container finds the certificate of its webhooks; empty when no volume looks like it."""
    secrets = {each["name"] for each in template["spec"].get("volumes") or () if each.keys() & {"secret", "projected", "csi"}}
    mounts = [each for each in container.get("volumeMounts") or () if each["name"] in secrets]
    for word in ("webhook", "serving", "cert", "tls"):
        for mount in mounts:
            if word in mount["name"] or word in mount["mountPath"]:
                return str(mount["mountPath"]).rstrip("/")
    return ""


def without_admission(manifests: Iterable[Manifest]) -> list[Manifest]:
    """The manifests without admission webhooks, where no API server could call them."""
    return [each for each in manifests if each["kind"] not in HOOKS]


def led_to(manifest: Manifest, server: WebhookServer, url: str, ca: bytes) -> Manifest:
    """The manifest with the controller's own webhooks at this address (`https://HOST:PORT`), trusted by this CA (PEM)."""

    def led(config: Mapping[str, Any]) -> dict[str, Any]:
        if service_of(config) not in server.services:
            return dict(config)
        path = config["service"].get("path") or "/"
        return {"url": f"{url}/{path.lstrip('/')}", "caBundle": base64.b64encode(ca).decode()}

    if manifest["kind"] in HOOKS:
        hooks = [{**hook, "clientConfig": led(client_config(hook))} for hook in manifest.get("webhooks") or ()]
        return {**manifest, "webhooks": hooks}
    if manifest["kind"] != CRD or not client_config(manifest):
        return manifest
    conversion = manifest["spec"]["conversion"]
    webhook = {**conversion["webhook"], "clientConfig": led(client_config(manifest))}
    return {**manifest, "spec": {**manifest["spec"], "conversion": {**conversion, "webhook": webhook}}}
