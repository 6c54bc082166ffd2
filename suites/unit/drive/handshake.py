"""A TLS handshake in memory, with a client as strict as Python's default from 3.13 on."""

import contextlib
import ssl
from pathlib import Path


def handshake(ca: Path, certificate: Path, key: Path, host: str) -> None:
    """SSLCertVerificationError when a client that trusts this CA does not take the certificate for this host's."""
    client, server = ssl.create_default_context(cafile=ca), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    server.load_cert_chain(certificate, key)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    asks = client.wrap_bio(to_client, to_server, server_hostname=host)
    answers = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (asks, answers, asks, answers):
        with contextlib.suppress(ssl.SSLWantReadError):
            side.do_handshake()
    assert asks.version()
