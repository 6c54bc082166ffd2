"""How to reach an API server: its address, the CA to trust, our identity; and what would lead a program to another one."""

import ssl
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from staleproof.core.times import VERSION_SECONDS
from staleproof.errors import SetupError, UsageError

REQUEST_LIMIT = aiohttp.ClientTimeout(total=VERSION_SECONDS)
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"})
_IN_CLUSTER = "KUBERNETES_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """An API server and one user's credentials. No `ca_file` means the CAs that this machine trusts; a `client_certificate` is key
    and certificate in one PEM file."""

    server: str
    ca_file: Path | None = None
    token: str = field(default="", repr=False)
    client_certificate: Path | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def tls(self) -> ssl.SSLContext:
        """How a connection is verified and authenticated; OSError when a file cannot be used."""
        tls = ssl.create_default_context(cafile=None if self.ca_file is None else str(self.ca_file))
        tls.verify_flags &= ~ssl.VERIFY_X509_STRICT  # CAs of real clusters are what they are
        if self.client_certificate is not None:
            tls.load_cert_chain(self.client_certificate)
        return tls

    async def version(self) -> str:
        """Of Kubernetes, as `gitVersion`. UsageError when the credentials are refused, SetupError when nothing answers."""
        try:
            async with (
                aiohttp.ClientSession(timeout=REQUEST_LIMIT) as session,
                session.get(f"{self.server}/version", headers=self.headers, ssl=self.tls()) as answer,
            ):
                if answer.status in (401, 403):
                    raise UsageError(
                        f"{self.server} refused the credentials of the kubeconfig ({answer.status} {answer.reason}); renew them."
                    )
                answer.raise_for_status()
                return str((await answer.json())["gitVersion"])
        except (aiohttp.ClientError, OSError, ValueError, KeyError) as err:
            raise SetupError(f"{self.server} does not answer /version: {err!r}; is the cluster running?") from err


def not_inherited(names: Iterable[str]) -> frozenset[str]:
    """Which of our environment variables a program that is given a kubeconfig must not see.

    Many programs try the in-cluster configuration (KUBERNETES_SERVICE_HOST) before KUBECONFIG: in a CI job that runs in a pod, that
    is the CI's own cluster. The network's HTTP proxies have nothing to do with a control plane on loopback.
    """
    return frozenset(name for name in names if name.startswith(_IN_CLUSTER) or name.upper() in _PROXIES)
