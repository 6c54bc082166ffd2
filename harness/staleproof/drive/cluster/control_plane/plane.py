"""What a control plane is to its users: an address, a CA and credentials, and where it came from.

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
NO_TOKEN = "staleproof-has-no-token"
"""For clients that want one where the cluster knows us by a client certificate, which the proxy has."""
USERS = (RUNNER, CONTROLLER, COMPANION)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A kube-apiserver that answers. `tokens` is empty when the cluster knows us by `client_certificate` (key and
    certificate in one PEM file) alone. `why` says in one line why this provider was taken. `service_account_key_file` is there
    where the control plane is ours."""

    server: str
    ca_file: Path
    version: str
    provider: str
    why: str
    tokens: Mapping[str, str] = field(repr=False)
    client_certificate: Path | None
    log_folder: Path
    service_account_key_file: Path | None = None

    def write_kubeconfig(
        self, path: Path, *, user: str = RUNNER, server: str | None = None, ca_file: Path | None = None, namespace: str = ""
    ) -> None:
        """For `user`, with everything embedded. `server` and `ca_file` replace our own: a proxy's, for example. `namespace`: where
        the user is at home."""
        if user not in self.tokens and self.client_certificate is None:
            raise HarnessBug(f"the control plane knows {sorted(self.tokens)}, not {user!r}; name one of them.")
        reached = self.access(user, server=server, ca_file=ca_file)
        write_private(path, kubeconfig(reached, user=user, namespace=namespace))

    def access(self, user: str, *, server: str | None = None, ca_file: Path | None = None) -> Access:
        """How `user` reaches the API server, or what is in front of it."""
        return Access(
            server=server or self.server,
            ca_file=ca_file or self.ca_file,
            token=self.tokens.get(user, ""),
            client_certificate=self.client_certificate,
        )


def kubeconfig(access: Access, *, user: str, namespace: str = "") -> bytes:
    """A kubeconfig in YAML, with the CA and the user's credentials embedded, as far as there are any."""
    credentials: dict[str, str] = {}
    if access.token:
        credentials = {"token": access.token}
    elif access.client_certificate is not None:
        # One file serves as both: each reader takes the kind of PEM block it looks for.
        credentials = dict.fromkeys(("client-certificate-data", "client-key-data"), _base64(access.client_certificate))
    trusted = {} if access.ca_file is None else {"certificate-authority-data": _base64(access.ca_file)}
    at_home = {"namespace": namespace} if namespace else {}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "staleproof", "cluster": {"server": access.server, **trusted}}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "staleproof", "context": {"cluster": "staleproof", "user": user, **at_home}}],
        "current-context": "staleproof",
    }
    return yaml.safe_dump(document, sort_keys=False).encode()


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
