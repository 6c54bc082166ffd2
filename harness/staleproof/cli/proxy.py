"""`staleproof proxy`: a proxy by itself, driven over HTTP by a client that has its control token.

It decides what the options may be, what is printed where (one line of JSON for programs, the rest for people) and which files it
makes and removes. `drive.proxy.serve` runs the proxy itself.
"""

import asyncio
import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

from staleproof.cli.signals import cancel_on_signals
from staleproof.core.control import InstallPlan
from staleproof.core.control import read as read_body
from staleproof.core.plan.plan import PlanError
from staleproof.core.plan.plan import decode as decode_plan
from staleproof.drive.cluster.access import Access
from staleproof.drive.cluster.control_plane.existing import load_access
from staleproof.drive.cluster.control_plane.plane import kubeconfig
from staleproof.drive.process.address import parse_address, require_free
from staleproof.drive.process.private import private_folder, write_private
from staleproof.drive.proxy.serve import OnDisconnect, StandAlone, StandAloneOptions, stand_alone, unreachable, upstream_at
from staleproof.errors import UsageError

MARK = b"# Written by staleproof proxy, which removes it when it ends.\n"
_FILE = click.Path(dir_okay=False, path_type=Path)
_PLAN = "Faults that act at once: a plan.json, or the body of PUT /v1/plan. Step 1 begins; the other steps are up to the caller."
_LISTEN = "Where clients of the API server connect; port 0 takes a free one."
_CONTROL = "Where the control API listens: plain HTTP, so keep it on this machine."
_TOKEN_FILE = "Holds the control token. If missing, it is written, and removed at the end; left out, the token is printed."
_CLIENT = "Write a kubeconfig that leads through the proxy, and remove it at the end."
_DISCONNECT = "When the last reader of GET /v1/entries?runner=true has gone: release everything, end the proxy, or do nothing."
_REMOTE = "Let the kubeconfig's cluster be one that is not on this machine."


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(StandAloneOptions):
    """The command line, of which exactly one of `upstream` and `kubeconfig` is given."""

    upstream: str
    upstream_ca: Path | None
    kubeconfig: Path | None
    allow_remote: bool
    token_file: Path | None
    client_kubeconfig: Path | None


@click.command()
@click.option("--upstream", default="", metavar="URL", help="The API server, for clients with tokens of their own.")
@click.option("--upstream-ca", type=_FILE, help="Its CA; left out, those that this machine trusts.")
@click.option("--kubeconfig", type=_FILE, help="Instead of --upstream: the current context's server, CA and user.")
@click.option("--allow-remote-cluster", "allow_remote", is_flag=True, help=_REMOTE)
@click.option("--listen", default="127.0.0.1:0", show_default=True, metavar="HOST:PORT", help=_LISTEN)
@click.option("--control", default="127.0.0.1:0", show_default=True, metavar="HOST:PORT", help=_CONTROL)
@click.option("--token-file", type=_FILE, help=_TOKEN_FILE)
@click.option("--client-kubeconfig", type=_FILE, help=_CLIENT)
@click.option("--plan", type=_FILE, help=_PLAN)
@click.option("--on-disconnect", type=click.Choice(get_args(OnDisconnect)), default="heal", show_default=True, help=_DISCONNECT)
def proxy(**given: Any) -> None:  # noqa: ANN401  # click's
    """Put a proxy in front of an API server and let any program drive its faults over HTTP.

    Prints one line of JSON once everything listens: server, control, token (or tokenFile), ca. `staleproof schema control` prints
    the OpenAPI document of the control API. A client certificate cannot pass a proxy: if the kubeconfig's user has one, the proxy
    presents it for all that connect.

    Exit code 0: Ctrl-C, TERM, or --on-disconnect=exit. 4: your input is wrong. 11: it did not start, or it died. 3: part of it
    failed, so what clients saw since proves nothing.
    """
    options = _options(given)
    with control_token(options.token_file) as token, own_file(options.client_kubeconfig):
        asyncio.run(_serve(options, token))


def _options(given: dict[str, Any]) -> Options:
    if bool(given["upstream"]) is (given["kubeconfig"] is not None):
        raise UsageError("name the API server: either --upstream URL or --kubeconfig FILE")
    if given["kubeconfig"] is not None and given["upstream_ca"] is not None:
        raise UsageError("--upstream-ca goes with --upstream; a kubeconfig has a CA of its own")
    plan = None if given["plan"] is None else read_faults(given["plan"])
    return Options(**given | {"plan": plan, **{name: parse_address(given[name], f"--{name}") for name in ("listen", "control")}})


async def _serve(options: Options, token: str) -> None:
    cancel_on_signals()  # also while it starts
    with suppress(asyncio.CancelledError), private_folder("proxy") as folder:
        upstream = await _upstream(options, folder)
        for wanted, option in ((options.listen, "--listen"), (options.control, "--control")):
            require_free(wanted, option)
        async with stand_alone(options, upstream, folder, control_token=token) as running:
            if options.client_kubeconfig is not None:
                # Without a token it names no user: the proxy presents a certificate, or the user of the file adds credentials.
                client = Access(server=running.server, ca_file=running.ca_file, token=upstream.token)
                write_private(options.client_kubeconfig, MARK + kubeconfig(client, user="client"))
            _say(options, upstream, await unreachable(upstream), running)
            click.echo(json.dumps(ready_line(options, running, token)))
            await running.ended()
            click.echo("The last runner has gone, so the proxy has ended (--on-disconnect=exit).", err=True)


async def _upstream(options: Options, folder: Path) -> Access:
    if options.kubeconfig is None:
        return upstream_at(options.upstream, options.upstream_ca)
    return await asyncio.to_thread(load_access, options.kubeconfig, folder, allow_remote=options.allow_remote)


def ready_line(options: Options, running: StandAlone, token: str) -> dict[str, str]:
    """What a program needs to know about the running proxy."""
    secret = {"token": token} if options.token_file is None else {"tokenFile": str(options.token_file.resolve())}
    return {"server": running.server, "control": running.control, **secret, "ca": str(running.ca_file)}


def _say(options: Options, upstream: Access, unreached: str, running: StandAlone) -> None:
    """Print what a user wants to know."""
    lines = [
        f"clients: {running.server} leads to {upstream.server}",
        f"control: {running.control} (calls: {running.control}/v1/openapi.json, or staleproof schema control)",
    ]
    if unreached:
        lines.append(f"note: {upstream.server} does not answer ({unreached}); until it does, clients are answered 502")
    if upstream.client_certificate is not None and not options.listen.is_loopback:
        lines.append(f"WARNING: every client that can reach {running.server} acts as the user of {options.kubeconfig}")
    if not options.control.is_loopback:
        lines.append("WARNING: the control API is plain HTTP and can be reached from other machines")
    if options.client_kubeconfig is not None:
        lines.append(f"Try: kubectl --kubeconfig={options.client_kubeconfig} get namespaces")
    click.echo("\n".join([*lines, "Ctrl-C ends it."]), err=True)


def read_faults(path: Path) -> InstallPlan:
    """The faults of a plan, or the body of a call. A plan's steps are not done: a proxy alone does none."""
    try:
        data = path.read_bytes()
        raw = msgspec.json.decode(data)
    except OSError as err:
        raise UsageError(f"--plan: cannot read {path}: {err.strerror}") from err
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise UsageError(f"--plan {path}: not JSON: {err}") from err
    try:
        if isinstance(raw, dict) and "kind" in raw:
            plan = decode_plan(data)
            data = msgspec.json.encode(InstallPlan(plan.faults, contract=plan.contract))
        return read_body(data, InstallPlan)
    except PlanError as err:
        raise UsageError(
            f"--plan {path}: {err}. Expected a plan.json or the body of PUT /v1/plan; staleproof schema control describes it"
        ) from err


@contextmanager
def control_token(path: Path | None) -> Iterator[str]:
    """The token in the file. Without a file it is a new one, written to `path` if there is one and removed at the end."""
    if path is not None and path.exists():
        yield _token_in(path)
        return
    made = secrets.token_urlsafe(24)
    if path is not None:
        write_private(path, made.encode() + b"\n")
    try:
        yield made
    finally:
        if path is not None:
            path.unlink(missing_ok=True)


def _token_in(path: Path) -> str:
    try:
        token = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as err:
        raise UsageError(f"--token-file: cannot read {path}: {err}") from err
    if not re.fullmatch(r"[!-~]{8,}", token):  # what a header can carry and is not guessed
        raise UsageError(f"--token-file: expected one word of at least 8 visible ASCII characters in {path}")
    return token


@contextmanager
def own_file(path: Path | None) -> Iterator[None]:
    """Make sure that a file which we write and remove is not one that another user wrote; remove it at the end."""
    if path is not None and path.exists() and not path.read_bytes().startswith(MARK):
        raise UsageError(f"--client-kubeconfig: {path} is there already, and not from staleproof proxy; name a new file")
    try:
        yield
    finally:
        if path is not None:
            path.unlink(missing_ok=True)
