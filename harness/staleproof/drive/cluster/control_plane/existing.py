"""The `existing` provider: a cluster that the user's kubeconfig names.

It decides that only a cluster of this machine may be used unless the user says otherwise (staleproof creates, changes
and deletes objects), and which credentials it can pass on. It starts and stops nothing.
"""

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from kubernetes import client, config

from staleproof.drive.process.private import private_folder
from staleproof.errors import SetupError, UsageError

from .plane import USERS, ControlPlane, ControlPlaneOptions, write_private
from .progress import Progress

ALLOW_REMOTE_OPTION = "--staleproof-allow-remote-cluster"
REQUEST_LIMIT = aiohttp.ClientTimeout(total=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a kubeconfig comes down to. Without a token the certificate file (key and certificate) is there."""

    server: str
    ca_file: Path
    token: str | None = field(repr=False)
    client_certificate: Path | None


@asynccontextmanager
async def run(options: ControlPlaneOptions, folder: Path, progress: Progress, *, why: str) -> AsyncIterator[ControlPlane]:
    if options.kubeconfig is None:
        raise UsageError("the existing provider needs a kubeconfig; name one with --staleproof-kubeconfig.")
    with private_folder("control-plane") as private:
        access = await asyncio.to_thread(load_access, options.kubeconfig, private, options)
        yield ControlPlane(
            server=access.server,
            ca_file=access.ca_file,
            version=await _version(access),
            provider="existing",
            why=why,
            tokens={} if access.token is None else dict.fromkeys(USERS, access.token),
            client_certificate=None if access.token is not None else access.client_certificate,
            log_folder=folder.resolve(),
        )


def is_loopback(server: str) -> bool:
    """Whether a URL names this machine. Names are not resolved: what they mean may change after the check."""
    host = urlsplit(server).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified  # k3d writes 0.0.0.0, which connects to this machine


def refuse_remote(server: str, kubeconfig: Path) -> None:
    if not is_loopback(server):
        raise UsageError(
            f"{kubeconfig} points at {server}, which is not this machine. staleproof creates, changes and deletes objects "
            f"and fakes outages: never use a cluster that matters. If this one does not, say so: {ALLOW_REMOTE_OPTION}."
        )


def load_access(kubeconfig: Path, private: Path, options: ControlPlaneOptions) -> Access:
    found = client.Configuration()
    try:
        config.load_kube_config(  # type: ignore[no-untyped-call]  # the library has no annotations
            config_file=str(kubeconfig), client_configuration=found, persist_config=False
        )
    except Exception as err:  # whatever the library, YAML or a credential plug-in finds wrong with the user's file
        raise UsageError(f"{kubeconfig} cannot be used as a kubeconfig: {err}; correct it or name another.") from err
    if not options.allow_remote:
        refuse_remote(found.host, kubeconfig)
    if not found.host.startswith("https://"):
        raise UsageError(f"{kubeconfig}: expected an https:// server, found {found.host}; tokens need TLS.")
    if not found.ssl_ca_cert or not found.verify_ssl:
        raise UsageError(f"{kubeconfig}: expected a certificate-authority and no insecure-skip-tls-verify; add the CA.")
    ca_file = private / "ca.crt"
    ca_file.write_bytes(Path(found.ssl_ca_cert).read_bytes())
    # The library moved the token from "authorization" to "BearerToken"; both are supported here.
    token = (found.get_api_key_with_prefix("BearerToken", alias="authorization") or "").removeprefix("Bearer ") or None
    certificate = _certificate(found, private)
    if token is None and certificate is None:
        raise UsageError(f"{kubeconfig}: expected a token or a client certificate for its user, found neither; add one.")
    return Access(server=found.host.rstrip("/"), ca_file=ca_file, token=token, client_certificate=certificate)


def _certificate(found: client.Configuration, private: Path) -> Path | None:
    if not found.cert_file or not found.key_file:
        return None
    path = private / "client.pem"
    key, certificate = Path(found.key_file).read_bytes(), Path(found.cert_file).read_bytes()
    write_private(path, key.rstrip() + b"\n" + certificate)
    return path


async def _version(access: Access) -> str:
    """Ask as the user we will be: an unreachable server and a refused credential are told apart, before anything runs."""
    tls = ssl.create_default_context(cafile=str(access.ca_file))
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT  # CAs of real clusters are what they are
    headers = {}
    if access.token is not None:
        headers["Authorization"] = f"Bearer {access.token}"
    elif access.client_certificate is not None:
        tls.load_cert_chain(access.client_certificate)
    try:
        async with (
            aiohttp.ClientSession(timeout=REQUEST_LIMIT) as session,
            session.get(f"{access.server}/version", headers=headers, ssl=tls) as answer,
        ):
            if answer.status in (401, 403):
                raise UsageError(
                    f"{access.server} refused the credentials of the kubeconfig ({answer.status} {answer.reason}); renew them."
                )
            answer.raise_for_status()
            return str((await answer.json())["gitVersion"])
    except (aiohttp.ClientError, OSError, ValueError, KeyError) as err:
        raise SetupError(f"{access.server} does not answer /version: {err!r}; is the cluster running?") from err
