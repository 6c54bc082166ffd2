"""The `existing` provider: a cluster that the user's kubeconfig names.

It decides that only a cluster of this machine may be used unless the user says otherwise (staleproof creates, changes and deletes
objects), and which credentials it can pass on. It starts and stops nothing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from staleproof.drive.cluster.access import Access
from staleproof.drive.cluster.options import ControlPlaneOptions
from staleproof.drive.process.address import is_loopback
from staleproof.drive.process.private import private_folder, write_private
from staleproof.errors import UsageError

from .plane import USERS, ControlPlane

if TYPE_CHECKING:
    from kubernetes import client

_CA = "ca.crt"


async def applies(options: ControlPlaneOptions) -> str | None:
    return None if options.kubeconfig is None else f"the kubeconfig {options.kubeconfig} was given"


@asynccontextmanager
async def use(options: ControlPlaneOptions, folder: Path, *, why: str) -> AsyncIterator[ControlPlane]:
    if options.kubeconfig is None:
        raise UsageError("the existing provider needs a kubeconfig; name one with --staleproof-kubeconfig.")
    with private_folder("control-plane") as private:
        access = await asyncio.to_thread(load_access, options.kubeconfig, private, allow_remote=options.allow_remote)
        yield ControlPlane(
            server=access.server,
            ca_file=private / _CA,
            version=await access.version(),
            provider="existing",
            why=why,
            tokens=dict.fromkeys(USERS, access.token) if access.token else {},
            client_certificate=access.client_certificate,
            log_folder=folder.resolve(),
        )


def load_access(kubeconfig: Path, private: Path, *, allow_remote: bool) -> Access:
    """The current context of a kubeconfig: with a CA, and a token or else a client certificate. What must be in files is written to
    the folder `private`. UsageError when it is no kubeconfig, its server may not be used, or it lacks something."""
    from kubernetes import client, config  # its import takes as long as a trial, and most runs start a cluster of their own

    found = client.Configuration()
    try:
        config.load_kube_config(  # type: ignore[no-untyped-call]  # the library has no annotations
            config_file=str(kubeconfig), client_configuration=found, persist_config=False
        )
    except Exception as err:  # whatever the library, YAML or a credential plug-in finds wrong with the user's file
        raise UsageError(f"{kubeconfig} cannot be used as a kubeconfig: {err}; correct it or name another.") from err
    if not allow_remote and not is_loopback(found.host):
        raise UsageError(
            f"{kubeconfig} points at {found.host}, which is not this machine. staleproof fakes outages, and it creates, changes "
            "and deletes objects: never use a cluster that matters. If this one does not, say so: "
            "--staleproof-allow-remote-cluster, or --allow-remote-cluster."
        )
    if not found.host.startswith("https://"):
        raise UsageError(f"{kubeconfig}: expected an https:// server, found {found.host}; tokens need TLS.")
    if not found.ssl_ca_cert or not found.verify_ssl:
        raise UsageError(f"{kubeconfig}: expected a certificate-authority and no insecure-skip-tls-verify; add the CA.")
    (private / _CA).write_bytes(Path(found.ssl_ca_cert).read_bytes())
    # The library moved the token from "authorization" to "BearerToken"; both are supported here.
    token = (found.get_api_key_with_prefix("BearerToken", alias="authorization") or "").removeprefix("Bearer ")
    certificate = None if token else _certificate(found, private)
    if not token and certificate is None:
        raise UsageError(f"{kubeconfig}: expected a token or a client certificate for its user, found neither; add one.")
    return Access(server=found.host.rstrip("/"), ca_file=private / _CA, token=token, client_certificate=certificate)


def _certificate(found: "client.Configuration", private: Path) -> Path | None:
    if not found.cert_file or not found.key_file:
        return None
    path = private / "client.pem"
    key, certificate = Path(found.key_file).read_bytes(), Path(found.cert_file).read_bytes()
    write_private(path, key.rstrip() + b"\n" + certificate)
    return path
