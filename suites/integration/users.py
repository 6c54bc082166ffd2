"""Users of an API server: their client certificates, and clients that read a kubeconfig."""

from pathlib import Path

import trustme
from kubernetes import client, config


def client_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate with that of its CA, and its key. The user may do everything."""
    authority = trustme.CA()
    made = authority.issue_cert(name, common_name=name, organization_name="system:masters")
    (folder / "client.crt").write_bytes(made.cert_chain_pems[0].bytes() + authority.cert_pem.bytes())
    made.private_key_pem.write_to_path(folder / "client.key")
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
