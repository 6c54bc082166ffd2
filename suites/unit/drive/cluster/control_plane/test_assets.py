from pathlib import Path

import pytest

from staleproof.drive.cluster.control_plane.assets import assets_named, find_assets
from staleproof.errors import UsageError


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_folder_serves_both(tmp_path: Path) -> None:
    etcd, apiserver = program(tmp_path / "etcd"), program(tmp_path / "kube-apiserver")
    found = find_assets({"KUBEBUILDER_ASSETS": str(tmp_path)}, why="asked for")
    assert (found.etcd, found.kube_apiserver, found.provider, found.why) == (etcd, apiserver, "assets", "asked for")


def test_a_variable_for_one_program_is_stronger_than_the_folder(tmp_path: Path) -> None:
    program(tmp_path / "etcd"), program(tmp_path / "kube-apiserver")
    own = program(tmp_path / "own" / "my-etcd")
    found = find_assets({"KUBEBUILDER_ASSETS": str(tmp_path), "TEST_ASSET_ETCD": str(own)}, why="")
    assert found.etcd == own
    assert found.kube_apiserver == tmp_path / "kube-apiserver"


def test_links_keep_their_names(tmp_path: Path) -> None:
    program(tmp_path / "one-for-all")
    for name in ("etcd", "kube-apiserver"):
        (tmp_path / name).symlink_to("one-for-all")
    found = find_assets({"KUBEBUILDER_ASSETS": str(tmp_path)}, why="")
    assert (found.etcd.name, found.kube_apiserver.name) == ("etcd", "kube-apiserver")


@pytest.mark.parametrize("variable", ["KUBEBUILDER_ASSETS", "TEST_ASSET_ETCD", "TEST_ASSET_KUBE_APISERVER"])
def test_a_variable_that_is_set_but_empty_is_an_error_that_names_it(tmp_path: Path, variable: str) -> None:
    etcd, apiserver = program(tmp_path / "etcd"), program(tmp_path / "kube-apiserver")
    environment = {"TEST_ASSET_ETCD": str(etcd), "TEST_ASSET_KUBE_APISERVER": str(apiserver), variable: ""}
    if variable == "KUBEBUILDER_ASSETS":
        del environment["TEST_ASSET_ETCD"]
    with pytest.raises(UsageError, match=f"{variable} is set but empty"):
        find_assets(environment, why="")


def test_a_missing_program_is_an_error_that_names_the_variable(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"KUBEBUILDER_ASSETS points at .*etcd, and there is no such file"):
        find_assets({"KUBEBUILDER_ASSETS": str(tmp_path)}, why="")
    with pytest.raises(UsageError, match="TEST_ASSET_ETCD points at"):
        find_assets({"TEST_ASSET_ETCD": str(tmp_path / "no")}, why="")
    (tmp_path / "etcd").write_text("")
    with pytest.raises(UsageError, match="not executable"):
        find_assets({"KUBEBUILDER_ASSETS": str(tmp_path)}, why="")


def test_nothing_set_names_what_could_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected TEST_ASSET_ETCD .* or KUBEBUILDER_ASSETS"):
        find_assets({}, why="")


def test_the_reason_names_the_variables() -> None:
    assert assets_named({}) is None
    assert assets_named({"KUBEBUILDER_ASSETS": ""}) == "KUBEBUILDER_ASSETS is set"
    both = {"KUBEBUILDER_ASSETS": "x", "TEST_ASSET_ETCD": "y"}
    assert assets_named(both) == "TEST_ASSET_ETCD and KUBEBUILDER_ASSETS are set"
