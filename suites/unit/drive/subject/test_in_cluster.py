"""What a pod finds: the names and places are Kubernetes', and programs look nowhere else."""

from pathlib import Path

from staleproof.drive.cluster.access import Access
from staleproof.drive.cluster.control_plane import NO_TOKEN
from staleproof.drive.subject.in_cluster import files, variables

FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"


def test_the_variables_lead_to_the_server() -> None:
    assert variables("https://172.17.0.1:40001") == {
        "KUBERNETES_SERVICE_HOST": "172.17.0.1",
        "KUBERNETES_SERVICE_PORT": "40001",
    }
    assert variables("https://[fd00::1]") == {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}


def test_the_files_of_a_service_account(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_bytes(b"the CA")
    assert files(Access(server="https://x", ca_file=ca, token="secret"), namespace="mine") == {
        f"{FOLDER}/token": b"secret",
        f"{FOLDER}/ca.crt": b"the CA",
        f"{FOLDER}/namespace": b"mine",
    }


def test_a_token_is_there_even_if_the_cluster_knows_us_by_a_certificate() -> None:
    """client-go reads no empty token file."""
    assert files(Access(server="https://x"))[f"{FOLDER}/token"] == NO_TOKEN.encode()
