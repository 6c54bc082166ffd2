"""An operator as kopf's own example of children has it: one Pod for each KopfExample, made by the handler of its creation.

kopf is a library, and its packages hold no operator. Everything but what is done for a new object is left to kopf and its defaults;
so the Pod gets its owner and a generated name from `kopf.adopt`, and the result of the handler goes into the status.
"""

from typing import Any

import kopf
from kubernetes import client, config


@kopf.on.login()
def login(**given: Any) -> kopf.ConnectionInfo | None:  # noqa: ANN401  (kopf passes whatever it has)
    """By the kubeconfig: an old kopf cannot read what a new client library has made of it."""
    return kopf.login_with_kubeconfig(**given)


@kopf.on.startup()
def connect(**_: object) -> None:
    config.load_kube_config()  # type: ignore[no-untyped-call]


@kopf.on.create("kopfexamples")
def created(spec: kopf.Spec, namespace: str | None, **_: object) -> dict[str, Any]:
    container = {"name": "the-only-one", "image": "busybox", "command": ["sleep", str(spec.get("duration", 0))]}
    pod: Any = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [container]}}
    kopf.adopt(pod)
    made: Any = client.CoreV1Api().create_namespaced_pod(str(namespace), pod)
    return {"children": [made.metadata.uid]}
