"""The webhooks of the controller under test: a certificate where it looks for one, and the API server led to where it serves them.

The API server calls the controller directly, not through the proxy.
"""

from collections.abc import Iterable, Iterator, Mapping
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
from staleproof.drive.subject.given_files import texts_of

WEBHOOK_PORT, WEBHOOK_CERT_DIR = "{webhook_port}", "{webhook_cert_dir}"
_CERTIFICATE, _KEY, _CA = _PAIR = "tls.crt", "tls.key", "ca.crt"
_ADMISSIONS, _CONVERSIONS = "apiserver_admission_webhook_request_total{", "apiserver_conversion_webhook_request_total{"
_OLM = {_CERTIFICATE: "apiserver.crt", _KEY: "apiserver.key"}
"""What the Operator Lifecycle Manager calls them, in the same folder."""
_TEMPORARY, _BELOW_IT = "TMPDIR", Path("k8s-webhook-server", "serving-certs")
"""Where controller-runtime looks for certificates by default: below the folder for temporary files. They are there, too, so
that TMPDIR may be the folder of the certificate."""
_ERROR = 500
"""What the API server counts for a webhook that it did not come through to, and a webhook answers that cannot decide."""


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

    @property
    def values(self) -> dict[str, str]:
        """What stands for placeholders on this machine."""
        return {WEBHOOK_PORT: str(self.port), WEBHOOK_CERT_DIR: str(self.folder)}

    def process(self, subject: Subject) -> Subject:
        """The subject as a process: what its manifests say of the folder in its container is said of this one."""
        folder = str(self.folder)
        placed = filled(subject, {**self.values, self.server.cert_dir: folder})
        if any(folder in word for word in words_of(placed)):
            return placed
        return replace(placed, declared={_TEMPORARY: folder, **placed.declared})

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
        inside = Path(self.server.cert_dir)
        contents = {name: (self.folder / name).read_bytes() for name in _PAIR}
        return {str(place / name): content for place in (inside, inside / _BELOW_IT) for name, content in contents.items()}

    @property
    def are_called(self) -> bool:
        """Whether the API server knows of any."""
        return bool(self.server.services)


@dataclass(frozen=True, slots=True)
class Calls:
    """Of one webhook, as the API server counts them: all, those that it rejected, and those that brought no decision."""

    times: int = 0
    rejected: int = 0
    undecided: int = 0

    def __str__(self) -> str:
        return f"{self.times}{f' ({self.rejected} rejected)' if self.rejected else ''}"


def calls_in(metrics: str) -> dict[str, Calls]:
    """How often the API server called which webhook, as its metrics say, by name."""
    lines = [line for line in metrics.split("\n") if line.startswith((_ADMISSIONS, _CONVERSIONS))]
    found: dict[str, Calls] = {}
    for family in text_string_to_metric_families("\n".join([*lines, ""])):
        for sample in family.samples:
            labels, times = sample.labels, int(sample.value)
            name, code = labels.get("name", "conversion"), labels.get("code", "")
            rejects = labels.get("rejected") == "true"
            fails = labels.get("result") == "failure" or (code.isdigit() and int(code) >= _ERROR)
            had = found.get(name, Calls())
            found[name] = Calls(had.times + times, had.rejected + times * rejects, had.undecided + times * fails)
    return dict(sorted(found.items()))


def calls_text(calls: Mapping[str, Calls]) -> str:
    """The same in words; empty when it called none."""
    return ", ".join(f"{name} {each}" for name, each in calls.items())


def webhooks_in(folder: Path, subject: Subject, *, is_private: bool = False) -> Webhooks | None:
    """The webhooks of the subject, with a certificate in this folder; None if it has none, and asks for no certificate or port of
    theirs: many serve them wherever they run, and end if they find no certificate. Their port is a free one if the subject says
    where to put it, or else the one that its manifests say. `is_private`: the controller's ports are its own, and this one is
    published as a free one."""
    words = (*words_of(subject), *texts_of(subject))
    asks_port, asks_pair = (any(each in word for word in words) for each in (WEBHOOK_PORT, WEBHOOK_CERT_DIR))
    server = subject.webhooks or (WebhookServer(services=()) if asks_port or asks_pair else None)
    if server is None:
        return None
    authority = trustme.CA(organization_unit_name="staleproof webhook CA")
    issued = authority.issue_cert(LOOPBACK, "localhost", *_names(server.services))
    (folder / _BELOW_IT).mkdir(parents=True)
    (folder / _CA).write_bytes(authority.cert_pem.bytes())
    (folder / _CERTIFICATE).write_bytes(issued.cert_chain_pems[0].bytes())
    write_private(folder / _KEY, issued.private_key_pem.bytes())
    for name in _PAIR:
        (folder / _BELOW_IT / name).symlink_to(folder.absolute() / name)
    for name, another in _OLM.items():
        (folder / another).symlink_to(folder.absolute() / name)
    port = free_port() if asks_port else server.port
    return Webhooks(server, port, folder, free_port() if is_private else port)


def _names(services: Iterable[str]) -> Iterator[str]:
    """What Services are called in a cluster. trustme refuses labels with the hyphens of IDNA; the API server, which is led to
    loopback, does not need them."""
    for service in services:
        namespace, _, name = service.partition("/")
        if "--" not in (namespace[2:4], name[2:4]):
            yield from (f"{name}.{namespace}.svc", f"{name}.{namespace}.svc.cluster.local")
