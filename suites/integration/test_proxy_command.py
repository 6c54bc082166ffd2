"""`staleproof proxy`, and the same parts under mitmdump: in front of a real kube-apiserver, driven over HTTP as a stranger would.

One control plane serves the whole file; it knows one user by a token and one by a certificate. Every test starts its own proxy.
"""

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
import yaml

from staleproof.drive.cluster.api import Api
from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER, ControlPlane, ControlPlaneOptions, Silent, control_plane

from .programs import command_lines, wrapped
from .proxy_client import LIMIT_SECONDS, Connection, Watching, limited, until
from .stage import Stage
from .users import client_certificate, who_am_i

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "fixtures" / "examples" / "go"
SCRIPT = ROOT / "proxy_addons" / "mitmdump.py"
HOLD = {"fault": "Hold", "resource": "configmaps"}
USAGE, SETUP, BROKEN = 4, 11, 3


@dataclass(frozen=True, slots=True)
class Scene:
    """A control plane, a direct client, two kubeconfigs, and a group for what a test runs beside itself."""

    plane: ControlPlane
    api: Api
    by_token: Path
    by_certificate: Path
    group: asyncio.TaskGroup


@dataclass(frozen=True, slots=True)
class Where:
    """The two sides of a proxy."""

    server: str
    ca_file: Path
    control: str
    token: str
    said: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, said: dict[str, str]) -> "Where":
        """From what the command says."""
        token = said["token"] if "token" in said else Path(said["tokenFile"]).read_text().strip()
        return cls(said["server"], Path(said["ca"]), said["control"], token, said)

    def session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(self.control, headers={"Authorization": f"Bearer {self.token}"})

    async def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401  # any JSON
        async with self.session() as session, session.request(method, path, json=body) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def faults(self) -> list[tuple[str, str]]:
        """The phase and the outcome of each."""
        return [(state["phase"], state["outcome"]) for state in (await self.call("GET", "/v1/faults"))["faults"]]


# --- the programs --------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def running(argv: Sequence[str], folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A program whose private folders are in `folder`; killed in the end if it still runs."""
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
async def staleproof_proxy(folder: Path, *arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, Where]]:
    """The command and its proxy, once that is ready."""
    async with running([sys.executable, "-m", "staleproof", "proxy", *arguments], folder) as process:
        async with limited():
            line = await stdout_of(process).readline()
        assert line, (await process.communicate())[1].decode()
        yield process, Where.of(json.loads(line))


def stdout_of(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    assert process.stdout is not None
    return process.stdout


async def ended(process: asyncio.subprocess.Process) -> tuple[int, str]:
    """Exit code and standard error."""
    async with limited():
        _, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, errors.decode()


# --- the control plane ---------------------------------------------------------------------------------------------------------


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plane(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ControlPlane]:
    """One that knows alice by her certificate, which is beside its log."""
    folder = tmp_path_factory.mktemp("control-plane")
    certificate, _ = client_certificate(folder, "alice")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBEBUILDER_ASSETS", str(wrapped(folder / "assets", programs, f"--client-ca-file={certificate}")))
        async with control_plane(ControlPlaneOptions(provider="assets"), folder, Silent()) as found:
            yield found


@pytest_asyncio.fixture(loop_scope="module")
async def scene(plane: ControlPlane, api: Api, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    folder, alice = tmp_path_factory.mktemp("kubeconfigs"), plane.log_folder / "client.crt"
    plane.write_kubeconfig(folder / "by-token")
    document = yaml.safe_load((folder / "by-token").read_text())
    document["users"][0]["user"] = {"client-certificate": str(alice), "client-key": str(alice.with_suffix(".key"))}
    (folder / "by-certificate").write_text(yaml.safe_dump(document))
    async with asyncio.TaskGroup() as group:
        yield Scene(plane, api, folder / "by-token", folder / "by-certificate", group)


async def a_held_watch(scene: Scene, proxy: Where, *, hold: bool = True) -> Watching:
    """A watch of ConfigMaps through the proxy, from which one event is withheld; `hold` adds the fault, too."""
    stage = await Stage(scene.api, []).begin()
    client = Connection(proxy.server, proxy.ca_file, scene.plane.tokens[CONTROLLER])
    await client.open()
    assert await client.ask("GET", f"{stage.path}?watch=1&resourceVersion={await stage.revision()}") == 200
    if hold:
        await proxy.call("POST", "/v1/faults", {"fault": HOLD})
    await stage.create("sample")
    async with limited():
        while not any(stream["held"] for stream in (await proxy.call("GET", "/v1/healthz"))["streams"]):
            await asyncio.sleep(0.01)
    watch = Watching(client, scene.group)
    assert watch.lines == []
    return watch


async def is_shown(watch: Watching) -> None:
    await watch.until(1)
    assert watch.events == [("ADDED", "sample")]
    watch.connection.abort()
    await watch.ended()


# --- leading through -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kubeconfig", "user", "number"), [("by_token", RUNNER, signal.SIGINT), ("by_certificate", "alice", signal.SIGTERM)]
)
async def test_the_client_kubeconfig_leads_through_the_proxy_and_nothing_is_left(
    scene: Scene, kubeconfig: str, user: str, number: signal.Signals, tmp_path: Path
) -> None:
    client, token = tmp_path / "client-kubeconfig", tmp_path / "token"
    given = getattr(scene, kubeconfig)
    arguments = (f"--kubeconfig={given}", f"--client-kubeconfig={client}", f"--token-file={token}")
    async with staleproof_proxy(tmp_path, *arguments) as (process, proxy):
        assert sorted(proxy.said) == ["ca", "control", "server", "tokenFile"]
        assert await asyncio.to_thread(who_am_i, client) == user
        entries = (await proxy.call("GET", "/v1/healthz"))["entries"]
        assert entries == 2, "the review, asked and answered, went through the proxy"
        process.send_signal(number)
        code, errors = await ended(process)
    assert code == 0, errors
    assert f"leads to {scene.plane.server}" in errors
    assert "note: " not in errors
    assert list(tmp_path.iterdir()) == []


async def test_clients_bring_their_own_tokens_to_an_upstream(scene: Scene, tmp_path: Path) -> None:
    arguments = (f"--upstream={scene.plane.server}", f"--upstream-ca={scene.plane.ca_file}")
    async with staleproof_proxy(tmp_path, *arguments) as (_, proxy):
        await is_shown_after_closing(await a_held_watch(scene, proxy), proxy)


async def is_shown_after_closing(watch: Watching, proxy: Where) -> None:
    assert await proxy.faults() == [("open", "fired")]
    await proxy.call("DELETE", "/v1/faults/0")
    await is_shown(watch)


async def test_planned_faults_act_at_once(scene: Scene, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"faults": [HOLD]}))
    async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}", f"--plan={plan}") as (_, proxy):
        await is_shown_after_closing(await a_held_watch(scene, proxy, hold=False), proxy)


async def test_an_unreachable_upstream_is_noted(scene: Scene, tmp_path: Path) -> None:
    async with staleproof_proxy(tmp_path, "--upstream=https://127.0.0.1:1") as (process, proxy):
        client = Connection(proxy.server, proxy.ca_file, "any")
        await client.open()
        assert await client.ask("GET", "/api/v1/pods") == 502
        client.abort()
        process.terminate()
        code, errors = await ended(process)
    assert code == 0
    assert "note: https://127.0.0.1:1 does not answer" in errors


# --- when a process dies --------------------------------------------------------------------------------------------------------


async def test_held_frames_leave_when_the_runner_hangs_up(scene: Scene, tmp_path: Path) -> None:
    async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}") as (_, proxy):
        async with proxy.session() as session, session.get("/v1/entries", params={"runner": "true"}) as entries:
            watch = await a_held_watch(scene, proxy)
            entries.close()  # the connection, too: it was not read to its end
        await is_shown(watch)
        assert await proxy.faults() == [("closed", "fired")]
        async with limited(), proxy.session() as session, session.get("/v1/entries") as again:
            received = b""
            while b"every fault is closed, and what was held leaves" not in received:
                piece = await again.content.readany()  # not all of it need come at once
                assert piece, received
                received += piece


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


async def test_held_frames_leave_when_the_runner_is_killed(scene: Scene, tmp_path: Path) -> None:
    async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}") as (_, proxy), a_runner(proxy, tmp_path) as runner:
        watch = await a_held_watch(scene, proxy)
        runner.kill()
        await is_shown(watch)


async def test_the_proxy_ends_when_the_runner_is_killed_if_asked_to(scene: Scene, tmp_path: Path) -> None:
    arguments = (f"--kubeconfig={scene.by_token}", "--on-disconnect=exit")
    async with staleproof_proxy(tmp_path, *arguments) as (process, proxy), a_runner(proxy, tmp_path) as runner:
        watch = await a_held_watch(scene, proxy)
        runner.kill()
        code, errors = await ended(process)
    assert (code, "The last runner has gone" in errors) == (0, True), errors
    assert await watch.ended() == "cut"
    assert watch.lines == []


async def test_a_killed_proxy_is_reported(scene: Scene, tmp_path: Path) -> None:
    async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}") as (process, proxy):
        (victim,) = proxies_in(tmp_path)
        os.kill(victim, signal.SIGKILL)
        code, errors = await ended(process)
        with pytest.raises(aiohttp.ClientConnectorError):
            await proxy.call("GET", "/v1/healthz")
    assert code == SETUP
    assert "the proxy ended with code 137" in errors


async def test_no_proxy_outlives_the_command(scene: Scene, tmp_path: Path) -> None:
    async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}") as (process, _):
        assert len(proxies_in(tmp_path)) == 1
        process.kill()
        await until(lambda: proxies_in(tmp_path) == [], every_seconds=0.02)


def proxies_in(folder: Path) -> list[int]:
    """The proxy processes whose private folder is in this one, without the processes that hold their leashes."""
    started_by = [b"-O", b"-m", b"staleproof.proxy_addons"]
    return [pid for pid, words in command_lines().items() if words[1:4] == started_by and os.fsencode(folder) in words[4]]


async def test_a_port_that_is_taken_is_an_error_of_the_environment(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        argv = [sys.executable, "-m", "staleproof", "proxy", "--upstream=https://127.0.0.1:1", f"--listen={address}"]
        async with running(argv, tmp_path) as process:
            code, errors = await ended(process)
    assert (code, f"--listen: cannot listen on {address}: another program does" in errors) == (SETUP, True), errors


def test_bad_input_is_an_error_of_the_user(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "staleproof", "proxy"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert "either --upstream URL or --kubeconfig FILE" in done.stderr


# --- other programs ------------------------------------------------------------------------------------------------------------


async def test_the_example_in_go_passes(scene: Scene, go: Path, tmp_path: Path) -> None:
    async with staleproof_proxy(tmp_path, f"--kubeconfig={scene.by_token}") as (_, proxy):
        env = {
            "STALEPROOF_SERVER": proxy.server,
            "STALEPROOF_CA": str(proxy.ca_file),
            "STALEPROOF_CONTROL": proxy.control,
            "STALEPROOF_TOKEN": proxy.token,
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
        assert await proxy.faults() == [("closed", "fired")]


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
        async with limited():
            while len(found) < 2:
                line = (await stdout_of(process).readline()).decode()
                assert line, (await process.communicate())[1].decode()
                for name, pattern in (("server", r"listening at (127\S+:\d+)"), ("control", r"control API: (http://\S+:\d+)")):
                    if match := re.search(pattern, line):
                        found[name] = match[1]
        yield process, Where(f"https://{found['server']}", folder / "mitmproxy-ca-cert.pem", found["control"], "secret")


async def test_mitmdump_runs_the_same_proxy(scene: Scene, tmp_path: Path) -> None:
    async with mitmdump(scene, tmp_path) as (process, proxy):
        await is_shown_after_closing(await a_held_watch(scene, proxy), proxy)
        async with a_runner(proxy, tmp_path) as runner:
            watch = await a_held_watch(scene, proxy)
            runner.kill()
            await is_shown(watch)
        process.terminate()
        assert (await ended(process))[0] == 0


async def test_mitmdump_ends_when_a_hook_fails(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(PLANTED)
    async with mitmdump(scene, tmp_path, "-s", str(tmp_path / "planted.py")) as (process, proxy):
        client = Connection(proxy.server, proxy.ca_file, scene.plane.tokens[CONTROLLER])
        await client.open()
        await client.send("GET", "/api/v1/pods")  # whether it is answered before the end is up to mitmproxy
        assert (await ended(process))[0] == BROKEN
        client.abort()


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
