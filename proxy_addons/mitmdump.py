"""The proxy as a script, for people who run mitmproxy themselves, with addons of their own beside ours:

    mitmdump -s PATH/mitmdump.py --listen-host 127.0.0.1 --mode reverse:https://127.0.0.1:6443 \\
             --set ssl_verify_upstream_trusted_ca=ca.crt --set staleproof_token=SECRET

It does what `staleproof proxy` does, with the same parts, and ends with code 3 when one of them fails. mitmproxy must run in the
environment that staleproof is installed in, where `python -c 'import staleproof.proxy_addons as p; print(p.__path__[0])'` prints
PATH. The control API's address is in the log; `--set staleproof_control=HOST:PORT` chooses it.

What differs: mitmproxy's other addons are there, too (the dumper, which `-q` silences, flow files, filters), and about halve the
requests a second. `http2`, `websocket` and `connection_strategy` are set to what watches need, whatever the command line says.
`client_certs` must be one file; `ssl_insecure` is refused. A script that was changed is not loaded again: restart mitmdump. Other
users of the machine can see the values of --set in the list of processes; the token can stand in mitmproxy's config.yaml instead.
"""

import logging
import sys
from pathlib import Path
from typing import get_args

from mitmproxy import addonmanager, ctx, exceptions
from mitmproxy.log import ALERT
from mitmproxy.proxy.mode_specs import ProxyMode, ReverseMode

# A script is loaded by its path and belongs to no package, so these imports cannot be relative.
from staleproof.proxy_addons.assembly import (  # noqa: TID251
    BROKEN,
    OPTIONS,
    Assembly,
    Settings,
    assemble,
    last_words,
    listen_on_tcp_alone,
    never_cut_quiet_connections,
)
from staleproof.proxy_addons.runner import OnDisconnect  # noqa: TID251

_CONTROL = "127.0.0.1:0"
_log = logging.getLogger(__name__)


class Staleproof:
    """Hooks: load, configure, running, done. From `running` on, the parts are addons below it."""

    def __init__(self) -> None:
        self.addons: list[object] = []
        self._parts: Assembly | None = None

    def load(self, loader: addonmanager.Loader) -> None:
        loader.add_option("staleproof_token", str, "", "What callers of the control API must send as a bearer token.")
        loader.add_option("staleproof_control", str, _CONTROL, "Where the control API listens; port 0 takes a free one.")
        loader.add_option(
            "staleproof_on_disconnect",
            str,
            "heal",
            "When the last reader of GET /v1/entries?runner=true has gone: release everything, end, or nothing.",
            choices=get_args(OnDisconnect),
        )

    def configure(self, updated: set[str]) -> None:
        if self._parts is not None:
            if updated & (OPTIONS.keys() | {"mode", "ssl_insecure", "client_certs", "ssl_verify_upstream_trusted_ca"}):
                raise exceptions.OptionsError("staleproof: this option cannot be changed any more; start mitmdump anew")
            return
        _settings()
        listen_on_tcp_alone(ctx.options.mode[0])

    async def running(self) -> None:
        ctx.options.update(**OPTIONS)
        never_cut_quiet_connections(ctx.options)
        proxyserver = ctx.master.addons.get("proxyserver")
        parts = assemble(_settings(), proxyserver, ctx.master.shutdown, _say_ready)
        logging.getLogger().addHandler(parts.failures)
        self._parts, self.addons = parts, list(parts.addons)  # mitmproxy goes on to their `running`

    async def done(self) -> None:
        if self._parts is None:
            return
        logging.getLogger().removeHandler(self._parts.failures)  # what is cancelled from here on complains
        await last_words(self._parts.state)
        if self._parts.failures.seen:
            sys.exit(BROKEN)


def _settings() -> Settings:
    """The settings that the options ask for. Raises OptionsError when one of them makes no sense."""
    options = ctx.options
    if not options.staleproof_token:
        raise exceptions.OptionsError("staleproof: expected --set staleproof_token=SECRET, found none; callers must send it")
    if options.ssl_insecure:
        raise exceptions.OptionsError("staleproof: ssl_insecure is not for watches; name the CA: ssl_verify_upstream_trusted_ca")
    certificate = _path(options.client_certs)
    if certificate and not Path(certificate).is_file():
        raise exceptions.OptionsError(f"staleproof: client_certs: expected one PEM file, found {certificate!r}")
    host, _, port = options.staleproof_control.rpartition(":")
    if not host or not port.isdecimal():
        raise exceptions.OptionsError(f"staleproof_control: expected HOST:PORT, found {options.staleproof_control!r}")
    if options.staleproof_on_disconnect not in get_args(OnDisconnect):  # --set does not look at choices
        raise exceptions.OptionsError(
            f"staleproof_on_disconnect: expected one of {get_args(OnDisconnect)}, found {options.staleproof_on_disconnect!r}"
        )
    return Settings(
        upstream=_upstream(options.mode),
        control_token=options.staleproof_token,
        upstream_ca=_path(options.ssl_verify_upstream_trusted_ca),
        client_certificate=certificate,
        control_host=host.strip("[]"),
        control_port=int(port),
        on_disconnect=options.staleproof_on_disconnect,
    )


def _path(option: str | None) -> str:
    return str(Path(option).expanduser()) if option else ""


def _upstream(modes: list[str]) -> str:
    found = [ProxyMode.parse(mode) for mode in modes]
    if len(found) != 1 or not isinstance(found[0], ReverseMode) or found[0].scheme != "https":
        raise exceptions.OptionsError(f"staleproof: expected --mode reverse:https://HOST:PORT, found {modes}")
    host, port = found[0].address
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def _say_ready(port: int) -> None:
    _log.log(ALERT, "staleproof control API: http://%s:%d", ctx.options.staleproof_control.rpartition(":")[0], port)


addons = [Staleproof()]
