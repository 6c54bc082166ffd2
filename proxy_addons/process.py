"""The proxy in a process of its own: one mitmproxy master with just the addons that are needed, the relay and the control API in
its event loop.

Writes a ready file once everything listens; ends by SIGTERM; ends with code 3 when any hook failed, because traffic that passed
unseen proves nothing.
"""

import asyncio
import gc
import logging
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

import msgspec
from mitmproxy import certs, master, options
from mitmproxy.addons import core, disable_h2c, errorcheck, next_layer, proxyserver, tlsconfig
from mitmproxy.proxy import context

from .assembly import BROKEN, OPTIONS, Settings, assemble, last_words, listen_on_tcp_alone, never_cut_quiet_connections


class Config(Settings, kw_only=True, rename="camel"):
    """What the harness tells the proxy, in a file that only its owner may read.

    Attributes:
        confdir: folder for the proxy's own CA.
        ready: file to write {"port", "controlPort"} to once everything listens.
        listen_host, listen_port: where we listen for clients; port 0 takes a free one.
        host: what clients that connect to an address connect to; empty means `listen_host`.
    """

    confdir: str
    ready: str
    listen_host: str = "127.0.0.1"
    listen_port: int = 0
    host: str = ""


class Certificates(tlsconfig.TlsConfig):
    """Certificates for what clients call us. One that connects to an address does not say which, and mitmproxy takes it for the one
    that the connection came to: another one where addresses are translated on the way."""

    def __init__(self, host: str) -> None:
        self._host = host

    def get_cert(self, conn_context: context.Context) -> certs.CertStoreEntry:
        client = conn_context.client
        said, client.sni = client.sni, client.sni or self._host or None
        try:
            return super().get_cert(conn_context)
        finally:
            client.sni = said


def read_config(path: Path) -> Config:
    """The configuration in the first line of this file."""
    with path.open("rb") as given:
        return msgspec.json.decode(given.readline(), type=Config)


async def serve(config: Config) -> NoReturn:
    mode = f"reverse:{config.upstream}"
    listen_on_tcp_alone(mode)
    opts = options.Options(listen_host=config.listen_host, listen_port=config.listen_port, confdir=config.confdir, mode=[mode])
    proxy = proxyserver.Proxyserver()
    m = master.Master(opts, event_loop=asyncio.get_running_loop())
    parts = assemble(config, proxy, m.shutdown, lambda port: _say_ready(Path(config.ready), proxy, port))
    complaints = logging.StreamHandler(sys.stderr)  # the proxy's log
    complaints.setLevel(logging.ERROR)
    for handler in (complaints, parts.failures):
        logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.WARNING)
    m.addons.add(core.Core(), proxy, next_layer.NextLayer(), Certificates(config.host), disable_h2c.DisableH2C(),
                 errorcheck.ErrorCheck(), *parts.addons, parts.shortcut)  # fmt: skip
    opts.update(**OPTIONS, ssl_verify_upstream_trusted_ca=config.upstream_ca or None)
    if config.client_certificate:
        opts.update(client_certs=config.client_certificate)
    never_cut_quiet_connections(opts)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, m.shutdown)
    gc.freeze()  # what has been loaded stays: looking through it again and again takes time in which no frame leaves
    await m.run()
    logging.disable()  # what is cancelled from here on complains
    await last_words(parts.state)
    logging.shutdown()
    os._exit(BROKEN if parts.failures.seen else 0)  # connections and relays that still run end with the process


def _say_ready(path: Path, proxy: proxyserver.Proxyserver, control_port: int) -> None:
    """Write the file in one go: a process that waits for it may read it at once."""
    draft = path.with_suffix(".draft")
    draft.write_bytes(msgspec.json.encode({"port": proxy.listen_addrs()[0][1], "controlPort": control_port}))
    draft.replace(path)
