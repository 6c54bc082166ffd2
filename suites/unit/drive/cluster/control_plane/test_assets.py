from pathlib import Path

import pytest

from staleproof.drive.cluster.control_plane.assets import assets_named, find_assets
from staleproof.errors import UsageError


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("etcd", "kube-apiserver"):
        program(tmp_path / name)
    return tmp_path


def test_the_folder_serves_both(folder: Path) -> None:
    found = find_assets({"KUBEBUILDER_ASSETS": str(folder)}, why="asked for")
    assert (found.etcd, found.kube_apiserver) == (folder / "etcd", folder / "kube-apiserver")
    assert (found.provider, found.why) == ("assets", "asked for")


def test_a_variable_for_one_program_is_stronger_than_the_folder(folder: Path) -> None:
    own = program(folder / "own" / "my-etcd")
    found = find_assets({"KUBEBUILDER_ASSETS": str(folder), "TEST_ASSET_ETCD": str(own)}, why="")
    assert (found.etcd, found.kube_apiserver) == (own, folder / "kube-apiserver")


def test_links_keep_their_names(tmp_path: Path) -> None:
    program(tmp_path / "one-for-all")
    for name in ("etcd", "kube-apiserver"):
        (tmp_path / name).symlink_to("one-for-all")
    found = find_assets({"KUBEBUILDER_ASSETS": str(tmp_path)}, why="")
    assert (found.etcd.name, found.kube_apiserver.name) == ("etcd", "kube-apiserver")


@pytest.mark.parametrize("variable", ["KUBEBUILDER_ASSETS", "TEST_ASSET_ETCD", "TEST_ASSET_KUBE_APISERVER"])
def test_a_variable_that_is_set_but_empty_is_an_error_that_names_it(folder: Path, variable: str) -> None:
    programs = {"TEST_ASSET_ETCD": str(folder / "etcd"), "TEST_ASSET_KUBE_APISERVER": str(folder / "kube-apiserver")}
    environment = {variable: ""} if variable == "KUBEBUILDER_ASSETS" else {**programs, variable: ""}
    with pytest.raises(UsageError, match=f"{variable} is set but empty"):
        find_assets(environment, why="")


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"KUBEBUILDER_ASSETS": "nowhere"}, r"KUBEBUILDER_ASSETS points at .*etcd, and there is no such file"),
        ({"TEST_ASSET_ETCD": "no"}, "TEST_ASSET_ETCD points at"),
        ({"KUBEBUILDER_ASSETS": "."}, "not executable"),
        ({}, r"expected TEST_ASSET_ETCD .* or KUBEBUILDER_ASSETS"),
    ],
)
def test_a_missing_program_is_an_error_that_names_the_variable(
    environment: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "etcd").write_text("")
    with pytest.raises(UsageError, match=message):
        find_assets(environment, why="")


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({}, None),
        ({"KUBEBUILDER_ASSETS": ""}, "KUBEBUILDER_ASSETS is set"),
        ({"KUBEBUILDER_ASSETS": "x", "TEST_ASSET_ETCD": "y"}, "TEST_ASSET_ETCD and KUBEBUILDER_ASSETS are set"),
    ],
)
def test_the_reason_names_the_variables(environment: dict[str, str], reason: str | None) -> None:
    assert assets_named(environment) == reason
