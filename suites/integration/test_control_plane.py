"""A real control plane: started, used, broken and stopped. Everything here runs the programs of the cache."""

import asyncio
import datetime
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import kubernetes
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from staleproof.drive.cluster.control_plane import (
    CONTROLLER,
    KUBERNETES_VERSION,
    RUNNER,
    ControlPlane,
    ControlPlaneOptions,
    Silent,
    control_plane,
)
from staleproof.drive.cluster.control_plane.build import ensure_built
from staleproof.drive.cluster.control_plane.cache import binaries_in, what_is_wrong
from staleproof.drive.cluster.control_plane.local import Binaries, run_local
from staleproof.drive.process.address import free_port
from staleproof.errors import SetupError, UsageError

LIMIT_SECONDS = 60.0


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of the cache, built when it is not there."""
    return asyncio.run(ensure_built(KUBERNETES_VERSION, Silent()))


@pytest.fixture
def binaries(programs: Path) -> Binaries:
    return binaries_in(programs, provider="cache", why="test")


@pytest.fixture(autouse=True)
def private_folders_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are known by the folder in their command lines, and those of keys and data are among them."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def processes_of(folder: Path) -> list[str]:
    """The command lines of living processes that name a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if os.fsencode(folder) in line and int(path.parent.name) != os.getpid():
            found.append(line.replace(b"\0", b" ").decode())
    return found


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        while not condition():
            await asyncio.sleep(0.05)


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


def who_am_i(kubeconfig: Path) -> str:
    with kubernetes.config.new_client_from_config(  # type: ignore[no-untyped-call]  # the library has no annotations
        config_file=str(kubeconfig)
    ) as client:
        api = kubernetes.client.AuthenticationV1Api(client)
        review = api.create_self_subject_review(kubernetes.client.V1SelfSubjectReview())
        return str(review.to_dict()["status"]["user_info"]["username"])


def test_a_control_plane_lives_and_leaves_nothing(binaries: Binaries, tmp_path: Path) -> None:
    async def body() -> None:
        async with run_local(binaries, tmp_path, Silent()) as plane:
            assert plane.version == KUBERNETES_VERSION
            assert (plane.provider, plane.why) == ("cache", "test")
            assert await asyncio.to_thread(get, plane, "/readyz", token=plane.tokens[RUNNER]) == (200, b"ok")
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

    asyncio.run(body())
    # The logs stay; data, keys and tokens are gone.
    left = {path.name for path in tmp_path.iterdir() if not path.name.startswith("tmp")}  # the Python client keeps its CA there
    assert left == {"apiserver.log", "etcd.log", RUNNER, CONTROLLER}


def test_a_port_taken_meanwhile_is_tried_again(binaries: Binaries, tmp_path: Path) -> None:
    async def body() -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            answers = iter([port, free_port(), port, port, free_port()])
            async with run_local(binaries, tmp_path, Silent(), ports=lambda: next(answers)) as plane:
                assert plane.version == KUBERNETES_VERSION
        assert next(answers, None) is None

    asyncio.run(body())


def test_a_port_that_stays_taken_is_told(binaries: Binaries, tmp_path: Path) -> None:
    async def body() -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            async with run_local(binaries, tmp_path, Silent(), ports=lambda: port):
                pass

    with pytest.raises(SetupError, match=r"(?s)etcd: exited with code 1 .*address already in use"):
        asyncio.run(body())
    assert processes_of(tmp_path) == []


def test_another_etcd_on_the_port_is_not_taken_for_ours(binaries: Binaries, tmp_path: Path) -> None:
    async def body() -> None:
        ports: list[int] = []

        def remembered() -> int:
            ports.append(free_port())
            return ports[-1]

        async with run_local(binaries, tmp_path / "first", Silent(), ports=remembered) as first:
            answers = iter([ports[0], free_port(), ports[1], free_port()])
            async with run_local(binaries, tmp_path / "second", Silent(), ports=lambda: next(answers)) as second:
                assert first.server != second.server
                assert (await asyncio.to_thread(get, second, "/readyz", token=first.tokens[RUNNER]))[0] == 401

    asyncio.run(body())


def wrapped(folder: Path, programs: Path, *flags: str) -> Path:
    """Assets whose kube-apiserver gets some more flags."""
    folder.mkdir()
    (folder / "etcd").symlink_to(programs / "etcd")
    (folder / "kube-apiserver").write_text(f'#!/bin/sh\nexec {programs / "kube-apiserver"} "$@" {" ".join(flags)}\n')
    (folder / "kube-apiserver").chmod(0o755)
    return folder


def test_a_death_while_starting_is_told_with_its_last_words(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(wrapped(tmp_path / "assets", programs, "--no-such-flag")))

    async def body() -> None:
        async with control_plane(ControlPlaneOptions(provider="assets"), tmp_path / "run", Silent()):
            pass

    with pytest.raises(SetupError, match="kube-apiserver: exited with code 1 before it was ready") as refused:
        asyncio.run(body())
    assert "  | Error: unknown flag: --no-such-flag" in str(refused.value)
    assert processes_of(tmp_path) == []


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


def test_nothing_is_left_when_the_harness_is_killed(programs: Path, tmp_path: Path) -> None:
    harness = subprocess.Popen([sys.executable, "-c", START_AND_WAIT, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    with harness:
        assert harness.stdout is not None
        assert harness.stdout.readline().strip() == KUBERNETES_VERSION
        assert len(processes_of(tmp_path)) == 5
        harness.send_signal(signal.SIGKILL)
    asyncio.run(until(lambda: processes_of(tmp_path) == []))


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


def client_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate, which is its own CA, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters"), x509.NameAttribute(NameOID.COMMON_NAME, name)]
    )
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "client.crt").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "client.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return folder / "client.crt", folder / "client.key"


def test_an_existing_cluster_is_used_by_token_and_by_certificate(
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

    async def body() -> None:
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

            document["users"][0]["user"] = {"token": "wrong"}
            mine.write_text(yaml.safe_dump(document))
            with pytest.raises(UsageError, match=r"refused the credentials of the kubeconfig \(401"):
                await used("nobody")

    asyncio.run(body())


needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="Go is not on PATH")
BUILD = """
import asyncio
from staleproof.drive.cluster.control_plane import KUBERNETES_VERSION
from staleproof.drive.cluster.control_plane.build import ensure_built
from staleproof.progress import ProgressLines

print(asyncio.run(ensure_built(KUBERNETES_VERSION, ProgressLines(lambda line: print(line, flush=True)))))
"""


@needs_go
def test_two_processes_at_once_build_once(programs: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "STALEPROOF_CACHE_DIR": str(tmp_path)}
    argv = [sys.executable, "-c", BUILD]
    both = [subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    lines = [process.communicate()[0].splitlines() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert lines[0][-1] == lines[1][-1]
    said = lines[0] + lines[1]
    assert said.count("control plane: linking") == 1
    assert said.count("control plane: waiting for another process that builds it") == 1
    entry = Path(lines[0][-1])
    assert what_is_wrong(entry) is None
    # No work is left lying about.
    assert [path.name for path in tmp_path.iterdir()] == ["control-plane"]


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
def test_a_full_disk_while_building_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    with tmpfs(tmp_path / "work", "size=64k") as work:
        monkeypatch.setenv("GOTMPDIR", str(work))
        with pytest.raises(SetupError, match=r"the disk is full .* STALEPROOF_CACHE_DIR"):
            asyncio.run(ensure_built(KUBERNETES_VERSION, Silent()))
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["control-plane"]
    assert not any(path.is_dir() for path in (tmp_path / "cache" / "control-plane").iterdir())


@needs_go
def test_a_full_cache_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tmpfs(tmp_path / "cache", "size=32k") as folder:
        monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(folder))
        with pytest.raises(SetupError, match=r"cache folder .* cannot be written: No space left on device .*STALEPROOF_CACHE_DIR="):
            asyncio.run(ensure_built(KUBERNETES_VERSION, Silent()))


def test_a_read_only_cache_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tmpfs(tmp_path / "cache", "ro") as folder:
        monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(folder))
        with pytest.raises(SetupError, match=r"Read-only file system .* choose another folder: STALEPROOF_CACHE_DIR="):
            asyncio.run(ensure_built(KUBERNETES_VERSION, Silent()))
