"""What a control plane is to everybody else: an address, a CA and credentials, and where it came from.

It decides what is handed out and how a kubeconfig is written. It starts nothing.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from staleproof.drive.cluster.access import Access
from staleproof.drive.process.private import write_private
from staleproof.errors import HarnessBug

RUNNER = "staleproof-runner"
CONTROLLER = "staleproof-controller"
COMPANION = "staleproof-companion"
USERS = (RUNNER, CONTROLLER, COMPANION)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A kube-apiserver that answers. `tokens` is empty when the cluster knows us by `client_certificate` (key and
    certificate in one PEM file) alone. `why` says in one line why this provider was taken."""

    server: str
    ca_file: Path
    version: str
    provider: str
    why: str
    tokens: Mapping[str, str] = field(repr=False)
    client_certificate: Path | None
    log_folder: Path

    def write_kubeconfig(self, path: Path, *, user: str = RUNNER, server: str | None = None, ca_file: Path | None = None) -> None:
        """For `user`, with everything embedded. `server` and `ca_file` replace our own: a proxy's, for example."""
        credentials = self._credentials(user)
        write_private(path, kubeconfig(server or self.server, ca_file or self.ca_file, user=user, credentials=credentials))

    def access(self, user: str) -> Access:
        """How `user` reaches the API server."""
        token = self.tokens.get(user, "")
        return Access(server=self.server, ca_file=self.ca_file, token=token, client_certificate=self.client_certificate)

    def _credentials(self, user: str) -> dict[str, str]:
        if user in self.tokens:
            return {"token": self.tokens[user]}
        if self.client_certificate is None:
            raise HarnessBug(f"the control plane knows {sorted(self.tokens)}, not {user!r}; name one of them.")
        # One file serves as both: each reader takes the kind of PEM block it looks for.
        both = _base64(self.client_certificate)
        return {"client-certificate-data": both, "client-key-data": both}


def kubeconfig(server: str, ca_file: Path, *, user: str, credentials: Mapping[str, str]) -> bytes:
    """A kubeconfig in YAML, with the CA embedded; `credentials` are the fields of its user."""
    cluster = {"server": server, "certificate-authority-data": _base64(ca_file)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "staleproof", "cluster": cluster}],
        "users": [{"name": user, "user": dict(credentials)}],
        "contexts": [{"name": "staleproof", "context": {"cluster": "staleproof", "user": user}}],
        "current-context": "staleproof",
    }
    return yaml.safe_dump(document, sort_keys=False).encode()


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
