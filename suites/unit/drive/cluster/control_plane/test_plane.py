import base64
import stat
from pathlib import Path

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


def test_a_kubeconfig_holds_everything_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("an old one that all may read")
    plane(tmp_path, tokens={RUNNER: "secret"}).write_kubeconfig(path)
    document = yaml.safe_load(path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert document["users"] == [{"name": RUNNER, "user": {"token": "secret"}}]
    cluster = document["clusters"][0]["cluster"]
    assert cluster == {
        "server": "https://127.0.0.1:6443",
        "certificate-authority-data": base64.b64encode(b"CA").decode(),
    }


def test_a_proxy_may_stand_in_front(tmp_path: Path) -> None:
    (tmp_path / "proxy.crt").write_text("PROXY")
    plane(tmp_path, tokens={CONTROLLER: "secret"}).write_kubeconfig(
        tmp_path / "kubeconfig", user=CONTROLLER, server="https://127.0.0.1:1", ca_file=tmp_path / "proxy.crt"
    )
    cluster = yaml.safe_load((tmp_path / "kubeconfig").read_text())["clusters"][0]["cluster"]
    assert cluster["server"] == "https://127.0.0.1:1"
    assert base64.b64decode(cluster["certificate-authority-data"]) == b"PROXY"


def test_a_client_certificate_is_embedded(tmp_path: Path) -> None:
    (tmp_path / "client.pem").write_text("KEY AND CERTIFICATE")
    plane(tmp_path, tokens={}, client_certificate=tmp_path / "client.pem").write_kubeconfig(tmp_path / "kubeconfig")
    user = yaml.safe_load((tmp_path / "kubeconfig").read_text())["users"][0]["user"]
    assert {base64.b64decode(value) for value in user.values()} == {b"KEY AND CERTIFICATE"}
    assert set(user) == {"client-certificate-data", "client-key-data"}


def test_an_unknown_user_is_our_own_mistake(tmp_path: Path) -> None:
    with pytest.raises(HarnessBug, match="not 'nobody'"):
        plane(tmp_path, tokens={RUNNER: "secret"}).write_kubeconfig(tmp_path / "kubeconfig", user="nobody")


def test_tokens_do_not_show(tmp_path: Path) -> None:
    assert "secret" not in repr(plane(tmp_path, tokens={RUNNER: "secret"}))
