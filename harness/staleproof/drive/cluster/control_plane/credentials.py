"""Who is who in a control plane of our own: one CA, one serving certificate, one token a user, made for one run.

It decides names, uses and lifetimes. The CA's private key is never written: nothing more can be signed with it.
"""

import datetime
import ipaddress
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from .plane import write_private

LIFETIME = datetime.timedelta(days=365)
CLOCK_SKEW = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Files of one run, and the tokens that `tokens_file` lists."""

    ca_file: Path
    certificate_file: Path
    key_file: Path
    service_account_key_file: Path
    tokens_file: Path
    tokens: Mapping[str, str] = field(repr=False)


def make_credentials(folder: Path, users: Sequence[str]) -> Credentials:
    authority_key = ec.generate_private_key(ec.SECP256R1())
    serving_key = ec.generate_private_key(ec.SECP256R1())
    authority = _authority(authority_key)
    serving = _serving(serving_key.public_key(), authority, authority_key)
    made = Credentials(
        ca_file=folder / "ca.crt",
        certificate_file=folder / "apiserver.crt",
        key_file=folder / "apiserver.key",
        service_account_key_file=folder / "service-account.key",
        tokens_file=folder / "tokens.csv",
        tokens={user: secrets.token_urlsafe(32) for user in users},
    )
    made.ca_file.write_bytes(authority.public_bytes(Encoding.PEM))
    made.certificate_file.write_bytes(serving.public_bytes(Encoding.PEM))
    write_private(made.key_file, _pem(serving_key))
    write_private(made.service_account_key_file, _pem(ec.generate_private_key(ec.SECP256R1())))
    rows = (f'{token},{user},{user},"system:masters"\n' for user, token in made.tokens.items())
    write_private(made.tokens_file, "".join(rows).encode())
    return made


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = _name("staleproof control plane CA")
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    # RFC 5280 wants keyUsage and a subject key identifier in a CA; VERIFY_X509_STRICT (Python's default from 3.13 on)
    # refuses one without.
    return (
        _builder(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(sign=False), critical=True)
        .add_extension(identifier, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        .sign(key, hashes.SHA256())
    )


def _serving(
    key: ec.EllipticCurvePublicKey, authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey
) -> x509.Certificate:
    addresses = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
    identifier = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    return (
        _builder(_name("kube-apiserver"), authority.subject, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(sign=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + LIFETIME)
    )


def _key_usage(*, sign: bool) -> x509.KeyUsage:
    """A serving certificate signs handshakes, a CA signs certificates and revocation lists."""
    return x509.KeyUsage(
        digital_signature=sign,
        key_cert_sign=not sign,
        crl_sign=not sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    # kube-apiserver also reads the public half of the service account key from it, which it cannot do from PKCS #8.
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
