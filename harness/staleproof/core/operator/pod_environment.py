"""The variables of a container as the kubelet would set them, from a pod template, ConfigMaps and Secrets.

Divergence from Kubernetes: a pod is called after its workload, and its addresses are this machine's; what depends on its resources
is not known. A label or annotation that the template does not have is an empty text, as for the kubelet
(`ExtractFieldPathAsString`, pkg/fieldpath/fieldpath.go).
"""

import base64
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from staleproof.core.plan.manifest import Manifest

_PAIRS = ("labels", "annotations")
_PAIR = re.compile(r"metadata\.(labels|annotations)\['.+'\]")
_REFERENCE = re.compile(r"\$\$|\$\(([-._a-zA-Z0-9]+)\)")


def expanded(text: str, env: Mapping[str, str]) -> str:
    """`$(NAME)` replaced as the kubelet does it: a name that is not known stays, `$$` is a dollar sign."""
    return _REFERENCE.sub(lambda found: "$" if found[1] is None else env.get(found[1], found[0]), text)


class PodEnvironment:
    """What the variables of a container in the pods of this workload can come from."""

    def __init__(self, manifests: Sequence[Manifest], namespace: str, workload: Manifest, account: str) -> None:
        self._maps = {each["metadata"]["name"]: _texts(each) for each in manifests if _is_in(each, "ConfigMap", namespace)}
        self._secrets = {each["metadata"]["name"]: _texts(each) for each in manifests if _is_in(each, "Secret", namespace)}
        metadata = workload["spec"]["template"].get("metadata") or {}
        name = f"{workload['metadata']['name']}-0"
        self._fields = {
            "metadata.name": name,
            "metadata.uid": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}.{namespace}")),
            "metadata.namespace": namespace,
            "spec.serviceAccountName": account,
            "status.podIP": "127.0.0.1",
            "status.hostIP": "127.0.0.1",
            **{f"metadata.{kind}['{key}']": str(text) for kind in _PAIRS for key, text in (metadata.get(kind) or {}).items()},
        }

    def of(self, container: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        """`env`, `secret_env` and `unset` of an installation."""
        env: dict[str, str] = {}
        secret: dict[str, str] = {}
        unset: dict[str, str] = {}
        for source in container.get("envFrom") or ():
            kind, known = ("secretRef", self._secrets) if "secretRef" in source else ("configMapRef", self._maps)
            found = known.get(source.get(kind, {}).get("name", ""), {})
            (secret if kind == "secretRef" else env).update({source.get("prefix", "") + key: text for key, text in found.items()})
        for variable in container.get("env") or ():
            name, origin = variable["name"], variable.get("valueFrom") or {}
            value, where, optional = self._value(variable, {**env, **secret})
            if value is not None:
                (secret if "secretKeyRef" in origin else env)[name] = value
            elif not optional:
                unset[name] = where
        return {"env": env, "secret_env": secret, "unset": unset}

    def _value(self, variable: Mapping[str, Any], env: Mapping[str, str]) -> tuple[str | None, str, bool]:
        """A variable's value, None if it is not known; where it comes from; and whether it may be without."""
        origin = variable.get("valueFrom") or {}
        for kind, known, called in (("configMapKeyRef", self._maps, "ConfigMap"), ("secretKeyRef", self._secrets, "Secret")):
            if reference := origin.get(kind):
                value = known.get(reference["name"], {}).get(reference["key"])
                return value, f"key {reference['key']} of {called}/{reference['name']}", bool(reference.get("optional"))
        if "fieldRef" in origin:
            path = origin["fieldRef"]["fieldPath"]
            return self._fields.get(path, "" if _PAIR.fullmatch(path) else None), f"the pod's {path}", False
        if origin:
            return None, f"the pod's {', '.join(origin)}", True
        return expanded(str(variable.get("value") or ""), env), "", False


def _is_in(manifest: Manifest, kind: str, namespace: str) -> bool:
    return bool(manifest["kind"] == kind and manifest["metadata"]["namespace"] == namespace)


def _texts(manifest: Manifest) -> dict[str, str]:
    """What a ConfigMap or a Secret holds, as text."""
    data = {key: str(value) for key, value in (manifest.get("data") or {}).items()}
    if manifest["kind"] == "Secret":
        data = {key: base64.b64decode(value).decode(errors="replace") for key, value in data.items()}
    return {**data, **{key: str(value) for key, value in (manifest.get("stringData") or {}).items()}}
