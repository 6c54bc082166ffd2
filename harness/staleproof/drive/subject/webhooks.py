"""The webhooks of the controller under test: a certificate where it looks for one, and the API server led to where it serves them.

The API server calls the controller directly, not through the proxy.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import trustme
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from staleproof.core.operator.webhooks import led_to
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Subject, WebhookServer
from staleproof.drive.process.address import LOOPBACK, free_port
from staleproof.drive.process.private import write_private
from staleproof.drive.subject.controller import filled, words_of

WEBHOOK_PORT, WEBHOOK_CERT_DIR = "{webhook_port}", "{webhook_cert_dir}"
_CERTIFICATE, _KEY, _CA = "tls.crt", "tls.key", "ca.crt"
_ADMISSIONS, _CONVERSIONS = "apiserver_admission_webhook_request_total{", "apiserver_conversion_webhook_request_total{"
_TEMPORARY, _BELOW_IT = "TMPDIR", Path("k8s-webhook-server", "serving-certs")
"""Where controller-runtime looks for certificates unless it is told: below the folder for temporary files."""


@dataclass(frozen=True, slots=True)
class Webhooks:
    """Of one run.

    Attributes:
        port: where the controller serves them.
        folder: holds the certificate and its key, as a Secret of type kubernetes.io/tls does.
        reached: the port of loopback that leads there; another where the controller's ports are its own.
    """

    server: WebhookServer
    port: int
    folder: Path
    reached: int

    def led(self, manifests: Iterable[Manifest]) -> list[Manifest]:
        """The manifests with the controller's own webhooks where it serves them."""
        ca = (self.folder / _CA).read_bytes()
        return [led_to(each, self.server, f"https://127.0.0.1:{self.reached}", ca) for each in manifests]

    def process(self, subject: Subject) -> Subject:
        """The subject as a process: what its manifests say of the folder in its container is said of this one."""
        folder = str(self.folder)
        placed = filled(subject, {WEBHOOK_PORT: str(self.port), WEBHOOK_CERT_DIR: folder, self.server.cert_dir: folder})
        if any(folder in word for word in words_of(placed)):
            return placed
        return replace(placed, declared={_TEMPORARY: str(self.folder.parents[1]), **placed.declared})

    def container(self, subject: Subject) -> Subject:
        """The subject as a container, which gets `files`."""
        return filled(subject, {WEBHOOK_PORT: str(self.port), WEBHOOK_CERT_DIR: self.server.cert_dir})

    @property
    def published(self) -> dict[int, int]:
        """The port inside a container that has ports of its own, and that of loopback which leads there."""
        return {self.port: self.reached}

    @property
    def files(self) -> dict[str, bytes]:
        """What is to lie in a container, by path."""
        return {f"{self.server.cert_dir}/{name}": (self.folder / name).read_bytes() for name in (_CERTIFICATE, _KEY, _CA)}


def told_calls(metrics: str) -> str:
    """How often the API server called which webhook, as its metrics say; empty when it called none."""
    lines = [line for line in metrics.split("\n") if line.startswith((_ADMISSIONS, _CONVERSIONS))]
    calls: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    for family in text_string_to_metric_families("\n".join([*lines, ""])):
        for sample in family.samples:
            name = sample.labels.get("name", "conversion")
            calls[name] += int(sample.value)
            rejected[name] += int(sample.value) if sample.labels.get("rejected") == "true" else 0
    told = (f"{name} {times}{f' ({rejected[name]} rejected)' if rejected[name] else ''}" for name, times in sorted(calls.items()))
    return ", ".join(told)


def webhooks_in(folder: Path, subject: Subject, *, is_private: bool = False) -> Webhooks | None:
    """The webhooks of the subject, with a certificate below this folder; None if it has none. Their port is a free one if the
    subject says where to put it, or else the one that its manifests say. `is_private`: the controller's ports are its own, and this
    one is published as a free one."""
    server = subject.webhooks
    if server is None:
        return None
    authority = trustme.CA(organization_unit_name="staleproof webhook CA")
    issued = authority.issue_cert(LOOPBACK, "localhost", *_names(server.services))
    place = folder / _BELOW_IT
    place.mkdir(parents=True)
    (place / _CA).write_bytes(authority.cert_pem.bytes())
    (place / _CERTIFICATE).write_bytes(issued.cert_chain_pems[0].bytes())
    write_private(place / _KEY, issued.private_key_pem.bytes())
    asks = any(WEBHOOK_PORT in word for word in words_of(subject))
    port = free_port() if asks else server.port
    return Webhooks(server, port, place, free_port() if is_private else port)


def _names(services: Iterable[str]) -> Iterator[str]:
    """What Services are called in a cluster. trustme refuses labels with the hyphens of IDNA; the API server, which is led to
    loopback, does not need them."""
    for service in services:
        namespace, _, name = service.partition("/")
        if "--" not in (namespace[2:4], name[2:4]):
            yield from (f"{name}.{namespace}.svc", f"{name}.{namespace}.svc.cluster.local")
