"""What a control plane is to everybody else: an address, a CA and credentials, and where it came from.

It decides what is handed out and how a kubeconfig is written. It starts nothing.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
        if user not in self.tokens and self.client_certificate is None:
            raise HarnessBug(f"the control plane knows {sorted(self.tokens)}, not {user!r}; name one of them.")
        reached = replace(self.access(user), server=server or self.server, ca_file=ca_file or self.ca_file)
        write_private(path, kubeconfig(reached, user=user))

    def access(self, user: str) -> Access:
        """How `user` reaches the API server."""
        token = self.tokens.get(user, "")
        return Access(server=self.server, ca_file=self.ca_file, token=token, client_certificate=self.client_certificate)


def kubeconfig(access: Access, *, user: str) -> bytes:
    """A kubeconfig in YAML, with the CA and the user's credentials embedded, as far as there are any."""
    credentials: dict[str, str] = {}
    if access.token:
        credentials = {"token": access.token}
    elif access.client_certificate is not None:
        # One file serves as both: each reader takes the kind of PEM block it looks for.
        credentials = dict.fromkeys(("client-certificate-data", "client-key-data"), _base64(access.client_certificate))
    trusted = {} if access.ca_file is None else {"certificate-authority-data": _base64(access.ca_file)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "staleproof", "cluster": {"server": access.server, **trusted}}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "staleproof", "context": {"cluster": "staleproof", "user": user}}],
        "current-context": "staleproof",
    }
    return yaml.safe_dump(document, sort_keys=False).encode()


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
