from pathlib import Path

import pytest

from staleproof.drive.cluster.control_plane.cache import find_cached
from staleproof.drive.programs.kubernetes import SERVERS, bring_in, entry_folder
from staleproof.errors import SetupError


def test_what_was_built_is_found_and_what_is_damaged_is_not_used(tmp_path: Path) -> None:
    entry = entry_folder(tmp_path, "v1.2.3")
    with pytest.raises(SetupError, match="does not exist"):
        find_cached(tmp_path, "v1.2.3", why="")
    (tmp_path / SERVERS.name).write_text("binary")
    (tmp_path / SERVERS.name).chmod(0o755)
    bring_in(tmp_path, entry, SERVERS)
    found = find_cached(tmp_path, "v1.2.3", why="asked for")
    assert found.etcd.read_text() == "binary"
    assert (found.provider, found.why) == ("cache", "asked for")
    (entry / SERVERS.name).write_text("another")
    with pytest.raises(SetupError, match="staleproof control-plane build"):
        find_cached(tmp_path, "v1.2.3", why="")
