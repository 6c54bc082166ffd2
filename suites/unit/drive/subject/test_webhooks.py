"""Webhooks of the controller: where it finds its certificate, and how often the API server says that it called it."""

import ssl
import stat
from pathlib import Path
from typing import Any

import pytest

from staleproof.core.plan.plan import Subject, WebhookServer
from staleproof.drive.subject.webhooks import Calls, Webhooks, calls_in, calls_text, webhooks_in

from ..handshake import handshake

SERVER = WebhookServer(services=("ns/hooks",), port=9876, cert_dir="/certs")


def made(folder: Path, *arguments: str, **declared: str) -> tuple[Webhooks, Subject]:
    subject = Subject(command=("./m",), arguments=arguments, declared=declared, webhooks=SERVER)
    found = webhooks_in(folder, subject)
    assert found is not None
    return found, subject


def test_without_webhooks_there_is_nothing(tmp_path: Path) -> None:
    assert webhooks_in(tmp_path, Subject(command=("./m",))) is None
    assert list(tmp_path.iterdir()) == []


def test_the_certificate_is_one_that_a_server_can_use_and_its_key_is_the_owners_alone(tmp_path: Path) -> None:
    hooks, _ = made(tmp_path)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(hooks.folder / "tls.crt", hooks.folder / "tls.key")
    assert stat.S_IMODE((hooks.folder / "tls.key").stat().st_mode) == 0o600
    assert (hooks.folder / "apiserver.crt").read_bytes() == (hooks.folder / "tls.crt").read_bytes(), "as OLM calls it"
    assert (hooks.folder / "apiserver.key").read_bytes() == (hooks.folder / "tls.key").read_bytes()
    assert {path: content.splitlines()[0] for path, content in hooks.files.items()} == {
        f"{place}/{name}": b"-----BEGIN EC PRIVATE KEY-----" if name == "tls.key" else b"-----BEGIN CERTIFICATE-----"
        for place in ("/certs", "/certs/k8s-webhook-server/serving-certs")
        for name in ("tls.crt", "tls.key", "ca.crt")
    }


def test_the_certificate_is_trusted_by_clients_that_trust_its_authority_and_for_its_services_only(tmp_path: Path) -> None:
    mine, other = made(tmp_path / "mine")[0].folder, made(tmp_path / "other")[0].folder
    for host in ("127.0.0.1", "hooks.ns.svc"):
        handshake(mine / "ca.crt", mine / "tls.crt", mine / "tls.key", host)
    for ca, host in ((mine, "else.ns.svc"), (other, "hooks.ns.svc")):
        with pytest.raises(ssl.SSLCertVerificationError):
            handshake(ca / "ca.crt", mine / "tls.crt", mine / "tls.key", host)


def test_a_service_may_be_called_what_no_certificate_can_say(tmp_path: Path) -> None:
    server = WebhookServer(services=("ns/my--hooks", "xn--ns/hooks", "ns/my-long--hooks"), port=9876, cert_dir="/certs")
    hooks = webhooks_in(tmp_path, Subject(command=("./m",), webhooks=server))
    assert hooks is not None
    for host in ("127.0.0.1", "my-long--hooks.ns.svc"):
        handshake(hooks.folder / "ca.crt", hooks.folder / "tls.crt", hooks.folder / "tls.key", host)


@pytest.mark.parametrize("word", ["--dir={webhook_cert_dir}", "--dir=/certs"])
def test_a_program_is_given_the_folder_where_its_words_say(word: str, tmp_path: Path) -> None:
    hooks, subject = made(tmp_path, word)
    assert hooks.process(subject).arguments == (f"--dir={hooks.folder}",)
    assert hooks.process(subject).declared == {}
    assert hooks.container(subject).arguments == ("--dir=/certs",)


def test_a_program_that_is_given_nothing_finds_it_where_controller_runtime_looks(tmp_path: Path) -> None:
    hooks, subject = made(tmp_path, "--fast")
    below = Path(hooks.process(subject).declared["TMPDIR"], "k8s-webhook-server", "serving-certs")
    assert [path.name for path in sorted(below.iterdir())] == ["ca.crt", "tls.crt", "tls.key"]
    assert (below / "tls.crt").read_bytes() == (hooks.folder / "tls.crt").read_bytes()


@pytest.mark.parametrize("given", [{"arguments": ("--dir={webhook_cert_dir}",)}, {"env": {"TMPDIR": "{webhook_cert_dir}"}}])
def test_a_program_gets_a_certificate_wherever_it_asks_for_one(given: dict[str, Any], tmp_path: Path) -> None:
    """Though its webhooks are unknown: it may serve them all the same, and end without a certificate."""
    subject = Subject(command=("./m",), **given)
    hooks = webhooks_in(tmp_path / "its", subject)
    assert hooks is not None
    assert not hooks.are_called
    placed = hooks.process(subject)
    (folder,) = (*(word.partition("=")[2] for word in placed.arguments), *placed.env.values())
    assert Path(folder, "tls.crt").read_bytes() == Path(folder, "k8s-webhook-server", "serving-certs", "tls.crt").read_bytes()


@pytest.mark.io
def test_the_port_is_the_manifests_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert made(tmp_path / "a")[0].port == 9876
    hooks, subject = made(tmp_path / "b", "--port={webhook_port}")
    assert hooks.process(subject).arguments == hooks.container(subject).arguments == (f"--port={hooks.port}",)
    assert hooks.port != 9876


@pytest.mark.io
def test_in_a_container_with_ports_of_its_own_the_port_is_published_as_a_free_one(tmp_path: Path) -> None:
    subject = Subject(image="img", webhooks=SERVER)
    near, private = webhooks_in(tmp_path / "a", subject), webhooks_in(tmp_path / "b", subject, is_private=True)
    assert near is not None
    assert private is not None
    assert near.published == {9876: 9876}
    assert private.port == 9876
    assert private.published == {9876: private.reached}
    assert private.reached != 9876
    hook = {"name": "a", "clientConfig": {"service": {"namespace": "ns", "name": "hooks", "path": "/a"}}}
    led = private.led([{"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "a"}, "webhooks": [hook]}])
    assert led[0]["webhooks"][0]["clientConfig"]["url"] == f"https://127.0.0.1:{private.reached}/a"


ADMISSION = (
    'apiserver_admission_webhook_request_total{{code="{}",name="{}",operation="CREATE",rejected="{}",type="validating"}} {}\n'
)


def test_what_the_api_server_counts_is_reported() -> None:
    metrics = (
        "# TYPE apiserver_admission_webhook_request_total counter\n"
        + ADMISSION.format(200, "a.example.com", "false", 3)
        + ADMISSION.format(403, "a.example.com", "true", 2)
        + ADMISSION.format(503, "b.example.com", "false", 1)
        + 'apiserver_conversion_webhook_request_total{failure_type="",result="success"} 4\n'
        + 'apiserver_conversion_webhook_request_total{failure_type="x",result="failure"} 2\n'
        + "other_total 7\n"
    )
    found = calls_in(metrics)
    assert found == {"a.example.com": Calls(5, 2), "b.example.com": Calls(1, 0, 1), "conversion": Calls(6, 0, 2)}
    assert calls_text(found) == "a.example.com 5 (2 rejected), b.example.com 1, conversion 6"
    assert calls_text(calls_in("other_total 7\n")) == ""
