"""What a control plane is to everybody else: an address, a CA and credentials, and where they came from.

It decides what is asked for (`ControlPlaneOptions`), what is handed out (`ControlPlane`) and how a kubeconfig is
written. It does not start anything.
"""

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml

from staleproof.errors import HarnessBug

KUBERNETES_VERSION = "v1.36.3"  # what fixtures/controlplane/go.mod builds

RUNNER = "staleproof-runner"
CONTROLLER = "staleproof-controller"
COMPANION = "staleproof-companion"
USERS = (RUNNER, CONTROLLER, COMPANION)

ProviderName = Literal["auto", "existing", "assets", "cache", "container", "build"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlaneOptions:
    """What the user asked for. An empty `image` means the container provider's default."""

    provider: ProviderName = "auto"
    kubeconfig: Path | None = None
    allow_remote: bool = False
    version: str = KUBERNETES_VERSION
    image: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A kube-apiserver that answers. `tokens` is empty when the cluster knows us by `client_certificate` (key and
    certificate in one PEM file) alone. `why` says in one line how this provider came to be taken."""

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
        certificate_authority = _base64(ca_file or self.ca_file)
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "staleproof",
                    "cluster": {
                        "server": server or self.server,
                        "certificate-authority-data": certificate_authority,
                    },
                }
            ],
            "users": [{"name": user, "user": self._credentials(user)}],
            "contexts": [{"name": "staleproof", "context": {"cluster": "staleproof", "user": user}}],
            "current-context": "staleproof",
        }
        write_private(path, yaml.safe_dump(document, sort_keys=False).encode())

    def _credentials(self, user: str) -> dict[str, str]:
        if user in self.tokens:
            return {"token": self.tokens[user]}
        if self.client_certificate is None:
            raise HarnessBug(f"the control plane knows {sorted(self.tokens)}, not {user!r}; name one of them.")
        # One file serves as both: each reader takes the kind of PEM block it looks for.
        both = _base64(self.client_certificate)
        return {"client-certificate-data": both, "client-key-data": both}


def write_private(path: Path, content: bytes) -> None:
    """Mode 0600 from the first byte on, also when the file was there with another mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
