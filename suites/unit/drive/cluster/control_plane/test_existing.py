import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from staleproof.drive.cluster.control_plane import ControlPlaneOptions, Silent, control_plane
from staleproof.drive.cluster.control_plane.credentials import make_credentials
from staleproof.drive.cluster.control_plane.existing import is_loopback
from staleproof.drive.cluster.control_plane.local import free_port
from staleproof.errors import SetupError, UsageError


def kubeconfig(folder: Path, *, cluster: dict[str, Any], user: dict[str, Any]) -> Path:
    path = folder / "kubeconfig"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(yaml.safe_dump(document))
    return path


def use(options: ControlPlaneOptions, folder: Path) -> None:
    async def body() -> None:
        async with control_plane(options, folder, Silent()):
            pass

    asyncio.run(body())


@pytest.mark.parametrize(
    ("server", "answer"),
    [
        ("https://127.0.0.1:6443", True),
        ("https://127.8.8.8", True),
        ("https://[::1]:6443", True),
        ("https://localhost:6443", True),
        ("https://0.0.0.0:6550", True),
        ("https://10.0.0.1:6443", False),
        ("https://example.com", False),
        ("https://localhost.example.com", False),
        ("https://127.0.0.1.example.com", False),
        ("https://127.0.0.1@example.com", False),
        ("", False),
    ],
)
def test_what_is_this_machine(server: str, answer: bool) -> None:  # noqa: FBT001  # a column of the table
    assert is_loopback(server) is answer


def test_a_cluster_elsewhere_needs_the_explicit_option(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, cluster={"server": "https://192.0.2.1:6443"}, user={"token": "t"})
    with pytest.raises(UsageError, match=r"192\.0\.2\.1.*not this machine.*--staleproof-allow-remote-cluster"):
        use(ControlPlaneOptions(kubeconfig=path), tmp_path / "run")
    # Allowed, the next check speaks.
    with pytest.raises(UsageError, match="expected a certificate-authority"):
        use(ControlPlaneOptions(kubeconfig=path, allow_remote=True), tmp_path / "run")


def test_what_cannot_be_passed_on_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("CA")
    server = {"server": "https://127.0.0.1:1", "certificate-authority": str(tmp_path / "ca.crt")}
    cases: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({**server, "server": "http://127.0.0.1:1"}, {"token": "t"}, "expected an https:// server"),
        ({"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}, {"token": "t"}, "certificate-authority"),
        (server, {}, "expected a token or a client certificate"),
    ]
    for cluster, user, said in cases:
        path = kubeconfig(tmp_path, cluster=cluster, user=user)
        with pytest.raises(UsageError, match=said):
            use(ControlPlaneOptions(kubeconfig=path), tmp_path / "run")


def test_a_file_that_is_no_kubeconfig_is_named(tmp_path: Path) -> None:
    for content in ("]", "kind: Pod\n"):
        (tmp_path / "file").write_text(content)
        with pytest.raises(UsageError, match="file cannot be used as a kubeconfig"):
            use(ControlPlaneOptions(kubeconfig=tmp_path / "file"), tmp_path / "run")
    with pytest.raises(UsageError, match="missing cannot be used as a kubeconfig"):
        use(ControlPlaneOptions(kubeconfig=tmp_path / "missing"), tmp_path / "run")
    with pytest.raises(UsageError, match="needs a kubeconfig"):
        use(ControlPlaneOptions(provider="existing"), tmp_path / "run")


def test_nobody_answers(tmp_path: Path) -> None:
    ca_file = make_credentials(tmp_path, ["u"]).ca_file
    cluster = {"server": f"https://127.0.0.1:{free_port()}", "certificate-authority": str(ca_file)}
    path = kubeconfig(tmp_path, cluster=cluster, user={"token": "t"})
    with pytest.raises(SetupError, match="does not answer /version"):
        use(ControlPlaneOptions(kubeconfig=path), tmp_path / "run")
