"""Users of an API server: their client certificates, and clients that read a kubeconfig."""

import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from kubernetes import client, config


def client_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate, which is its own CA, and its key. The user may do everything."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters"), x509.NameAttribute(NameOID.COMMON_NAME, name)]
    )
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "client.crt").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "client.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return folder / "client.crt", folder / "client.key"


def api_client(kubeconfig: Path) -> client.ApiClient:
    """The official client, as configured by this kubeconfig."""
    made: client.ApiClient = config.new_client_from_config(str(kubeconfig))  # type: ignore[no-untyped-call]  # no annotations there
    return made


def who_am_i(kubeconfig: Path) -> str:
    """The user's name, as the API server knows it."""
    with api_client(kubeconfig) as found:
        review = client.AuthenticationV1Api(found).create_self_subject_review(client.V1SelfSubjectReview())
        return str(review.to_dict()["status"]["user_info"]["username"])
