"""etcd and kube-apiserver on loopback, for one run.

It decides their flags, what "ready" means, when a start is tried again (a port was taken meanwhile) and the order of the stop. The
two start side by side: kube-apiserver has a lot to do before it looks for its etcd, and asks again until that answers. It does not
decide where the programs come from, nor whether they run as processes or in containers.
"""

import secrets
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aiohttp

from staleproof.core.times import APISERVER_GRACE_SECONDS, GRACE_SECONDS, PROBE_ANSWER_SECONDS, READY_SECONDS
from staleproof.drive.cluster.access import Access
from staleproof.drive.process.address import free_port
from staleproof.drive.process.private import large_root, private_folder
from staleproof.drive.process.process import Command, Process
from staleproof.drive.process.program import Program
from staleproof.drive.programs.progress import Progress, working
from staleproof.errors import HarnessBug, SetupError

from .credentials import Credentials, make_credentials
from .plane import RUNNER, USERS, ControlPlane

TRIES = 5
# All but the priority classes of the system, which it looks for in a loop of half a second, and for which nothing here waits.
_READY = "/readyz?exclude=poststarthook/scheduling/bootstrap-system-priority-classes"
# Fewer collections: a fifth less work, also while it starts. The limit keeps its memory where it is without this.
_APISERVER_MEMORY = {"GOGC": "400", "GOMEMLIMIT": "512MiB"}
REQUEST_LIMIT = aiohttp.ClientTimeout(total=PROBE_ANSWER_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A program that listens on a port of our choice, which reads some files and writes below some folders."""

    command: Callable[[int], Command]
    ready: Callable[[int], Awaitable[bool]]
    grace_seconds: float
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()


Launch = Callable[[Server, int], Awaitable[Program]]
"""Start a server on a port."""


def launch_process(server: Server, port: int) -> Awaitable[Process]:
    """Start a server as a process of this machine."""
    return Process.start(server.command(port))


@dataclass(frozen=True, slots=True, kw_only=True)
class Binaries:
    """Where a provider found the two programs, why it was that provider, and how they are started."""

    etcd: Path
    kube_apiserver: Path
    provider: str
    why: str
    launch: Launch = launch_process


@asynccontextmanager
async def run_local(
    binaries: Binaries,
    folder: Path,
    progress: Progress,
    *,
    ports: Callable[[], int] = free_port,
    accounts: Mapping[str, str] | None = None,
) -> AsyncIterator[ControlPlane]:
    """A control plane that is ready, stopped in order when the block is left. Its logs stay in `folder`. `accounts`: which users
    are ServiceAccounts (`namespace/name`), about which RBAC decides; the others may do everything."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        # Keys, tokens and data go when the run ends; the logs in `folder` stay.
        private = stack.enter_context(private_folder("control-plane"))
        data = stack.enter_context(private_folder("etcd", root=large_root())) / "etcd"
        credentials = make_credentials(private, USERS, accounts)
        session = await stack.enter_async_context(_connected(credentials))

        def servers() -> tuple[tuple[Server, int], ...]:
            etcd_port, port = ports(), ports()
            etcd = _etcd(binaries.etcd, data, folder, session)
            return (etcd, etcd_port), (_apiserver(binaries.kube_apiserver, credentials, etcd_port, folder, session), port)

        with working(progress, "control plane: starting etcd and kube-apiserver", 2):
            # The stack is left in reverse: kube-apiserver first, and its etcd is there until it has gone.
            _, (_, port) = await on_free_ports(stack, servers, binaries.launch, on_ready=progress.advance)
        server = f"https://127.0.0.1:{port}"
        access = Access(server=server, ca_file=credentials.ca_file, token=credentials.tokens[RUNNER])
        yield ControlPlane(
            server=server,
            ca_file=credentials.ca_file,
            version=await access.version(),
            provider=binaries.provider,
            why=binaries.why,
            tokens=credentials.tokens,
            client_certificate=None,
            log_folder=folder,
            service_account_key_file=credentials.service_account_key_file,
        )


def port_taken(lines: list[str]) -> bool:
    """Whether a program says in its log that it could not listen."""
    return any("address already in use" in line for line in lines)


async def on_free_ports(
    stack: AsyncExitStack,
    servers: Callable[[], Sequence[tuple[Server, int]]],
    launch: Launch = launch_process,
    *,
    on_ready: Callable[[int], None] = lambda _: None,
) -> tuple[tuple[Program, int], ...]:
    """Start servers side by side, each on its port, and wait until they are ready; the programs with their ports.

    `servers` gives them in the order in which they need one another. If a port was taken meanwhile, it is called again, and all
    start again. `on_ready` gets the number of those that are ready. SetupError when one does not start; then none is left running.
    """
    for attempt in range(1, TRIES + 1):
        started: list[tuple[Program, int]] = []
        try:
            for server, port in (pairs := servers()):
                started.append((await launch(server, port), port))
                stack.push_async_callback(started[-1][0].stop, grace_seconds=server.grace_seconds)
            for number, ((server, port), (program, _)) in enumerate(zip(pairs, started, strict=True), 1):
                await program.ready(partial(server.ready, port), limit_seconds=READY_SECONDS)
                on_ready(number)
        except SetupError:
            may_go_on = attempt < TRIES and any(not program.running and port_taken(program.last_lines()) for program, _ in started)
            for program, _ in reversed(started):
                await program.stop(grace_seconds=0)  # what never was ready has nothing to put in order
            if not may_go_on:
                raise
        else:
            return tuple(started)
    raise HarnessBug("the last attempt to start a server neither returned nor raised")


def _etcd(program: Path, data: Path, logs: Path, session: aiohttp.ClientSession) -> Server:
    name = f"staleproof-{secrets.token_hex(8)}"

    def command(port: int) -> Command:
        address = f"http://127.0.0.1:{port}"
        argv = (
            str(program),
            f"--name={name}",
            f"--data-dir={data}",
            f"--listen-client-urls={address}",
            f"--advertise-client-urls={address}",
            "--listen-peer-urls=http://127.0.0.1:0",  # a cluster of one: no peer ever connects
            "--unsafe-no-fsync",
            "--log-level=error",
            "--watch-progress-notify-interval=5s",
        )
        return Command(name="etcd", argv=argv, log=logs / "etcd.log")

    async def ready(port: int) -> bool:
        """Our own etcd, by its name: another one that took the port first would answer as well."""
        try:
            async with session.post(f"http://127.0.0.1:{port}/v3/cluster/member/list", json={}) as answer:
                members = (await answer.json()).get("members", [])
                return answer.status == 200 and [member.get("name") for member in members] == [name]
        except (aiohttp.ClientError, OSError, ValueError):
            return False

    return Server(command=command, ready=ready, grace_seconds=GRACE_SECONDS, writes=(data,))


def _apiserver(program: Path, credentials: Credentials, etcd_port: int, logs: Path, session: aiohttp.ClientSession) -> Server:
    def command(port: int) -> Command:
        argv = (
            str(program),
            f"--etcd-servers=http://127.0.0.1:{etcd_port}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            # Without these it looks for an address to publish, and exits on a machine without a default route.
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            f"--cert-dir={credentials.ca_file.parent}",
            f"--tls-cert-file={credentials.certificate_file}",
            f"--tls-private-key-file={credentials.key_file}",
            f"--token-auth-file={credentials.tokens_file}",
            f"--authorization-mode={'RBAC' if credentials.accounts else 'AlwaysAllow'}",
            "--anonymous-auth=false",  # or AlwaysAllow would let in every user of this machine, without a token
            "--service-cluster-ip-range=10.0.0.0/24",
            "--allow-privileged=true",
            # Without the service account controller no namespace has a default account, and every pod is refused.
            "--disable-admission-plugins=ServiceAccount",
            f"--service-account-issuer=https://127.0.0.1:{port}/",
            f"--service-account-key-file={credentials.service_account_key_file}",
            f"--service-account-signing-key-file={credentials.service_account_key_file}",
            "--enable-priority-and-fairness=false",
            "--profiling=false",
        )
        return Command(name="kube-apiserver", argv=argv, log=logs / "apiserver.log", env=_APISERVER_MEMORY)

    async def ready(port: int) -> bool:
        """Verified with the CA of this run, so that no other kube-apiserver can answer for ours."""
        try:
            async with session.get(f"https://127.0.0.1:{port}{_READY}", headers=bearer) as answer:
                return answer.status == 200
        except (aiohttp.ClientError, OSError):
            return False

    bearer = {"Authorization": f"Bearer {credentials.tokens[RUNNER]}"}
    reads = (credentials.certificate_file, credentials.key_file, credentials.service_account_key_file, credentials.tokens_file)
    return Server(command=command, ready=ready, grace_seconds=APISERVER_GRACE_SECONDS, reads=reads)


@asynccontextmanager
async def _connected(credentials: Credentials) -> AsyncIterator[aiohttp.ClientSession]:
    verify = ssl.create_default_context(cafile=str(credentials.ca_file))
    verify.verify_flags |= ssl.VERIFY_X509_STRICT
    connector = aiohttp.TCPConnector(ssl=verify, force_close=True)
    async with aiohttp.ClientSession(connector=connector, timeout=REQUEST_LIMIT) as session:
        yield session
