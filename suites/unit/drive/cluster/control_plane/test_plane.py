import base64
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from staleproof.drive.cluster.control_plane import CONTROLLER, RUNNER, ControlPlane
from staleproof.errors import HarnessBug


def plane(folder: Path, *, tokens: dict[str, str], client_certificate: Path | None = None) -> ControlPlane:
    (folder / "ca.crt").write_text("CA")
    return ControlPlane(
        server="https://127.0.0.1:6443",
        ca_file=folder / "ca.crt",
        version="v1.36.3",
        provider="existing",
        why="asked for",
        tokens=tokens,
        client_certificate=client_certificate,
        log_folder=folder,
    )


def written(by: ControlPlane, folder: Path, **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:  # noqa: ANN401
    """Cluster and user of a kubeconfig."""
    by.write_kubeconfig(folder / "kubeconfig", **arguments)
    document = yaml.safe_load((folder / "kubeconfig").read_text())
    (cluster,), (user,) = document["clusters"], document["users"]
    assert user["name"] == document["contexts"][0]["context"]["user"]
    return cluster["cluster"], user["user"]


def test_a_kubeconfig_holds_everything_and_is_private(tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text("an old one that all may read")
    cluster, user = written(plane(tmp_path, tokens={RUNNER: "secret"}), tmp_path)
    assert stat.S_IMODE((tmp_path / "kubeconfig").stat().st_mode) == 0o600
    assert user == {"token": "secret"}
    assert cluster == {"server": "https://127.0.0.1:6443", "certificate-authority-data": base64.b64encode(b"CA").decode()}


def test_a_proxy_may_stand_in_front(tmp_path: Path) -> None:
    (tmp_path / "proxy.crt").write_text("PROXY")
    made = plane(tmp_path, tokens={CONTROLLER: "secret"})
    cluster, _ = written(made, tmp_path, user=CONTROLLER, server="https://127.0.0.1:1", ca_file=tmp_path / "proxy.crt")
    assert cluster["server"] == "https://127.0.0.1:1"
    assert base64.b64decode(cluster["certificate-authority-data"]) == b"PROXY"


def test_a_client_certificate_is_embedded(tmp_path: Path) -> None:
    (tmp_path / "client.pem").write_text("KEY AND CERTIFICATE")
    _, user = written(plane(tmp_path, tokens={}, client_certificate=tmp_path / "client.pem"), tmp_path)
    both = base64.b64encode(b"KEY AND CERTIFICATE").decode()
    assert user == {"client-certificate-data": both, "client-key-data": both}


def test_an_unknown_user_is_our_own_mistake(tmp_path: Path) -> None:
    with pytest.raises(HarnessBug, match="not 'nobody'"):
        written(plane(tmp_path, tokens={RUNNER: "secret"}), tmp_path, user="nobody")


def test_tokens_do_not_show(tmp_path: Path) -> None:
    assert "secret" not in repr(plane(tmp_path, tokens={RUNNER: "secret"}))
