from pathlib import Path

import pytest

from staleproof.drive.cluster.control_plane.cache import bring_in, cache_root, entry_folder, find_cached, what_is_wrong, workspace
from staleproof.errors import SetupError


def entry_with(root: Path, content: str) -> Path:
    entry = entry_folder(root, "v1.2.3")
    with workspace(root, entry) as scratch:
        made = scratch / "made"
        made.mkdir()
        (made / "controlplane").write_text(content)
        (made / "controlplane").chmod(0o755)
        bring_in(made, entry)
    return entry


def test_an_entry_comes_in_whole(tmp_path: Path) -> None:
    entry = entry_with(tmp_path, "binary")
    assert what_is_wrong(entry) is None
    programs = {"etcd", "kube-apiserver", "kube-controller-manager"}
    assert {path.name for path in entry.iterdir()} == {"controlplane", "digest", *programs}
    found = find_cached(tmp_path, "v1.2.3", why="asked for")
    assert found.etcd.read_text() == "binary"
    assert (found.provider, found.why) == ("cache", "asked for")
    assert [path.name for path in tmp_path.iterdir()] == ["control-plane"]


def test_a_digest_that_differs_is_found_and_the_entry_replaced(tmp_path: Path) -> None:
    entry = entry_with(tmp_path, "binary")
    (entry / "controlplane").write_text("binary with a bit flipped")
    assert "digest" in (what_is_wrong(entry) or "")
    with pytest.raises(SetupError, match="staleproof control-plane build"):
        find_cached(tmp_path, "v1.2.3", why="")
    assert what_is_wrong(entry_with(tmp_path, "binary")) is None


@pytest.mark.parametrize("name", ["controlplane", "digest", "kube-apiserver"])
def test_an_entry_that_lacks_something_is_found(tmp_path: Path, name: str) -> None:
    entry = entry_with(tmp_path, "binary")
    (entry / name).unlink()
    assert name in (what_is_wrong(entry) or "")


def test_a_missing_entry_is_found(tmp_path: Path) -> None:
    assert entry_folder(tmp_path, "v1.2.3").name.startswith("v1.2.3-")
    with pytest.raises(SetupError, match="does not exist"):
        find_cached(tmp_path, "v1.2.3", why="")


def test_the_variable_chooses_the_root_and_empty_means_the_users(tmp_path: Path) -> None:
    assert cache_root({"STALEPROOF_CACHE_DIR": str(tmp_path)}) == tmp_path
    assert cache_root({"STALEPROOF_CACHE_DIR": ""}) == cache_root({})
    assert cache_root({}).name == "staleproof"


def test_what_a_killed_build_left_goes_first(tmp_path: Path) -> None:
    left = tmp_path / ".work-entry" / "made" / "half"
    left.parent.mkdir(parents=True)
    left.write_text("half a binary")
    with workspace(tmp_path, tmp_path / "control-plane" / "entry") as scratch:
        assert list(scratch.iterdir()) == []
    assert list(tmp_path.iterdir()) == []
