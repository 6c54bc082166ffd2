"""`staleproof proxy`, and the same parts under mitmdump: before a real kube-apiserver, driven over HTTP as a stranger would.

One control plane serves the whole file, with a user known by token and one known by certificate; every test starts its own proxy.
"""

import asyncio
import contextlib
import datetime
import itertools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import kubernetes
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from staleproof.drive.cluster.api import Api, connect
from staleproof.drive.cluster.control_plane import CONTROLLER, KUBERNETES_VERSION, RUNNER, ControlPlane, ControlPlaneOptions, Silent
from staleproof.drive.cluster.control_plane import control_plane as started
from staleproof.drive.cluster.control_plane.build import ensure_built
from staleproof.drive.cluster.control_plane.cache import cache_root
from staleproof.drive.cluster.control_plane.toolchain import find_go
from staleproof.errors import SetupError

from .proxy_client import LIMIT_SECONDS, Connection, Watching, trusting
from .proxy_stage import Lasting, named

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "fixtures" / "examples" / "go"
SCRIPT = ROOT / "proxy_addons" / "mitmdump.py"
HOLD = {"fault": "Hold", "resource": "configmaps"}
USAGE, SETUP, BROKEN = 4, 11, 3


@dataclass(frozen=True, slots=True)
class Scene:
    """A control plane, a direct client, and two kubeconfigs."""

    plane: ControlPlane
    api: Api
    by_token: Path
    by_certificate: Path


@dataclass(frozen=True, slots=True)
class Where:
    """The two sides of a proxy."""

    server: str
    ca_file: Path
    control: str
    token: str

    def session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(self.control, headers={"Authorization": f"Bearer {self.token}"})

    async def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401  # any JSON
        async with self.session() as session, session.request(method, path, json=body) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()


# --- the programs --------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def running(argv: Sequence[str], folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A program whose private folders are in `folder`; killed at the latest in the end."""
    env = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    env |= {"TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"}
    process = await asyncio.create_subprocess_exec(
        *argv, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=folder
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


@asynccontextmanager
async def staleproof_proxy(
    folder: Path, *arguments: str | Path
) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, str]]]:
    """The command, once it is ready, and what it says then."""
    async with running([sys.executable, "-m", "staleproof", "proxy", *map(str, arguments)], folder) as process:
        async with asyncio.timeout(LIMIT_SECONDS):
            line = await stdout_of(process).readline()
        assert line, (await process.communicate())[1].decode()
        yield process, json.loads(line)


def stdout_of(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    assert process.stdout is not None
    return process.stdout


def where(said: dict[str, str]) -> Where:
    token = said["token"] if "token" in said else Path(said["tokenFile"]).read_text().strip()
    return Where(said["server"], Path(said["ca"]), said["control"], token)


async def ended(process: asyncio.subprocess.Process) -> tuple[int, str]:
    """Exit code and standard error."""
    async with asyncio.timeout(LIMIT_SECONDS):
        _, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, errors.decode()


# --- the control plane ---------------------------------------------------------------------------------------------------------


def self_signed(folder: Path, name: str) -> tuple[Path, Path]:
    """A client certificate that is its own CA, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "client.crt").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "client.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return folder / "client.crt", folder / "client.key"


@asynccontextmanager
async def scene_in(folder: Path) -> AsyncIterator[Scene]:
    async with started(ControlPlaneOptions(provider="assets"), folder / "control-plane", Silent()) as plane:
        by_token, by_certificate = folder / "by-token", folder / "by-certificate"
        plane.write_kubeconfig(by_token)
        document = yaml.safe_load(by_token.read_text())
        document["users"][0]["user"] = {"client-certificate": str(folder / "client.crt"), "client-key": str(folder / "client.key")}
        by_certificate.write_text(yaml.safe_dump(document))
        headers = {"Authorization": f"Bearer {plane.tokens[RUNNER]}"}
        async with connect(plane.server, trusting(plane.ca_file), headers) as api:
            yield Scene(plane, api, by_token, by_certificate)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lasting[Scene]]:
    folder = tmp_path_factory.mktemp("scene")
    programs = asyncio.run(ensure_built(KUBERNETES_VERSION, Silent()))
    certificate, _ = self_signed(folder, "alice")
    assets = folder / "assets"
    assets.mkdir()
    (assets / "etcd").symlink_to(programs / "etcd")
    (assets / "kube-apiserver").write_text(f'#!/bin/sh\nexec {programs / "kube-apiserver"} "$@" --client-ca-file={certificate}\n')
    (assets / "kube-apiserver").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBEBUILDER_ASSETS", str(assets))
        with Lasting(scene_in(folder)) as found:
            yield found


_numbers = itertools.count(1)


async def a_held_watch(scene: Scene, proxy: Where, group: asyncio.TaskGroup, *, hold: bool = True) -> Watching:
    """A watch of ConfigMaps through the proxy, from which one event is withheld; `hold` adds the fault, too."""
    namespace = f"test-{next(_numbers)}"
    await scene.api.call("POST", "/api/v1/namespaces", named(namespace))
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    start = (await scene.api.call("GET", path))["metadata"]["resourceVersion"]
    client = Connection(proxy.server, proxy.ca_file, scene.plane.tokens[CONTROLLER])
    await client.open()
    assert await client.ask("GET", f"{path}?watch=1&resourceVersion={start}") == 200
    if hold:
        await proxy.call("POST", "/v1/faults", {"fault": HOLD})
    await scene.api.call("POST", path, named("sample"))
    async with asyncio.timeout(LIMIT_SECONDS):
        while not any(stream["held"] for stream in (await proxy.call("GET", "/v1/healthz"))["streams"]):
            await asyncio.sleep(0.01)
    watch = Watching(client, group)
    assert watch.lines == []
    return watch


async def is_shown(watch: Watching) -> None:
    await watch.until(1)
    assert watch.events == [("ADDED", "sample")]
    watch.connection.abort()
    await watch.ended()


def who_am_i(kubeconfig: Path) -> str:
    """As a client that reads a kubeconfig."""
    with kubernetes.config.new_client_from_config(  # type: ignore[no-untyped-call]  # the library has no annotations
        config_file=str(kubeconfig)
    ) as client:
        review = kubernetes.client.AuthenticationV1Api(client).create_self_subject_review(kubernetes.client.V1SelfSubjectReview())
        return str(review.to_dict()["status"]["user_info"]["username"])


# --- leading through -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kubeconfig", "user", "number"), [("by_token", RUNNER, signal.SIGINT), ("by_certificate", "alice", signal.SIGTERM)]
)
def test_the_client_kubeconfig_leads_through_the_proxy_and_nothing_is_left(
    lasting: Lasting[Scene], kubeconfig: str, user: str, number: signal.Signals, tmp_path: Path
) -> None:
    client, token = tmp_path / "client-kubeconfig", tmp_path / "token"

    async def body(scene: Scene, _: asyncio.TaskGroup) -> None:
        given = getattr(scene, kubeconfig)
        arguments = (f"--kubeconfig={given}", f"--client-kubeconfig={client}", f"--token-file={token}")
        async with staleproof_proxy(tmp_path, *arguments) as (process, said):
            assert sorted(said) == ["ca", "control", "server", "tokenFile"]
            assert await asyncio.to_thread(who_am_i, client) == user
            entries = (await where(said).call("GET", "/v1/healthz"))["entries"]
            assert entries == 2, "the review, asked and answered, went through the proxy"
            process.send_signal(number)
            code, errors = await ended(process)
        assert code == 0, errors
        assert f"leads to {scene.plane.server}" in errors
        assert "note: " not in errors
        assert list(tmp_path.iterdir()) == []

    lasting.play(body)


def test_clients_bring_their_own_tokens_to_an_upstream(lasting: Lasting[Scene], tmp_path: Path) -> None:
    async def body(scene: Scene, group: asyncio.TaskGroup) -> None:
        arguments = (f"--upstream={scene.plane.server}", f"--upstream-ca={scene.plane.ca_file}")
        async with staleproof_proxy(tmp_path, *arguments) as (_, said):
            proxy = where(said)
            await is_shown_after_closing(await a_held_watch(scene, proxy, group), proxy)

    lasting.play(body)


async def is_shown_after_closing(watch: Watching, proxy: Where) -> None:
    states = (await proxy.call("GET", "/v1/faults"))["faults"]
    assert [(state["phase"], state["outcome"]) for state in states] == [("open", "fired")]
    await proxy.call("DELETE", "/v1/faults/0")
    await is_shown(watch)


def test_planned_faults_act_at_once(lasting: Lasting[Scene], tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"faults": [HOLD]}))

    async def body(scene: Scene, group: asyncio.TaskGroup) -> None:
        async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}", f"--plan={plan}") as (_, said):
            proxy = where(said)
            await is_shown_after_closing(await a_held_watch(scene, proxy, group, hold=False), proxy)

    lasting.play(body)


def test_an_unreachable_upstream_is_noted(lasting: Lasting[Scene], tmp_path: Path) -> None:
    async def body(scene: Scene, _: asyncio.TaskGroup) -> None:
        async with staleproof_proxy(tmp_path, "--upstream=https://127.0.0.1:1") as (process, said):
            client = Connection(said["server"], Path(said["ca"]), "any")
            await client.open()
            assert await client.ask("GET", "/api/v1/pods") == 502
            client.abort()
            process.terminate()
            code, errors = await ended(process)
        assert code == 0
        assert "note: https://127.0.0.1:1 does not answer" in errors

    lasting.play(body)


# --- when somebody dies --------------------------------------------------------------------------------------------------------


def test_held_frames_leave_when_the_runner_hangs_up(lasting: Lasting[Scene], tmp_path: Path) -> None:
    async def body(scene: Scene, group: asyncio.TaskGroup) -> None:
        async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}") as (_, said):
            proxy = where(said)
            async with proxy.session() as session, session.get("/v1/entries", params={"runner": "true"}) as entries:
                watch = await a_held_watch(scene, proxy, group)
                entries.close()  # the connection, too: it was not read to its end
            await is_shown(watch)
            states = (await proxy.call("GET", "/v1/faults"))["faults"]
            assert [(state["phase"], state["outcome"]) for state in states] == [("closed", "fired")]
            async with proxy.session() as session, session.get("/v1/entries") as again:
                told = (await again.content.readany()).decode()
            assert "every fault is closed, and what was held leaves" in told

    lasting.play(body)


ATTACHED = """
import http.client, sys
runner = http.client.HTTPConnection(sys.argv[1].removeprefix("http://"))
runner.request("GET", "/v1/entries?runner=true", headers={"Authorization": "Bearer " + sys.argv[2]})
answer = runner.getresponse()
print(answer.status, flush=True)
while answer.read1():
    pass
"""


@asynccontextmanager
async def a_runner(proxy: Where, folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that reads entries for as long as it lives."""
    async with running([sys.executable, "-c", ATTACHED, proxy.control, proxy.token], folder) as process:
        assert await stdout_of(process).readline() == b"200\n"
        yield process


def test_held_frames_leave_when_the_runner_is_killed(lasting: Lasting[Scene], tmp_path: Path) -> None:
    async def body(scene: Scene, group: asyncio.TaskGroup) -> None:
        async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}") as (_, said):
            proxy = where(said)
            async with a_runner(proxy, tmp_path) as runner:
                watch = await a_held_watch(scene, proxy, group)
                runner.kill()
                await is_shown(watch)

    lasting.play(body)


def test_the_proxy_ends_when_the_runner_is_killed_if_asked_to(lasting: Lasting[Scene], tmp_path: Path) -> None:
    async def body(scene: Scene, group: asyncio.TaskGroup) -> None:
        arguments = (f"--kubeconfig={scene.by_token}", "--on-disconnect=exit")
        async with staleproof_proxy(tmp_path, *arguments) as (process, said):
            proxy = where(said)
            async with a_runner(proxy, tmp_path) as runner:
                watch = await a_held_watch(scene, proxy, group)
                runner.kill()
                code, errors = await ended(process)
        assert (code, "The last runner has gone" in errors) == (0, True), errors
        assert await watch.ended() == "cut"
        assert watch.lines == []

    lasting.play(body)


def test_a_killed_proxy_is_reported(lasting: Lasting[Scene], tmp_path: Path) -> None:
    async def body(scene: Scene, _: asyncio.TaskGroup) -> None:
        async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}") as (process, said):
            (victim,) = proxies_in(tmp_path)
            os.kill(victim, signal.SIGKILL)
            code, errors = await ended(process)
            with pytest.raises(aiohttp.ClientConnectorError):
                await where(said).call("GET", "/v1/healthz")
        assert code == SETUP
        assert "the proxy ended with code 137" in errors

    lasting.play(body)


def test_no_proxy_outlives_the_command(lasting: Lasting[Scene], tmp_path: Path) -> None:
    async def body(scene: Scene, group: asyncio.TaskGroup) -> None:
        async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}") as (process, _):
            assert len(proxies_in(tmp_path)) == 1
            process.kill()
            async with asyncio.timeout(LIMIT_SECONDS):
                while proxies_in(tmp_path):
                    await asyncio.sleep(0.02)

    lasting.play(body)


def proxies_in(folder: Path) -> list[int]:
    """The proxy processes whose private folder is in this one, without those on whose leash they are."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            words = path.read_bytes().split(b"\0")
            if words[1:4] == [b"-O", b"-m", b"staleproof.proxy_addons"] and os.fsencode(folder) in words[4]:
                found.append(int(path.parent.name))
    return found


def test_a_port_that_is_taken_is_an_error_of_the_environment(tmp_path: Path) -> None:
    async def body() -> None:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        argv = [sys.executable, "-m", "staleproof", "proxy", "--upstream=https://127.0.0.1:1", f"--listen={address}"]
        async with server, running(argv, tmp_path) as process:
            code, errors = await ended(process)
        assert (code, f"--listen: cannot listen on {address}: another program does" in errors) == (SETUP, True), errors

    asyncio.run(body())


def test_bad_input_is_an_error_of_the_user(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "staleproof", "proxy"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert "either --upstream URL or --kubeconfig FILE" in done.stderr


# --- other programs ------------------------------------------------------------------------------------------------------------


def test_the_example_in_go_passes(lasting: Lasting[Scene], tmp_path: Path) -> None:
    try:
        go = asyncio.run(find_go(cache_root(os.environ), tmp_path, Silent(), purpose="running fixtures/examples/go"))
    except SetupError as err:
        pytest.skip(str(err))

    async def body(scene: Scene, group: asyncio.TaskGroup) -> None:
        async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}") as (_, said):
            env = {
                "STALEPROOF_SERVER": said["server"],
                "STALEPROOF_CA": said["ca"],
                "STALEPROOF_CONTROL": said["control"],
                "STALEPROOF_TOKEN": said["token"],
                "KUBE_TOKEN": scene.plane.tokens[CONTROLLER],
                "GOWORK": "off",
            }
            process = await asyncio.create_subprocess_exec(
                go, "test", "-count=1", "-v", "./...", cwd=EXAMPLE, env=os.environ | env,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            )  # fmt: skip
            output = (await process.communicate())[0].decode()
            assert process.returncode == 0, output
            assert "--- PASS: TestAWatchThatIsHeldShowsThePast" in output, "it must not be skipped"
            states = (await where(said).call("GET", "/v1/faults"))["faults"]
            assert [(state["phase"], state["outcome"]) for state in states] == [("closed", "fired")]

    lasting.play(body)


PLANTED = """
def response(flow):
    raise LookupError("planted")
"""


@asynccontextmanager
async def mitmdump(scene: Scene, folder: Path, *arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, Where]]:
    argv = (
        str(Path(sys.executable).with_name("mitmdump")), "-s", str(SCRIPT), "--listen-host=127.0.0.1", "--listen-port=0",
        f"--mode=reverse:{scene.plane.server}", "--set", f"ssl_verify_upstream_trusted_ca={scene.plane.ca_file}",
        "--set", f"confdir={folder}", "--set", "staleproof_token=secret", *arguments,
    )  # fmt: skip
    async with running(argv, folder) as process:
        found: dict[str, str] = {}
        async with asyncio.timeout(LIMIT_SECONDS):
            while len(found) < 2:
                line = (await stdout_of(process).readline()).decode()
                assert line, (await process.communicate())[1].decode()
                for name, pattern in (("server", r"listening at (127\S+:\d+)"), ("control", r"control API: (http://\S+:\d+)")):
                    if match := re.search(pattern, line):
                        found[name] = match[1]
        yield process, Where(f"https://{found['server']}", folder / "mitmproxy-ca-cert.pem", found["control"], "secret")


def test_mitmdump_runs_the_same_proxy(lasting: Lasting[Scene], tmp_path: Path) -> None:
    async def body(scene: Scene, group: asyncio.TaskGroup) -> None:
        async with mitmdump(scene, tmp_path) as (process, proxy):
            await is_shown_after_closing(await a_held_watch(scene, proxy, group), proxy)
            async with a_runner(proxy, tmp_path) as runner:
                watch = await a_held_watch(scene, proxy, group)
                runner.kill()
                await is_shown(watch)
            process.terminate()
            assert (await ended(process))[0] == 0

    lasting.play(body)


def test_mitmdump_ends_when_a_hook_fails(lasting: Lasting[Scene], tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(PLANTED)

    async def body(scene: Scene, _: asyncio.TaskGroup) -> None:
        async with mitmdump(scene, tmp_path, "-s", str(tmp_path / "planted.py")) as (process, proxy):
            client = Connection(proxy.server, proxy.ca_file, scene.plane.tokens[CONTROLLER])
            await client.open()
            await client.ask("GET", "/api/v1/pods")
            client.abort()
            assert (await ended(process))[0] == BROKEN

    lasting.play(body)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("staleproof_token", "", "expected --set staleproof_token=SECRET"),
        ("staleproof_control", "nowhere", "staleproof_control: expected HOST:PORT, found 'nowhere'"),
        ("staleproof_on_disconnect", "panic", "staleproof_on_disconnect: expected one of ('heal', 'exit', 'nothing')"),
        ("ssl_insecure", "true", "ssl_insecure is not for watches"),
        ("client_certs", "/", "client_certs: expected one PEM file, found '/'"),
        ("mode", "regular", "expected --mode reverse:https://HOST:PORT, found ['regular']"),
    ],
)
def test_mitmdump_refuses_what_makes_no_sense(name: str, value: str, said: str, tmp_path: Path) -> None:
    settings = {"staleproof_token": "secret", "mode": "reverse:https://127.0.0.1:1", "confdir": str(tmp_path), "listen_port": "0"}
    words = [word for setting in (settings | {name: value}).items() for word in ("--set", "=".join(setting))]
    argv = [str(Path(sys.executable).with_name("mitmdump")), "-s", str(SCRIPT), *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS)
    assert done.returncode == 1
    assert said in done.stdout + done.stderr
