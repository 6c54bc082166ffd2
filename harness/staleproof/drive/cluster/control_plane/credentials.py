"""Who is who in a control plane of our own: one CA, one serving certificate, one token a user, made for one run.

It decides names, uses and lifetimes. The CA's private key is never written, so nothing more can be signed with it. The certificates
hold under the strictest verifiers that clients have (VERIFY_X509_STRICT, Python's default from 3.13 on, and the rules of the web).
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

from staleproof.drive.process.private import write_private

LIFETIME = datetime.timedelta(days=365)
CLOCK_SKEW = datetime.timedelta(days=1)
_AUTHORITY = "staleproof control plane CA"


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
    """Make them and write the files into the folder, private keys and tokens for their owner alone."""
    authority_key, serving_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _builder(_AUTHORITY, authority_key, authority_key, is_ca=True).sign(authority_key, hashes.SHA256())
    addresses = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
    serving = (
        _builder("kube-apiserver", serving_key, authority_key, is_ca=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
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


def _builder(
    name: str, key: ec.EllipticCurvePrivateKey, issuer: ec.EllipticCurvePrivateKey, *, is_ca: bool
) -> x509.CertificateBuilder:
    """What RFC 5280 wants in a CA and in what it issues: key usage and key identifiers, which strict verifiers insist on."""
    now = datetime.datetime.now(datetime.UTC)
    usage = x509.KeyUsage(
        digital_signature=not is_ca,
        key_cert_sign=is_ca,
        crl_sign=is_ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    return (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(_AUTHORITY))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=0 if is_ca else None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key()), critical=False)
    )


def _named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    # kube-apiserver also reads the public half of the service account key from this file, which it cannot do from PKCS #8.
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
