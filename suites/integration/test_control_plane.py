"""A real control plane is started, used, broken and stopped. Everything here runs the programs of the cache."""

import asyncio
import json
import os
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from staleproof.drive.cluster.control_plane import (
    CONTROLLER,
    KUBERNETES_VERSION,
    NO_TOKEN,
    RUNNER,
    ControlPlane,
    ControlPlaneOptions,
    Silent,
    control_plane,
)
from staleproof.drive.cluster.control_plane.cache import binaries_in
from staleproof.drive.cluster.control_plane.local import Binaries, run_local
from staleproof.drive.process.address import free_port
from staleproof.drive.programs.build import ensure_built
from staleproof.drive.programs.kubernetes import COMPANIONS, SERVERS, what_is_wrong
from staleproof.errors import SetupError, UsageError

from .programs import command_lines, wrapped
from .proxy_client import LIMIT_SECONDS, until
from .users import client_certificate, who_am_i

pytestmark = pytest.mark.usefixtures("own_plane")


@pytest.fixture
def binaries(programs: Path) -> Binaries:
    return binaries_in(programs, provider="cache", why="test")


@pytest.fixture(autouse=True)
def private_folders_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests know processes by the folder in their command lines, and folders of keys and data have to be below it, too."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def processes_of(folder: Path) -> list[str]:
    """The command lines, of living processes, that name this folder."""
    lines = {pid: b" ".join(words) for pid, words in command_lines().items() if pid != os.getpid()}
    return [line.decode() for line in lines.values() if os.fsencode(folder) in line]


def get(plane: ControlPlane, path: str, *, token: str | None) -> tuple[int, bytes]:
    """As a strict client: Python's own verification, with every check of RFC 5280 that it knows."""
    tls = ssl.create_default_context(cafile=str(plane.ca_file))
    tls.verify_flags |= ssl.VERIFY_X509_STRICT
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"{plane.server}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, context=tls, timeout=LIMIT_SECONDS) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read()


async def test_a_control_plane_lives_and_leaves_nothing(binaries: Binaries, tmp_path: Path) -> None:
    async with run_local(binaries, tmp_path, Silent()) as plane:
        assert plane.version == KUBERNETES_VERSION
        assert (plane.provider, plane.why) == ("cache", "test")
        status, text = await asyncio.to_thread(get, plane, "/api/v1/namespaces", token=plane.tokens[RUNNER])
        assert (status, json.loads(text)["kind"]) == (200, "NamespaceList")
        status, text = await asyncio.to_thread(get, plane, "/version", token=plane.tokens[CONTROLLER])
        assert (status, json.loads(text)["minor"]) == (200, "36")
        for token in ("wrong", None):
            assert (await asyncio.to_thread(get, plane, "/version", token=token))[0] == 401
        for user in (RUNNER, CONTROLLER):
            plane.write_kubeconfig(tmp_path / user, user=user)
            assert await asyncio.to_thread(who_am_i, tmp_path / user) == user
        assert len(processes_of(tmp_path)) == 4  # two programs, two leashes
        assert stat.S_IMODE(plane.ca_file.parent.stat().st_mode) == 0o700
    assert processes_of(tmp_path) == []
    # The logs stay; data, keys and tokens are gone.
    left = {path.name for path in tmp_path.iterdir() if not path.name.startswith("tmp")}  # the Python client keeps its CA there
    assert left == {"apiserver.log", "etcd.log", RUNNER, CONTROLLER}


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which another program listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


async def test_another_port_is_tried_when_one_has_been_taken(binaries: Binaries, taken: int, tmp_path: Path) -> None:
    answers = iter([taken, None, None, taken, None, None])  # etcd's and kube-apiserver's, in pairs; None: one that is free by then
    async with run_local(binaries, tmp_path, Silent(), ports=lambda: next(answers) or free_port()) as plane:
        assert plane.version == KUBERNETES_VERSION
    assert list(answers) == []


async def test_a_port_that_stays_taken_is_reported(binaries: Binaries, taken: int, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"(?s)etcd: exited with code 1 .*address already in use"):
        async with run_local(binaries, tmp_path, Silent(), ports=lambda: taken):
            pass
    assert processes_of(tmp_path) == []


async def test_another_etcd_on_the_port_is_not_taken_for_ours(binaries: Binaries, tmp_path: Path) -> None:
    ports: list[int] = []

    def remembered() -> int:
        ports.append(free_port())
        return ports[-1]

    async with run_local(binaries, tmp_path / "first", Silent(), ports=remembered) as first:
        answers = iter([ports[-2], None, None, ports[-1], None, None])
        async with run_local(binaries, tmp_path / "second", Silent(), ports=lambda: next(answers) or free_port()) as second:
            assert first.server != second.server
            assert (await asyncio.to_thread(get, second, "/readyz", token=first.tokens[RUNNER]))[0] == 401


async def test_a_program_that_dies_while_starting_is_reported_with_its_last_words(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(wrapped(tmp_path / "assets", programs, "--no-such-flag")))

    with pytest.raises(SetupError, match="kube-apiserver: exited with code 1 before it was ready") as refused:
        async with control_plane(ControlPlaneOptions(provider="assets"), tmp_path / "run", Silent()):
            pass
    assert "  | Error: unknown flag: --no-such-flag" in str(refused.value)
    assert processes_of(tmp_path) == []


async def test_a_start_that_is_cancelled_leaves_nothing(binaries: Binaries, tmp_path: Path) -> None:
    async def starts() -> None:
        async with run_local(binaries, tmp_path, Silent()):
            await asyncio.Event().wait()

    starting = asyncio.get_running_loop().create_task(starts())
    await until(lambda: len(processes_of(tmp_path)) == 4, every_seconds=0.01)  # both are there, long before either is ready
    starting.cancel()
    await asyncio.wait({starting})
    assert starting.cancelled()
    await until(lambda: processes_of(tmp_path) == [], every_seconds=0.05)


START_AND_WAIT = """
import asyncio, sys
from pathlib import Path
from staleproof.drive.cluster.control_plane import ControlPlaneOptions, Silent, control_plane

async def body():
    async with control_plane(ControlPlaneOptions(provider="cache"), Path(sys.argv[1]), Silent()) as plane:
        print(plane.version, flush=True)
        await asyncio.Event().wait()

asyncio.run(body())
"""


async def test_nothing_is_left_when_the_harness_is_killed(programs: Path, tmp_path: Path) -> None:
    harness = subprocess.Popen([sys.executable, "-c", START_AND_WAIT, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    with harness:
        assert harness.stdout is not None
        assert harness.stdout.readline().strip() == KUBERNETES_VERSION
        assert len(processes_of(tmp_path)) == 5
        harness.send_signal(signal.SIGKILL)
    await until(lambda: processes_of(tmp_path) == [], every_seconds=0.05)


def test_the_command_starts_prints_and_stops_in_order(programs: Path, tmp_path: Path) -> None:
    script = "from staleproof.cli.control_plane import control_plane_group as group; group()"
    argv = [sys.executable, "-c", script, "start", "--provider=cache", f"--folder={tmp_path}"]
    command = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with command:
        assert command.stdout is not None
        assert command.stdout.readline() == f"kubeconfig: {tmp_path / 'kubeconfig'}\n"
        assert command.stdout.readline().startswith("server: https://127.0.0.1:")
        assert who_am_i(tmp_path / "kubeconfig") == RUNNER
        command.send_signal(signal.SIGINT)
        assert command.stderr is not None
        assert f"Stopped. The logs are in {tmp_path}" in command.stderr.read()
    assert command.returncode == 0
    assert processes_of(tmp_path) == []
    left = {path.name for path in tmp_path.iterdir() if not path.name.startswith("tmp")}
    assert left == {"apiserver.log", "etcd.log"}


async def test_an_existing_cluster_is_used_by_token_and_by_certificate(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = client_certificate(tmp_path, "alice")
    assets = wrapped(tmp_path / "assets", programs, f"--client-ca-file={certificate}")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    mine = tmp_path / "kubeconfig"

    async def used(said: str) -> ControlPlane:
        async with control_plane(ControlPlaneOptions(kubeconfig=mine), tmp_path / "existing", Silent()) as found:
            assert (found.provider, found.version) == ("existing", KUBERNETES_VERSION)
            found.write_kubeconfig(tmp_path / "again")
            assert await asyncio.to_thread(who_am_i, tmp_path / "again") == said
            return found

    async with control_plane(ControlPlaneOptions(), tmp_path / "own", Silent()) as own:
        assert own.provider == "assets"
        own.write_kubeconfig(mine)
        by_token = await used(RUNNER)
        assert by_token.tokens[CONTROLLER] == own.tokens[RUNNER]
        assert by_token.client_certificate is None

        document = yaml.safe_load(mine.read_text())
        document["users"][0]["user"] = {"client-certificate": str(certificate), "client-key": str(key)}
        mine.write_text(yaml.safe_dump(document))
        by_certificate = await used("alice")
        assert by_certificate.tokens == {}
        assert by_certificate.client_certificate is not None

        # What a container finds holds a token in any case; where the certificate counts, it does no harm.
        document["users"][0]["user"]["token"] = NO_TOKEN
        (tmp_path / "both").write_text(yaml.safe_dump(document))
        assert await asyncio.to_thread(who_am_i, tmp_path / "both") == "alice"

        document["users"][0]["user"] = {"token": "wrong"}
        mine.write_text(yaml.safe_dump(document))
        with pytest.raises(UsageError, match=r"refused the credentials of the kubeconfig \(401"):
            await used("unknown")


needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="Go is not on PATH")
BUILD = """
import asyncio, sys
from pathlib import Path
from staleproof.drive.programs.build import ensure_built
from staleproof.drive.programs.kubernetes import SERVERS
from staleproof.progress import ProgressLines

progress = ProgressLines(lambda line: print(line, flush=True))
print(asyncio.run(ensure_built(SERVERS, progress=progress, module=Path(sys.argv[1]))))
"""


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module whose programs are compiled in a second, by its content for the first time. How it is built is what matters here."""
    folder = tmp_path_factory.mktemp("module")
    (folder / "go.mod").write_text("module example.com/controlplane\n\ngo 1.26\n")
    (folder / "go.sum").touch()
    for name in ("servers", "companions"):
        (folder / name).mkdir()
        (folder / name / "main.go").write_text(f'package main\n\nfunc main() {{ println("{name} {folder}") }}\n')
    return folder


@needs_go
def test_two_processes_at_once_build_once(module: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "STALEPROOF_CACHE_DIR": str(tmp_path)}
    argv = [sys.executable, "-c", BUILD, str(module)]
    first = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True)
    begun = [first_line(first)]  # it holds the lock, and goes on when the other waits for it
    first.send_signal(signal.SIGSTOP)
    second = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        begun.append(first_line(second))
    finally:
        first.send_signal(signal.SIGCONT)
    lines = [[line, *each.communicate()[0].splitlines()] for line, each in zip(begun, (first, second), strict=True)]
    assert [process.returncode for process in (first, second)] == [0, 0]
    assert lines[0][-1] == lines[1][-1]
    said = lines[0] + lines[1]
    assert said.count("control plane: linking") == 1
    assert said.count("control plane: another process is building it already; waiting for that") == 1
    entry = Path(lines[0][-1])
    assert what_is_wrong(entry, SERVERS) is None
    assert subprocess.run([entry / "etcd"], capture_output=True, text=True, check=True).stderr == f"servers {module}\n"
    # Nothing unfinished is left behind.
    assert [path.name for path in tmp_path.iterdir()] == ["control-plane"]


@needs_go
async def test_companions_come_in_beside_a_control_plane_that_runs(
    module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path))
    entry = await ensure_built(SERVERS, module=module)
    before = (entry / "servers").stat().st_mtime_ns
    assert await ensure_built(SERVERS, COMPANIONS, module=module) == entry
    assert (entry / "servers").stat().st_mtime_ns == before  # not the time of access: it was read
    for name in COMPANIONS.programs:
        assert subprocess.run([entry / name], capture_output=True, text=True, check=True).stderr == f"companions {module}\n"


@contextmanager
def tmpfs(folder: Path, options: str) -> Iterator[Path]:
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs root to mount a tmpfs")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a tmpfs: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@needs_go
async def test_a_full_disk_while_building_is_reported(module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    with tmpfs(tmp_path / "work", "size=64k") as work:
        monkeypatch.setenv("GOTMPDIR", str(work))
        with pytest.raises(SetupError, match=r"the disk is full .* STALEPROOF_CACHE_DIR"):
            await ensure_built(SERVERS, module=module)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["control-plane"]
    assert not any(path.is_dir() for path in (tmp_path / "cache" / "control-plane").iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param("size=32k", r"cache folder .* cannot be written: No space left on device .*", marks=needs_go, id="full"),
        pytest.param("ro", r"Read-only file system .* choose another folder: ", id="read-only"),
    ],
)
async def test_a_cache_folder_that_cannot_be_written_is_reported(
    options: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tmpfs(tmp_path / "cache", options) as folder:
        monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(folder))
        with pytest.raises(SetupError, match=f"{message}STALEPROOF_CACHE_DIR="):
            await ensure_built(SERVERS)
