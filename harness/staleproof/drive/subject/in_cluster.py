"""What a pod finds in its container that leads it to the API server: a programs' in-cluster configuration (client-go's
`rest.InClusterConfig`, and its like in other libraries) reads these variables and files, and nothing else.
"""

from pathlib import PurePosixPath
from urllib.parse import urlsplit

from staleproof.drive.cluster.access import Access
from staleproof.drive.cluster.control_plane import NO_TOKEN

FOLDER = PurePosixPath("/var/run/secrets/kubernetes.io/serviceaccount")
NAMESPACE = "default"
"""Where a controller that does not know better keeps what is its own, its leader's Lease for example."""


def variables(server: str) -> dict[str, str]:
    """What a kubelet says about the API server at this URL."""
    at = urlsplit(server)
    return {"KUBERNETES_SERVICE_HOST": at.hostname or "", "KUBERNETES_SERVICE_PORT": str(at.port or 443)}


def files(access: Access, *, namespace: str = NAMESPACE) -> dict[str, bytes]:
    """The files of a service account, by path."""
    ca = access.ca_file.read_bytes() if access.ca_file is not None else b""
    content = {"token": (access.token or NO_TOKEN).encode(), "ca.crt": ca, "namespace": namespace.encode()}
    return {str(FOLDER / name): data for name, data in content.items()}
