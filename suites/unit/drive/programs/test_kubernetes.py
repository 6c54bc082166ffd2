from pathlib import Path

import pytest

from staleproof.drive.programs.cache import workspace
from staleproof.drive.programs.kubernetes import COMPANIONS, SERVERS, MultiCall, bring_in, entry_folder, what_is_wrong


def entry_with(root: Path, content: str, *kept: MultiCall) -> Path:
    entry = entry_folder(root, "v1.2.3")
    for each in kept:
        with workspace(root, entry) as scratch:
            (scratch / each.name).write_text(content)
            (scratch / each.name).chmod(0o755)
            bring_in(scratch, entry, each)
    return entry


def test_an_entry_comes_in_whole(tmp_path: Path) -> None:
    entry = entry_with(tmp_path, "binary", SERVERS)
    assert what_is_wrong(entry, SERVERS) is None
    assert {path.name for path in entry.iterdir()} == {"servers", "servers.digest", "etcd", "kube-apiserver"}
    assert (entry / "etcd").read_text() == "binary"
    assert [path.name for path in tmp_path.iterdir()] == ["control-plane"]


def test_companions_come_in_beside_it(tmp_path: Path) -> None:
    entry = entry_with(tmp_path, "binary", SERVERS)
    assert "companions.digest" in (what_is_wrong(entry, COMPANIONS) or "")
    entry_with(tmp_path, "companions", COMPANIONS)
    assert [what_is_wrong(entry, each) for each in (SERVERS, COMPANIONS)] == [None, None]
    assert [(entry / name).read_text() for name in ("kube-apiserver", "kube-controller-manager")] == ["binary", "companions"]


def test_a_digest_that_differs_is_found_and_the_file_replaced(tmp_path: Path) -> None:
    entry = entry_with(tmp_path, "binary", SERVERS, COMPANIONS)
    (entry / "servers").write_text("binary with a bit flipped")
    assert "digest" in (what_is_wrong(entry, SERVERS) or "")
    assert what_is_wrong(entry, COMPANIONS) is None
    assert what_is_wrong(entry_with(tmp_path, "binary", SERVERS), SERVERS) is None


@pytest.mark.parametrize("name", ["servers", "servers.digest", "kube-apiserver"])
def test_an_entry_that_lacks_something_is_found(tmp_path: Path, name: str) -> None:
    entry = entry_with(tmp_path, "binary", SERVERS)
    (entry / name).unlink()
    assert name in (what_is_wrong(entry, SERVERS) or "")


def test_a_missing_entry_is_found(tmp_path: Path) -> None:
    entry = entry_folder(tmp_path, "v1.2.3")
    assert entry.name.startswith("v1.2.3-")
    assert "does not exist" in (what_is_wrong(entry, SERVERS) or "")
