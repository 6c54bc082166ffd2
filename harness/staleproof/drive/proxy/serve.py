"""A proxy that no trial of ours drives: for suites in any language, which talk to its control API themselves.

It decides what the end of the proxy process means. What happens to the clients is up to the caller of the control API.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import aiohttp

from staleproof.core.control import InstallPlan, Step
from staleproof.core.times import ANSWER_SECONDS, PROBE_ANSWER_SECONDS
from staleproof.drive.cluster.access import Access
from staleproof.drive.process.address import Address
from staleproof.drive.process.process import Process
from staleproof.drive.proxy.client import ca_file, command
from staleproof.drive.proxy.launch import loading_proxy
from staleproof.errors import HarnessBug, SetupError, UsageError

_PROBE = aiohttp.ClientTimeout(total=PROBE_ANSWER_SECONDS)
_COMMAND = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
_BROKEN = 3

OnDisconnect = Literal["heal", "exit", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandAloneOptions:
    """What to start. `plan` is installed, and its step 1 begun, before the address is known."""

    listen: Address
    control: Address
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


def upstream_at(url: str, ca_file: Path | None) -> Access:
    """An API server by its URL, for clients with credentials of their own. UsageError when it is no such URL, or the CA cannot be
    used."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or parts.path.strip("/") or parts.query:
        raise UsageError(f"--upstream: expected https://HOST:PORT and nothing behind it, found {url!r}; tokens need TLS")
    found = Access(server=url.rstrip("/"), ca_file=ca_file)
    try:
        found.tls()
    except OSError as err:  # SSLError is one
        why = err.strerror or err
        raise UsageError(f"--upstream-ca: {ca_file} cannot be used: {why}; name a PEM file with the CA of the API server") from err
    return found


async def unreachable(upstream: Access) -> str:
    """Why the API server cannot be reached now; empty when it answers, whatever it says."""
    try:
        async with aiohttp.ClientSession(timeout=_PROBE) as session, session.get(f"{upstream.server}/version", ssl=upstream.tls()):
            return ""
    except aiohttp.ClientConnectorError as err:
        return str(err.os_error)
    except (aiohttp.ClientError, OSError, TimeoutError) as err:
        return str(err) or type(err).__name__


@asynccontextmanager
async def stand_alone(
    options: StandAloneOptions, upstream: Access, folder: Path, *, control_token: str
) -> AsyncIterator[StandAlone]:
    """A ready proxy. The upstream's token is that of one client (without it, all bring their own); its client certificate is what
    the proxy presents for all clients. The folder must be a private one: it gets the key of the proxy's CA, the control token and
    the log. SetupError when it does not start."""
    config = {
        "tokens": {upstream.token: "controller"} if upstream.token else {},
        "listenHost": options.listen.host,
        "listenPort": options.listen.port,
        "controlHost": options.control.host,
        "controlPort": options.control.port,
        "controlToken": control_token,
        "onDisconnect": options.on_disconnect,
    }
    async with loading_proxy(folder, log=folder / "proxy.log") as loading:
        loading.tell(upstream, config)
        ports = await loading.listens()
        server = f"https://{_reached(options.listen, ports.port)}"
        control = f"http://{_reached(options.control, ports.control)}"
        if options.plan is not None:
            authorized = {"Authorization": f"Bearer {control_token}"}
            async with aiohttp.ClientSession(headers=authorized, timeout=_COMMAND) as session:
                await command(session, f"{control}/v1", "PUT", "plan", options.plan)
                await command(session, f"{control}/v1", "POST", "step", Step(1))
        yield StandAlone(loading.process, server, control, ca_file(folder))


def _reached(listening: Address, port: int) -> str:
    """Where a client on this machine connects: it cannot connect to "all addresses"."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(listening.host, listening.host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
