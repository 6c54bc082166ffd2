"""All of the proxy that is not mitmproxy itself, put together in one place: for our own process and for mitmdump.

It decides what belongs to a proxy, and that a part that fails stops it. `__main__` and `mitmdump` decide which mitmproxy runs it,
and on which address.
"""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from aiohttp import web
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.options import Options
from mitmproxy.proxy import server
from mitmproxy.proxy.mode_specs import ProxyMode

from staleproof.core.times import LAST_WORDS_SECONDS, SHUTDOWN_SECONDS

from .api_server import ApiServer
from .connections import Connections
from .control import application
from .identities import Identities
from .journal import Journal
from .proxy_state import ProxyState
from .relay import Relay
from .request_faults import RequestFaults
from .runner import OnDisconnect, Runner
from .shortcut import Shortcut
from .traffic import Traffic

BROKEN = 3
"""The exit code once a part has failed."""
_NEVER = 10**7
OPTIONS = {"http2": False, "connection_strategy": "lazy", "websocket": False}
"""HTTP/1.1 alone gives each watch its own client connection; upgraded connections pass as raw TCP."""


class Settings(msgspec.Struct, kw_only=True, rename="camel"):
    """What a proxy needs to know.

    Attributes:
        upstream: URL of the API server, e.g. https://127.0.0.1:6443.
        upstream_ca: file with its CA; empty means those that this machine trusts.
        client_certificate: PEM file with key and certificate to present upstream; empty means that clients' tokens are passed on.
        tokens: bearer token → name of the client.
        programs: bearer token → name of each further program of the subject. The API server does not know these tokens: what comes
            with one is passed on with `controller_token`, or without any if that is empty.
        rival_token: of the user that makes competing writes; empty means the client that is competed with.
        control_token: what callers of the control API must send.
        control_host, control_port: where the control API listens; port 0 takes a free one.
        on_disconnect: what happens when the last runner's connection is gone.
    """

    upstream: str
    control_token: str
    upstream_ca: str = ""
    client_certificate: str = ""
    tokens: dict[str, str] = {}
    programs: dict[str, str] = {}
    controller_token: str = ""
    rival_token: str = ""
    control_host: str = "127.0.0.1"
    control_port: int = 0
    on_disconnect: OnDisconnect = "nothing"


class Failures(logging.Handler):
    """mitmproxy logs a broken hook or a crashed connection at ERROR and carries on; then the trial proves nothing."""

    def __init__(self, on_failure: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self.seen = False
        self._on_failure = on_failure

    def emit(self, record: logging.LogRecord) -> None:
        self.seen = True
        self._on_failure(self.format(record))


class ControlServer:
    """Hook: running. Serves the control API, then says on which port."""

    def __init__(self, api: web.Application, settings: Settings, on_ready: Callable[[int], None]) -> None:
        self._api, self._settings, self._on_ready = api, settings, on_ready

    async def running(self) -> None:
        # A handler is cancelled as soon as its caller has left: that is how the end of a runner is noticed.
        runner = web.AppRunner(self._api, access_log=None, shutdown_timeout=SHUTDOWN_SECONDS, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, self._settings.control_host, self._settings.control_port).start()
        self._on_ready(runner.addresses[0][1])


@dataclass(frozen=True, slots=True)
class Assembly:
    """A proxy's parts. `addons` are mitmproxy addons, in the order in which their hooks have to run; `shortcut` is one, too, for a
    proxy in which no other addon wants to see every flow."""

    state: ProxyState
    failures: Failures
    addons: tuple[object, ...]
    shortcut: Shortcut


def assemble(settings: Settings, proxyserver: Proxyserver, stop: Callable[[], None], on_ready: Callable[[int], None]) -> Assembly:
    """Call it in the event loop that mitmproxy runs in. `stop` ends the process; `on_ready` gets the control API's port."""
    connections = Connections(proxyserver)
    state = ProxyState(Journal(), stop, connections)
    failures = Failures(lambda why: state.fail("proxy", why))
    default = "controller" if settings.client_certificate else "unknown"
    identities = Identities(settings.tokens, default, settings.programs, settings.controller_token)
    api_server = ApiServer(settings.upstream, _upstream_tls(settings))
    relay = Relay(state, api_server)
    faults = RequestFaults(state, connections, relay, api_server, settings.rival_token)
    api = application(state, settings.control_token, Runner(state, settings.on_disconnect))
    addons = (
        Traffic(state, identities, connections, relay, faults),
        ControlServer(api, settings, on_ready),  # last: everything else is ready when it says so
    )
    return Assembly(state, failures, addons, Shortcut(state, identities, api_server))


async def last_words(state: ProxyState) -> None:
    """Let the readers have what happened last, but do not wait for one that does not read."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(state.journal.read(), LAST_WORDS_SECONDS)


def listen_on_tcp_alone(mode: str) -> None:
    """reverse:https would listen for QUIC as well. parse() is cached: this is the instance that listens."""
    ProxyMode.parse(mode).transport_protocol = "tcp"  # type: ignore[misc]


def never_cut_quiet_connections(options: Options) -> None:
    """A watch without bookmarks may be silent for hours."""
    if hasattr(server, "TCP_TIMEOUT"):  # up to mitmproxy 12.2.0
        server.TCP_TIMEOUT = _NEVER
    else:
        options.update(tcp_timeout=_NEVER)


def _upstream_tls(settings: Settings) -> ssl.SSLContext:
    tls = ssl.create_default_context(cafile=settings.upstream_ca or None)
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT  # from Python 3.13 on; CAs of test clusters often lack keyUsage
    if settings.client_certificate:
        tls.load_cert_chain(settings.client_certificate)
    return tls
