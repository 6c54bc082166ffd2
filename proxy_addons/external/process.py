"""The relay in a process of its own: one mitmproxy master with a listener for each external system, and the control API.

It is not the proxy's process, because that one stops listening, resets all its connections and counts all that it sees, as faults
of the Kubernetes API say. Writes a ready file once everything listens; ends by SIGTERM; ends with code 3 when any hook failed.
"""

import asyncio
import gc
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Literal, NoReturn

import msgspec
from aiohttp import web
from mitmproxy import master, options
from mitmproxy.addons import core, disable_h2c, errorcheck, next_layer, proxyserver, tlsconfig

from staleproof.core.times import LAST_WORDS_SECONDS, SHUTDOWN_SECONDS

from ..assembly import BROKEN, OPTIONS, Failures, listen_on_tcp_alone, never_cut_quiet_connections
from .control import application
from .systems import Systems
from .traffic import HttpTraffic, Listeners, TcpTraffic


class Listener(msgspec.Struct, kw_only=True, rename="camel"):
    """What stands before one system.

    Attributes:
        system: its name.
        protocol: what is spoken.
        upstream: where it is, as HOST:PORT.
        host, port: where we listen for its clients.
    """

    system: str
    protocol: Literal["postgresql", "http"]
    upstream: str
    host: str
    port: int

    @property
    def mode(self) -> str:
        """mitmproxy's name of it."""
        scheme = "http" if self.protocol == "http" else "tcp"
        return f"reverse:{scheme}://{self.upstream}@{self.host}:{self.port}"


class Config(msgspec.Struct, kw_only=True, rename="camel"):
    """What the harness tells the relay, through a pipe that only its owner may read. `ready` is the file to write {"controlPort"}
    to once everything listens."""

    confdir: str
    ready: str
    control_token: str
    listeners: list[Listener]


def read_config(path: Path) -> Config:
    """The configuration in the first line of this file."""
    with path.open("rb") as given:
        return msgspec.json.decode(given.readline(), type=Config)


class Ready:
    """Hook: running. Serves the control API, then says so."""

    def __init__(self, api: web.Application, path: Path) -> None:
        self._api, self._path = api, path

    async def running(self) -> None:
        runner = web.AppRunner(self._api, access_log=None, shutdown_timeout=SHUTDOWN_SECONDS, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        draft = self._path.with_suffix(".draft")
        draft.write_bytes(msgspec.json.encode({"controlPort": runner.addresses[0][1]}))
        draft.replace(self._path)


async def serve(config: Config) -> NoReturn:
    modes = {each.mode: each.system for each in config.listeners}
    for mode in modes:
        listen_on_tcp_alone(mode)
    opts = options.Options(confdir=config.confdir, mode=list(modes))
    proxy = proxyserver.Proxyserver()
    m = master.Master(opts, event_loop=asyncio.get_running_loop())
    systems = Systems(list(modes.values()))
    failures = Failures(lambda _: m.shutdown())
    _log_to(failures)
    api = application(systems, config.control_token)
    listeners = Listeners(systems, modes, proxy)
    traffic = (TcpTraffic(listeners), HttpTraffic(listeners))
    m.addons.add(core.Core(), proxy, next_layer.NextLayer(), tlsconfig.TlsConfig(), disable_h2c.DisableH2C(),
                 errorcheck.ErrorCheck(), *traffic, Ready(api, Path(config.ready)))  # fmt: skip
    opts.update(**OPTIONS)
    never_cut_quiet_connections(opts)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, m.shutdown)
    gc.freeze()
    await m.run()
    logging.disable()  # what is cancelled from here on complains
    await _last_words(systems)
    logging.shutdown()
    os._exit(BROKEN if failures.seen else 0)


def _log_to(failures: Failures) -> None:
    complaints = logging.StreamHandler(sys.stderr)
    complaints.setLevel(logging.ERROR)
    for handler in (complaints, failures):
        logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.WARNING)


async def _last_words(systems: Systems) -> None:
    try:
        await asyncio.wait_for(systems.journal.read(), LAST_WORDS_SECONDS)
    except TimeoutError:
        return
