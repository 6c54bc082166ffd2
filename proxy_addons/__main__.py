"""The proxy process: `python -O -m staleproof.proxy_addons CONFIG`.

One mitmproxy master with just the addons that are needed, the relay and the control API in its event loop. Writes a ready file
once everything listens; ends by SIGTERM; ends with code 3 when any hook failed, because traffic that passed unseen proves nothing.
"""

import asyncio
import contextlib
import logging
import os
import signal
import ssl
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from aiohttp import web
from mitmproxy import master, options
from mitmproxy.addons import core, disable_h2c, errorcheck, next_layer, proxyserver, tlsconfig
from mitmproxy.proxy import server
from mitmproxy.proxy.mode_specs import ProxyMode

from .board import Board
from .control import application
from .journal import Journal
from .recorder import Identities, Recorder
from .relay import Relay
from .watch_gate import WatchGate

_NEVER = 10**7
_BROKEN = 3
_LAST_WORDS_SECONDS = 2.0


class Config(msgspec.Struct, rename="camel"):
    """What the harness tells the proxy, in a file that only its owner may read.

    Attributes:
        upstream: URL of the API server, e.g. https://127.0.0.1:6443.
        upstream_ca: file with its CA.
        client_certificate: PEM file with key and certificate to present upstream; empty means that clients' tokens are passed on.
        confdir: folder for the proxy's own CA.
        tokens: bearer token → name of the client.
        control_token: what callers of the control API must send.
        ready: file to write {"port", "controlPort"} to once everything listens.
    """

    upstream: str
    upstream_ca: str
    confdir: str
    control_token: str
    ready: str
    client_certificate: str = ""
    tokens: dict[str, str] = {}
    listen_port: int = 0


class Failures(logging.Handler):
    """mitmproxy logs a broken hook or a crashed connection at ERROR and carries on; then the trial proves nothing."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[str] = []
        self.on_failure: Callable[[str], None] = lambda why: None

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        self.seen.append(text)
        print(text, file=sys.stderr, flush=True)  # noqa: T201  # stderr is the proxy's log
        self.on_failure(text)


class Ready:
    """Hook: running. Starts the control API and says that everything listens."""

    def __init__(self, proxy: proxyserver.Proxyserver, board: Board, config: Config) -> None:
        self._proxy, self._board, self._config = proxy, board, config

    async def running(self) -> None:
        runner = web.AppRunner(application(self._board, self._config.control_token), access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        ports = {"port": self._proxy.listen_addrs()[0][1], "controlPort": runner.addresses[0][1]}
        path = Path(self._config.ready)
        draft = path.with_suffix(".draft")
        draft.write_bytes(msgspec.json.encode(ports))
        draft.replace(path)


async def serve(config: Config) -> int:
    mode = f"reverse:{config.upstream}"
    ProxyMode.parse(mode).transport_protocol = "tcp"  # type: ignore[misc]  # parse() is cached: this one listens, and not on UDP as well
    opts = options.Options(listen_host="127.0.0.1", listen_port=config.listen_port, confdir=config.confdir, mode=[mode])
    proxy = proxyserver.Proxyserver()
    failures = Failures()
    logging.getLogger().addHandler(failures)
    logging.getLogger().setLevel(logging.WARNING)
    m = master.Master(opts, event_loop=asyncio.get_running_loop())
    board = Board(Journal(), m.shutdown)
    failures.on_failure = lambda why: board.fail("proxy", why)
    identities = Identities(config.tokens, "controller" if config.client_certificate else "unknown")
    url = urlsplit(config.upstream)
    relay = Relay(url.hostname or "127.0.0.1", url.port or 443, _upstream_tls(config), board)
    m.addons.add(core.Core(), proxy, next_layer.NextLayer(), tlsconfig.TlsConfig(), disable_h2c.DisableH2C(),
                 errorcheck.ErrorCheck(), WatchGate(relay, identities, proxy, board), Recorder(board, identities),
                 Ready(proxy, board, config))  # fmt: skip
    opts.update(http2=False, connection_strategy="lazy", websocket=False, ssl_verify_upstream_trusted_ca=config.upstream_ca)
    if config.client_certificate:
        opts.update(client_certs=config.client_certificate)
    if hasattr(server, "TCP_TIMEOUT"):  # up to mitmproxy 12.2.0; a quiet watch must not be cut
        server.TCP_TIMEOUT = _NEVER
    else:
        opts.update(tcp_timeout=_NEVER)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, m.shutdown)
    await m.run()
    logging.disable()  # what is cancelled from here on complains
    with contextlib.suppress(TimeoutError):  # a reader that does not read must not keep us
        await asyncio.wait_for(board.journal.read(), _LAST_WORDS_SECONDS)
    return _BROKEN if failures.seen else 0


def _upstream_tls(config: Config) -> ssl.SSLContext:
    tls = ssl.create_default_context(cafile=config.upstream_ca)
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT  # from Python 3.13 on; CAs of test clusters often lack keyUsage
    if config.client_certificate:
        tls.load_cert_chain(config.client_certificate)
    return tls


def main() -> None:
    config = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Config)
    code = asyncio.run(serve(config))
    logging.shutdown()
    os._exit(code)  # connections and relays that still run end with the process


if __name__ == "__main__":
    main()
