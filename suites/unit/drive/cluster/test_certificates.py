"""A certificate authority and what it issues."""

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from staleproof.drive.cluster.certificates import Authority


def test_what_it_issues_is_trusted_by_those_who_trust_it_and_for_these_hosts_only() -> None:
    mine, other = Authority("mine"), Authority("mine")
    issued = x509.load_pem_x509_certificate(mine.issue("hooks", ("127.0.0.1", "hooks.ns.svc")).certificate)

    def verified(authority: Authority, host: str) -> bool:
        root = x509.load_pem_x509_certificate(authority.certificate)
        verifier = PolicyBuilder().store(Store([root])).build_server_verifier(x509.DNSName(host))
        return verifier.verify(issued, []) == [issued, root]

    assert verified(mine, "hooks.ns.svc")
    for authority, host in ((mine, "else.ns.svc"), (other, "hooks.ns.svc")):
        with pytest.raises(VerificationError):
            verified(authority, host)
