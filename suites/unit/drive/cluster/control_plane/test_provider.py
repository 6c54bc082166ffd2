from pathlib import Path
from typing import cast

import pytest

from staleproof.drive.cluster.control_plane import KUBERNETES_VERSION, ControlPlaneOptions, Silent, control_plane
from staleproof.drive.cluster.control_plane.provider import PROVIDERS, choose
from staleproof.drive.cluster.options import ProviderName
from staleproof.drive.programs.kubernetes import entry_folder
from staleproof.errors import SetupError, UsageError


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("KUBEBUILDER_ASSETS", "TEST_ASSET_ETCD", "TEST_ASSET_KUBE_APISERVER", "STALEPROOF_ATTACH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STALEPROOF_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")  # another machine's engine, which is never used
    return tmp_path


async def use(options: ControlPlaneOptions, folder: Path) -> None:
    async with control_plane(options, folder, Silent()):
        pass


async def test_a_kubeconfig_comes_first(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", "/somewhere")
    assert await choose(ControlPlaneOptions(kubeconfig=Path("k"))) == ("existing", "the kubeconfig k was given")
    assert await choose(ControlPlaneOptions()) == ("assets", "KUBEBUILDER_ASSETS is set")


async def test_an_empty_variable_is_taken_and_then_refused(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_ASSET_ETCD", "")
    assert await choose(ControlPlaneOptions()) == ("assets", "TEST_ASSET_ETCD is set")
    with pytest.raises(UsageError, match="TEST_ASSET_ETCD is set but empty"):
        await use(ControlPlaneOptions(), nothing / "run")


async def test_a_damaged_entry_is_passed_over_and_reported(nothing: Path) -> None:
    entry = entry_folder(nothing, KUBERNETES_VERSION)
    entry.mkdir(parents=True)
    (entry / "servers").write_text("binary")
    (entry / "servers.digest").write_text("0" * 64)
    name, why = await choose(ControlPlaneOptions())
    assert name == "build"
    assert "has the digest" in why
    with pytest.raises(SetupError, match="has the digest"):
        await use(ControlPlaneOptions(provider="cache"), nothing / "run")


@pytest.mark.parametrize("name", PROVIDERS)
async def test_the_one_asked_for_is_taken_without_a_question(name: ProviderName, nothing: Path) -> None:
    assert await choose(ControlPlaneOptions(provider=name, kubeconfig=Path("k"))) == (name, "asked for")


async def test_an_unknown_provider_is_refused_with_the_names(nothing: Path) -> None:
    with pytest.raises(UsageError, match="auto, existing, attach, assets, cache, container, build"):
        await choose(ControlPlaneOptions(provider=cast(ProviderName, "minikube")))


async def test_a_run_folder_that_cannot_be_made_is_named(nothing: Path) -> None:
    (nothing / "file").write_text("")
    with pytest.raises(SetupError, match=r"run folder .*file/run cannot be made: Not a directory"):
        await use(ControlPlaneOptions(provider="cache"), nothing / "file" / "run")
