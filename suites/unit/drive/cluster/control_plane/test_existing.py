from pathlib import Path
from typing import Any

import pytest
import yaml

from staleproof.drive.cluster.control_plane import ControlPlaneOptions, Silent, control_plane
from staleproof.drive.cluster.control_plane.credentials import make_credentials
from staleproof.drive.process.address import free_port
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


async def use(options: ControlPlaneOptions, folder: Path) -> None:
    async with control_plane(options, folder, Silent()):
        pass


async def test_a_cluster_elsewhere_needs_the_explicit_option(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, cluster={"server": "https://192.0.2.1:6443"}, user={"token": "t"})
    with pytest.raises(UsageError, match=r"192\.0\.2\.1.*not this machine.*--staleproof-allow-remote-cluster"):
        await use(ControlPlaneOptions(kubeconfig=path), tmp_path / "run")
    # Allowed, the next check speaks.
    with pytest.raises(UsageError, match="expected a certificate-authority"):
        await use(ControlPlaneOptions(kubeconfig=path, allow_remote=True), tmp_path / "run")


SERVER, TOKEN = {"server": "https://127.0.0.1:1", "certificate-authority": "ca.crt"}, {"token": "t"}


@pytest.mark.parametrize(
    ("cluster", "user", "said"),
    [
        ({**SERVER, "server": "http://127.0.0.1:1"}, TOKEN, "expected an https:// server"),
        ({"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}, TOKEN, "certificate-authority"),
        (SERVER, {}, "expected a token or a client certificate"),
    ],
)
async def test_what_cannot_be_passed_on_is_refused(
    cluster: dict[str, Any], user: dict[str, Any], said: str, tmp_path: Path
) -> None:
    (tmp_path / "ca.crt").write_text("CA")
    path = kubeconfig(tmp_path, cluster=cluster, user=user)
    with pytest.raises(UsageError, match=said):
        await use(ControlPlaneOptions(kubeconfig=path), tmp_path / "run")


@pytest.mark.parametrize("content", ["]", "kind: Pod\n", None])
async def test_a_file_that_is_no_kubeconfig_is_named(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "file").write_text(content)
    with pytest.raises(UsageError, match="file cannot be used as a kubeconfig"):
        await use(ControlPlaneOptions(kubeconfig=tmp_path / "file"), tmp_path / "run")


async def test_without_a_kubeconfig_there_is_nothing_to_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs a kubeconfig"):
        await use(ControlPlaneOptions(provider="existing"), tmp_path / "run")


@pytest.mark.io
async def test_nothing_answers(tmp_path: Path) -> None:
    ca_file = make_credentials(tmp_path, ["u"]).ca_file
    cluster = {"server": f"https://127.0.0.1:{free_port()}", "certificate-authority": str(ca_file)}
    path = kubeconfig(tmp_path, cluster=cluster, user=TOKEN)
    with pytest.raises(SetupError, match="does not answer /version"):
        await use(ControlPlaneOptions(kubeconfig=path), tmp_path / "run")
