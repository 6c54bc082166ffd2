"""A certificate authority of one run, and what it issues: for the API server, and for the webhooks of the controller under test.

It decides uses and lifetimes. The CA's private key is never written, so nothing more can be signed with it. The certificates hold
under the strictest verifiers that clients have (VERIFY_X509_STRICT, Python's default from 3.13 on, and the rules of the web).
"""

import datetime
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = datetime.timedelta(days=365)
CLOCK_SKEW = datetime.timedelta(days=1)
LOOPBACK = ("127.0.0.1", "localhost")


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate and its key, in PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """Issues certificates as long as it lives."""

    def __init__(self, name: str) -> None:
        self._name, self._key = name, ec.generate_private_key(ec.SECP256R1())
        made = self._builder(name, self._key, is_ca=True).sign(self._key, hashes.SHA256())
        self.certificate = made.public_bytes(Encoding.PEM)

    def issue(self, name: str, hosts: Iterable[str]) -> Issued:
        """For a server that is reached at these addresses and names."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = (
            self._builder(name, key, is_ca=False)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName(map(_host, hosts)), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return Issued(made.public_bytes(Encoding.PEM), pem(key))

    def _builder(self, name: str, key: ec.EllipticCurvePrivateKey, *, is_ca: bool) -> x509.CertificateBuilder:
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
            .issuer_name(_named(self._name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - CLOCK_SKEW)
            .not_valid_after(now + LIFETIME)
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=0 if is_ca else None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )


def pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """A private key as kube-apiserver reads it, which cannot find the public half of a service account's key in PKCS #8."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
