"""A proxy that no trial of ours drives: for suites in any language, which talk to its control API themselves.

It decides where the API server and the credentials for it come from, that an address must be free before anything starts, and what
the end of the proxy process means. What happens to the clients is up to whoever calls the control API.
"""

import errno
import ipaddress
import json
import socket
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import aiohttp
import msgspec

from staleproof.core.control import InstallPlan, Step
from staleproof.drive.cluster.control_plane.existing import is_loopback, load_access
from staleproof.drive.cluster.control_plane.plane import ControlPlaneOptions, write_private
from staleproof.drive.process.process import Command, Process
from staleproof.errors import HarnessBug, SetupError, UsageError

START_SECONDS = 60.0
_PROBE = aiohttp.ClientTimeout(total=5)
_COMMAND = aiohttp.ClientTimeout(total=60)
_BROKEN = 3

OnDisconnect = Literal["heal", "exit", "nothing"]


@dataclass(frozen=True, slots=True)
class Address:
    """Where something listens; port 0 takes a free one."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """An API server. An empty `ca_file` means the CAs that this machine trusts.

    `token` is that of the kubeconfig's user, if it has one; `client_certificate` (key and certificate in one PEM file) is
    what the proxy presents for everybody.
    """

    server: str
    ca_file: Path | None = None
    token: str = field(default="", repr=False)
    client_certificate: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to start. `plan` is installed, and its step 1 begun, before anybody knows the address."""

    upstream: Upstream
    listen: Address
    control: Address
    control_token: str = field(repr=False)
    on_disconnect: OnDisconnect
    plan: InstallPlan | None = None


@dataclass(frozen=True, slots=True)
class StandAlone:
    """A running proxy, by the URLs of its two sides."""

    process: Process
    server: str
    control: str
    ca_file: Path

    async def ended(self) -> None:
        """Return when the proxy has ended because that was asked for: with `exit`, when the last runner had gone.

        Raises:
            HarnessBug: a part of it failed.
            SetupError: it ended in any other way.
        """
        code = await self.process.wait()
        if code == _BROKEN:
            raise HarnessBug(f"the proxy stopped itself, because part of it failed.\n{self.process.account()}")
        if code != 0:
            raise SetupError(f"the proxy ended with code {code}; start it again.\n{self.process.account()}")


def address(text: str, option: str) -> Address:
    """HOST:PORT, an IPv6 address in brackets."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if not colon or not host or not (port.isascii() and port.isdigit()) or int(port) > 65535 or (":" in host and "[" not in text):
        raise UsageError(f"{option}: expected HOST:PORT, for example 127.0.0.1:0 or [::1]:8443, found {text!r}")
    return Address(host, int(port))


def require_free(wanted: Address, option: str) -> None:
    """Say so now if nobody can listen there; the proxy would take longer, and be less clear.

    Raises:
        UsageError: this machine has no such address, or we may not listen there.
        SetupError: somebody else listens there.
    """
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(wanted.host, wanted.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
            probe.listen()
    except OSError as err:
        problem = f"{option}: cannot listen on {wanted.host}:{wanted.port}"
        if err.errno == errno.EADDRINUSE:
            raise SetupError(f"{problem}: another program does; end it, or take another port (0 takes a free one)") from err
        raise UsageError(f"{problem}: {err.strerror}; name an address of this machine") from err


def upstream_at(url: str, ca_file: Path | None) -> Upstream:
    """An API server by its URL: clients bring credentials of their own."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or parts.path.strip("/") or parts.query:
        raise UsageError(f"--upstream: expected https://HOST:PORT and nothing behind it, found {url!r}; tokens need TLS")
    if ca_file is not None:
        _tls(ca_file)
    return Upstream(server=url.rstrip("/"), ca_file=ca_file)


def upstream_of(kubeconfig: Path, folder: Path, *, allow_remote: bool) -> Upstream:
    """The current context of a kubeconfig. What must be in files is written to the (private) folder."""
    access = load_access(kubeconfig, folder, ControlPlaneOptions(provider="existing", kubeconfig=kubeconfig, allow_remote=True))
    if not allow_remote and not is_loopback(access.server):
        raise UsageError(
            f"{kubeconfig} points at {access.server}, which is not this machine. Faults are outages, and some write: never put a "
            "cluster that matters behind them. If this one does not, say so: --allow-remote-cluster."
        )
    certificate = None if access.token else access.client_certificate
    return Upstream(server=access.server, ca_file=access.ca_file, token=access.token or "", client_certificate=certificate)


async def unreachable(upstream: Upstream) -> str:
    """Why the API server cannot be reached now; empty when it answers, whatever it says."""
    tls = _tls(upstream.ca_file)
    if upstream.client_certificate is not None:
        tls.load_cert_chain(upstream.client_certificate)
    try:
        async with aiohttp.ClientSession(timeout=_PROBE) as session, session.get(f"{upstream.server}/version", ssl=tls):
            return ""
    except aiohttp.ClientConnectorError as err:
        return str(err.os_error)
    except (aiohttp.ClientError, OSError, TimeoutError) as err:
        return str(err) or type(err).__name__


@asynccontextmanager
async def stand_alone(wanted: Wanted, folder: Path) -> AsyncIterator[StandAlone]:
    """A ready proxy. The folder must be a private one: it gets the key of the proxy's CA, the control token and the log.

    Raises:
        SetupError: it did not start.
    """
    ready = folder / "ready.json"
    upstream = wanted.upstream
    config = {
        "upstream": upstream.server,
        "upstreamCa": str(upstream.ca_file.resolve()) if upstream.ca_file else "",
        "clientCertificate": str(upstream.client_certificate or ""),
        "tokens": {upstream.token: "controller"} if upstream.token else {},
        "confdir": str(folder / "ca"),
        "ready": str(ready),
        "listenHost": wanted.listen.host,
        "listenPort": wanted.listen.port,
        "controlHost": wanted.control.host,
        "controlPort": wanted.control.port,
        "controlToken": wanted.control_token,
        "onDisconnect": wanted.on_disconnect,
    }
    write_private(folder / "config.json", json.dumps(config).encode())
    argv = (sys.executable, "-O", "-m", "staleproof.proxy_addons", str(folder / "config.json"))
    process = await Process.start(Command(name="proxy", argv=argv, log=folder / "proxy.log"))
    try:
        await process.ready(lambda: _exists(ready), limit_seconds=START_SECONDS)
        ports = json.loads(ready.read_bytes())
        server, control = (
            f"https://{_reached(wanted.listen, ports['port'])}",
            f"http://{_reached(wanted.control, ports['controlPort'])}",
        )
        running = StandAlone(process, server, control, folder / "ca" / "mitmproxy-ca-cert.pem")
        if wanted.plan is not None:
            await _install(wanted.plan, control, wanted.control_token)
        yield running
    finally:
        await process.stop(grace_seconds=5.0)


async def _exists(path: Path) -> bool:
    return path.exists()


async def _install(plan: InstallPlan, control: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(control, headers=headers, timeout=_COMMAND) as session:
        for method, path, body in (("PUT", "/v1/plan", plan), ("POST", "/v1/step", Step(1))):
            async with session.request(method, path, data=msgspec.json.encode(body)) as answer:
                if answer.status != 200:
                    raise HarnessBug(f"the proxy refused a plan that had been found good: {await answer.text()}")


def _reached(listening: Address, port: int) -> str:
    """Where a client on this machine connects: "all addresses" is none."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(listening.host, listening.host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _tls(ca_file: Path | None) -> ssl.SSLContext:
    try:
        tls = ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    except OSError as err:  # SSLError is one
        why = err.strerror or err
        raise UsageError(f"--upstream-ca: {ca_file} cannot be used: {why}; name a PEM file with the CA of the API server") from err
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT  # CAs of real clusters are what they are
    return tls
